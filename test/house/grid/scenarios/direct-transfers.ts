import type { Request, Scenarios, Stage } from '../stage.ts'

/** Nothing is transferred before the instance lets it be. */
async function switchedOn({ world }: Stage): Promise<Request> {
  await world.service.services.settings.change({ bulk_import_enabled: true })
  return {}
}

async function neverExported(stage: Stage): Promise<Request> {
  return {
    ...(await switchedOn(stage)),
    query: 'relation=labels',
    stage: await stage.variant('no relations exported', async () => undefined),
  }
}

export const directTransferScenarios: Scenarios = {
  'POST /projects/:id/export_relations': { '': switchedOn },
  'GET /projects/:id/export_relations/status': { '': switchedOn },
  'GET /projects/:id/export_relations/download': { 'never exported': neverExported },
  'POST /groups/:id/export_relations': { '': switchedOn },
  'GET /groups/:id/export_relations/status': { '': switchedOn },
  'GET /groups/:id/export_relations/download': { 'never exported': neverExported },
}
