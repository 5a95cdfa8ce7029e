import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

/** An address outside that resolves without asking anybody. */
const body = { webhook: 'http://192.0.2.1/chat' }

const integrationsOf = (path: string, where: (stage: Stage) => string): Scenarios => {
  const set = (stage: Stage) => stage.world.root.put(`${where(stage)}/integrations/discord`, body)
  const reading: Prepare = async (stage) => {
    await stage.once(`integration of ${path}`, () => set(stage))
    return { path: { slug: 'discord' } }
  }
  const removing: Prepare = async (stage) => {
    await set(stage)
    return { path: { slug: 'discord' } }
  }
  return {
    [`GET ${path}`]: { '': plain },
    [`GET ${path}/:slug`]: { '': reading },
    [`PUT ${path}/:slug`]: { '': () => ({ path: { slug: 'pumble' }, body }) },
    [`DELETE ${path}/:slug`]: { '': removing },
  }
}

export const integrationScenarios: Scenarios = {
  ...integrationsOf('/projects/:id/integrations', (stage) => stage.projectPath),
  ...integrationsOf('/projects/:id/services', (stage) => stage.projectPath),
  ...integrationsOf('/groups/:id/integrations', (stage) => stage.groupPath),
}
