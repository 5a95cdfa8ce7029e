import { sql } from 'kysely'
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

/** A transfer that somebody has begun who is nobody of the grid, and its group. */
async function ofSomebodyElse(stage: Stage): Promise<Request> {
  await switchedOn(stage)
  const path = await stage.once('transfer', async () => {
    const { writer } = stage.world.service.services.db
    const { rows } = await sql<{ id: number; entity_id: number }>`
      with made as (
        insert into bulk_imports (user_id, status, source_url, correlation_id)
        values (1, 'finished', 'https://source.example', 'x') returning id
      )
      insert into bulk_import_entities (bulk_import_id, user_id, kind, source_full_path, destination_slug,
        destination_namespace, migrate_projects, migrate_memberships, status)
      select m.id, 1, 'group', 'x', 'x', '', true, true, 'finished' from made m
      returning bulk_import_id as id, id as entity_id`.execute(writer)
    return { ...rows[0]! }
  })
  return { path }
}

const somebodyElse = { 'of somebody else': ofSomebodyElse }

export const directTransferScenarios: Scenarios = {
  'POST /projects/:id/export_relations': { '': switchedOn },
  'GET /projects/:id/export_relations/status': { '': switchedOn },
  'GET /projects/:id/export_relations/download': { 'never exported': neverExported },
  'POST /bulk_imports': {
    'nothing to bring': async (stage) => ({
      ...(await switchedOn(stage)),
      body: { configuration: { url: 'https://source.example', access_token: 'x' }, entities: [] },
    }),
  },
  'GET /bulk_imports': { '': switchedOn },
  'GET /bulk_imports/entities': { '': switchedOn },
  'GET /bulk_imports/:id': somebodyElse,
  'GET /bulk_imports/:id/entities': somebodyElse,
  'GET /bulk_imports/:id/entities/:entity_id': somebodyElse,
  'GET /bulk_imports/:id/entities/:entity_id/failures': somebodyElse,
  'POST /bulk_imports/:id/cancel': somebodyElse,
  'POST /groups/:id/export_relations': { '': switchedOn },
  'GET /groups/:id/export_relations/status': { '': switchedOn },
  'GET /groups/:id/export_relations/download': { 'never exported': neverExported },
}
