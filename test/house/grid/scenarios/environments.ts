import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { ciStage, pipeline } from '../ci.ts'
import { pushFiles } from '../../../world/push.ts'
import { plain, type Prepare, type Request, type Scenarios, type Stage } from '../stage.ts'

const make = (stage: Stage): Promise<Json> =>
  stage.make(`${stage.projectPath}/environments`, { name: stage.unique('env') })
const pathOf = (of: Json): Request => ({ path: { environment_id: idOf(of) } })

const one: Prepare = async (stage) => pathOf(await stage.once('environment', () => make(stage)))

async function stopped(stage: Stage): Promise<Request> {
  const made = await make(stage)
  const path = `${stage.projectPath}/environments/${idOf(made)}/stop`
  expectStatus(await stage.world.root.post(path), 200)
  return pathOf(made)
}

export const environmentScenarios: Scenarios = {
  'GET /projects/:id/environments': { '': plain },
  'GET /projects/:id/environments/:environment_id': { '': one },
  'POST /projects/:id/environments': { '': (stage) => ({ body: { name: stage.unique('env') } }) },
  'PUT /projects/:id/environments/:environment_id': {
    '': async (stage, ...rest) => ({ ...(await one(stage, ...rest)), body: { description: 'd' } }),
  },
  'DELETE /projects/:id/environments/:environment_id': { stopped },
  'POST /projects/:id/environments/:environment_id/stop': {
    'no job stops it': async (stage) => pathOf(await make(stage)),
  },
  'POST /projects/:id/environments/stop_stale': {
    '': () => ({ body: { before: '2026-01-01T00:00:00Z' } }),
  },
  'DELETE /projects/:id/environments/review_apps': { '': plain },
}

/** A body for the head of `main`, in a project with commits. */
async function told(stage: Stage, status: string): Promise<Json> {
  const branch = expectStatus(
    await stage.world.root.get(`${stage.projectPath}/repository/branches/main`),
    200,
  )
  return { environment: 'prod', sha: (branch['commit'] as Json)['id'], ref: 'main', tag: false, status }
}

const deployment =
  (status: string): Prepare =>
  async (stage) => {
    const own = await ciStage(stage)
    const made = await own.make(`${own.projectPath}/deployments`, await told(own, status))
    return { path: { deployment_id: idOf(made) }, stage: own }
  }

export const deploymentScenarios: Scenarios = {
  'GET /projects/:id/deployments': { '': plain },
  'GET /projects/:id/deployments/:deployment_id': { '': deployment('success') },
  'GET /projects/:id/deployments/:deployment_id/merge_requests': { '': deployment('success') },
  'POST /projects/:id/deployments': {
    '': async (stage) => {
      const own = await ciStage(stage)
      return { body: await told(own, 'success'), stage: own }
    },
  },
  'PUT /projects/:id/deployments/:deployment_id': {
    'told of by hand': async (...call) => ({
      ...(await deployment('running')(...call)),
      body: { status: 'success' },
    }),
  },
  'DELETE /projects/:id/deployments/:deployment_id': { 'a failed one': deployment('failed') },
}

const configuration = 'deploy:\n  script: x\n  resource_group: box\n'

const group: Prepare = async (stage) => {
  const own = await stage.variant('resource group', async (made) => {
    await pushFiles(stage.world, made.project, { '.gitlab-ci.yml': configuration }, ['main'])
    await pipeline(made, 'main')
  })
  return { path: { key: 'box' }, stage: own }
}

export const resourceGroupScenarios: Scenarios = {
  'GET /projects/:id/resource_groups': { '': group },
  'GET /projects/:id/resource_groups/:key': { '': group },
  'GET /projects/:id/resource_groups/:key/upcoming_jobs': { '': group },
  'PUT /projects/:id/resource_groups/:key': {
    '': async (...call) => ({ ...(await group(...call)), body: { process_mode: 'oldest_first' } }),
  },
}
