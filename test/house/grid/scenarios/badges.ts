import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

const urls = { link_url: 'https://example.com', image_url: 'https://example.com/x.svg' }

function of(path: string, where: (stage: Stage) => string): Scenarios {
  const made: Prepare = async (stage) => ({
    path: { badge_id: idOf(await stage.make(`${where(stage)}/badges`, urls)) },
  })
  const changed: Prepare = async (stage, caller, row) => ({
    ...(await made(stage, caller, row)),
    body: { name: 'n' },
  })
  return {
    [`GET ${path}`]: { '': plain },
    [`GET ${path}/render`]: { '': async () => ({ query: new URLSearchParams(urls).toString() }) },
    [`GET ${path}/:badge_id`]: { '': made },
    [`POST ${path}`]: { '': async () => ({ body: urls }) },
    [`PUT ${path}/:badge_id`]: { '': changed },
    [`DELETE ${path}/:badge_id`]: { '': { prepare: made, forEach: true } },
  }
}

export const badgeScenarios: Scenarios = {
  ...of('/projects/:id/badges', (stage) => stage.projectPath),
  ...of('/groups/:id/badges', (stage) => stage.groupPath),
  'GET /projects/:id/badges/release.svg': { '': plain },
}
