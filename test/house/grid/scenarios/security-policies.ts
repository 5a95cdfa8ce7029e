import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

/** A project that everybody may read. */
const source = (stage: Stage) => stage.once('policies', () => stage.world.project({ visibility: 'public' }))

function of(path: string, where: (stage: Stage) => string): Scenarios {
  const given: Prepare = async (stage) => ({ body: { policy_project_id: idOf(await source(stage)) } })
  const linked: Prepare = async (stage) => {
    const body = { policy_project_id: idOf(await source(stage)) }
    await stage.world.root.put(`${where(stage)}/security_policies`, body)
    return {}
  }
  return {
    [`GET ${path}`]: { '': plain },
    [`PUT ${path}`]: { '': given },
    [`DELETE ${path}`]: { '': { prepare: linked, forEach: true } },
  }
}

export const securityPolicyScenarios: Scenarios = {
  ...of('/projects/:id/security_policies', (stage) => stage.projectPath),
  ...of('/groups/:id/security_policies', (stage) => stage.groupPath),
}
