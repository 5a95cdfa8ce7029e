import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { ciStage, job, pipeline, take } from '../ci.ts'
import { plain, type Prepare, type Request, type Scenarios, type Stage } from '../stage.ts'

const unknownRunner = 'unknown token of a runner; the actor column is an extra access token'
const unknownJob = 'unknown token of a job; the actor column is an extra access token'
const nobodys = 'glrt-nobody-has-this-token'

/** A runner of the stage's project. */
function runner(stage: Stage, project: Json = stage.project): Promise<Json> {
  return stage.make('/user/runners', { runner_type: 'project_type', project_id: idOf(project) })
}

const onRunner =
  (request: Request = {}): Prepare =>
  async (stage) => ({ ...request, path: { id: idOf(await stage.once('own runner', () => runner(stage))) } })

const newRunner: Prepare = async (stage) => ({ path: { id: idOf(await runner(stage)) } })

/** Another project where everybody has the same role. */
async function second(stage: Stage): Promise<Json> {
  return stage.once('second project', async () => {
    const project = await stage.world.project({ visibility: stage.visibility })
    await stage.cast.letIn(`/projects/${idOf(project)}`)
    return project
  })
}

async function runnerOfSecond(stage: Stage): Promise<number> {
  return idOf(await runner(stage, await second(stage)))
}

const create =
  (runner_type: string, place: (stage: Stage) => Json = () => ({})): Prepare =>
  (stage) => ({ body: { runner_type, ...place(stage) } })

const onUnknownJob = (request: Request = {}): Prepare => {
  return async (stage) => {
    const own = await ciStage(stage)
    const waiting = await stage.once('unknown job', async () => job(own, await pipeline(own)))
    return { ...request, path: { id: idOf(waiting) } }
  }
}

const withToken = { headers: { 'job-token': nobodys } }

async function idleRunner(stage: Stage): Promise<Request> {
  const made = await stage.once('idle runner', () => runner(stage))
  return { body: { token: made['token'] as string } }
}

async function runningJob(stage: Stage): Promise<Request> {
  const own = await ciStage(stage)
  const { id, token } = await take(own, await job(own, await pipeline(own)))
  return { path: { id }, body: { token, state: 'running' } }
}

export const runnerScenarios: Scenarios = {
  'GET /projects/:id/runners': { '': plain },
  'GET /groups/:id/runners': { '': plain },
  'GET /runners': { '': plain },
  'GET /runners/all': { '': plain },
  'GET /runners/:id': { 'runner of the project': onRunner() },
  'GET /runners/:id/managers': { 'runner of the project': onRunner() },
  'GET /runners/:id/projects': { 'runner of the project': onRunner() },
  'GET /runners/router/discovery': { [unknownRunner]: () => ({ query: `token=${nobodys}` }) },
  'GET /runners/:id/jobs': { 'runner of the project': onRunner() },
  'PUT /runners/:id': { 'runner of the project': onRunner({ body: { description: 'x' } }) },
  'POST /runners/:id/reset_authentication_token': { 'runner of the project': onRunner() },
  'DELETE /runners/:id': { 'runner of the project': newRunner },
  'POST /user/runners': {
    instance_type: create('instance_type'),
    project_type: create('project_type', ({ project }) => ({ project_id: idOf(project) })),
    group_type: { about: 'group', prepare: create('group_type', ({ group }) => ({ group_id: idOf(group) })) },
  },
  'POST /projects/:id/runners': {
    'runner of another project of the caller': async (stage) => ({
      body: { runner_id: await runnerOfSecond(stage) },
    }),
  },
  'DELETE /projects/:id/runners/:runner_id': {
    'runner of another project too': async (stage) => {
      const runner_id = await runnerOfSecond(stage)
      expectStatus(await stage.world.root.post(`${stage.projectPath}/runners`, { runner_id }), 201)
      return { path: { runner_id } }
    },
  },
  'POST /runners': { 'unknown registration token': () => ({ body: { token: nobodys } }) },
  'POST /runners/reset_registration_token': { '': plain },
  'POST /projects/:id/runners/reset_registration_token': { '': plain },
  'POST /groups/:id/runners/reset_registration_token': { '': plain },
  'DELETE /runners': { [unknownRunner]: () => ({ body: { token: nobodys } }) },
  'DELETE /runners/managers': { [unknownRunner]: () => ({ body: { token: nobodys, system_id: 'x' } }) },
  'POST /runners/verify': {
    [unknownRunner]: () => ({ body: { token: nobodys } }),
    'token of a runner; the actor column is an extra access token': idleRunner,
  },
  'POST /runners/reset_authentication_token': { [unknownRunner]: () => ({ body: { token: nobodys } }) },
  'POST /jobs/request': {
    [unknownRunner]: () => ({ body: { token: nobodys } }),
    'token of a runner, no job waits; the actor column is an extra access token': idleRunner,
  },
  'PUT /jobs/:id': {
    [unknownJob]: onUnknownJob({ body: { token: nobodys, state: 'success' } }),
    'token of the running job; the actor column is an extra access token': runningJob,
  },
  'PATCH /jobs/:id/trace': { [unknownJob]: onUnknownJob(withToken) },
  'POST /jobs/:id/artifacts/authorize': { [unknownJob]: onUnknownJob(withToken) },
  'POST /jobs/:id/artifacts': { [unknownJob]: onUnknownJob(withToken) },
  'GET /jobs/:id/artifacts': { [unknownJob]: onUnknownJob(withToken) },
}
