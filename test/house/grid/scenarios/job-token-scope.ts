import type { Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

/** Something that everybody sees. */
const project = (stage: Stage): Promise<Json> => stage.world.project({ visibility: 'public' })
const group = (stage: Stage): Promise<Json> => stage.world.group({ visibility: 'public' })

export const jobTokenScopeScenarios: Scenarios = {
  'GET /projects/:id/job_token_scope': { '': plain },
  'PATCH /projects/:id/job_token_scope': { '': () => ({ body: { enabled: true } }) },
  'GET /projects/:id/job_token_scope/allowlist': { '': plain },
  'POST /projects/:id/job_token_scope/allowlist': {
    '': async (stage) => ({ body: { target_project_id: idOf(await project(stage)) } }),
  },
  'DELETE /projects/:id/job_token_scope/allowlist/:target_project_id': {
    '': async (stage) => {
      const target_project_id = idOf(await project(stage))
      await stage.make(`${stage.projectPath}/job_token_scope/allowlist`, { target_project_id })
      return { path: { target_project_id } }
    },
  },
  'GET /projects/:id/job_token_scope/groups_allowlist': { '': plain },
  'POST /projects/:id/job_token_scope/groups_allowlist': {
    '': async (stage) => ({ body: { target_group_id: idOf(await group(stage)) } }),
  },
  'DELETE /projects/:id/job_token_scope/groups_allowlist/:target_group_id': {
    '': async (stage) => {
      const target_group_id = idOf(await group(stage))
      await stage.make(`${stage.projectPath}/job_token_scope/groups_allowlist`, { target_group_id })
      return { path: { target_group_id } }
    },
  },
}
