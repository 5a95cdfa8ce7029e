import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { ciStage, finished, job, pipeline, pipelineOf, prepareCi, take, withArtifacts } from '../ci.ts'
import { plain, type Prepare, type Request, type Scenario, type Scenarios, type Stage } from '../stage.ts'

/** A request to a project with pipelines. */
function onCi(request: (stage: Stage) => Request | Promise<Request> = () => ({})): Prepare {
  return async (stage) => {
    const own = await ciStage(stage)
    return { ...(await request(own)), stage: own }
  }
}

/** One that is made for each caller. */
function forEach(request: (stage: Stage, pipeline: Json) => Promise<Request>): Scenario {
  return {
    forEach: true,
    async prepare(stage, caller) {
      const own = await ciStage(stage)
      return { ...(await request(own, await pipelineOf(own, caller))), stage: own }
    },
  }
}

/** Who may not do more than see the project does not see its jobs. */
function withoutPublicJobs(stage: Stage): Promise<Stage> {
  return stage.variant('no public jobs', async (own) => {
    await prepareCi(own)
    expectStatus(await own.world.root.put(own.projectPath, { public_jobs: false }), 200)
  })
}

const closed: Prepare = async (stage) => ({ stage: await withoutPublicJobs(stage) })

const pipelinePath = (of: Json): Request => ({ path: { pipeline_id: idOf(of) } })
const jobPath = (of: Json): Request => ({ path: { job_id: idOf(of) } })

const anyStatus = ['pending', 'running', 'success', 'failed', 'canceled']

/** A pipeline, and a job of it, that only the rows that read use. */
const read = (stage: Stage) => stage.once('read pipeline', () => pipeline(stage))
const onPipeline = onCi(async (stage) => pipelinePath(await read(stage)))
const onJob = onCi(async (stage) =>
  jobPath(await stage.once('read job', async () => job(stage, await read(stage), 'build', anyStatus))),
)

const failedPipeline = (ref: string) =>
  onCi(async (stage) => pipelinePath((await finished(stage, 'failed', await pipeline(stage, ref))).pipeline))
const newPipeline = (ref: string) => onCi(async (stage) => pipelinePath(await pipeline(stage, ref)))
const failedJob = (ref: string) =>
  onCi(async (stage) => jobPath((await finished(stage, 'failed', await pipeline(stage, ref))).job))

/** A job whose runner has said that its log shows more than it should. */
async function debugJob(stage: Stage): Promise<Request> {
  const found = await job(stage, await pipeline(stage))
  const { id, token } = await take(stage, found)
  const headers = { 'job-token': token, 'content-range': '0-4', 'content-type': 'text/plain' }
  expectStatus(await stage.world.anonymous.patch(`/jobs/${id}/trace?debug_trace=true`, 'debug', headers), 202)
  return jobPath(found)
}

const ofMain: Request = { path: { ref: 'main' } }
const picture = {
  'public_jobs on': onCi(() => ofMain),
  'public_jobs off': async (stage) => ({ ...ofMain, stage: await withoutPublicJobs(stage) }),
} satisfies Scenarios[string]

const artifacts = (stage: Stage) => stage.once('artifacts', () => withArtifacts(stage))

export const pipelineScenarios: Scenarios = {
  'GET /projects/:id/pipelines': { 'public_jobs on': onCi(), 'public_jobs off': closed },
  'GET /projects/:id/badges/:ref/pipeline.svg': picture,
  'GET /projects/:id/badges/:ref/coverage.svg': picture,
  'GET /projects/:id/pipelines/:pipeline_id': { 'public_jobs on': onPipeline },
  'GET /projects/:id/pipelines/latest': {
    'public_jobs on; pipeline exists': onCi(async (stage) => {
      await stage.once('latest', () => pipeline(stage, 'main'))
      return {}
    }),
    'no pipeline for the commit': plain,
  },
  'GET /projects/:id/pipelines/:pipeline_id/variables': {
    'started by another user': onPipeline,
    'started by the calling member': forEach(async (_, of) => pipelinePath(of)),
  },
  'GET /projects/:id/pipelines/:pipeline_id/jobs': { 'public_jobs on': onPipeline },
  'GET /projects/:id/pipelines/:pipeline_id/bridges': { 'public_jobs on': onPipeline },
  'GET /projects/:id/pipelines/:pipeline_id/test_report': { 'public_jobs on': onPipeline },
  'GET /projects/:id/pipelines/:pipeline_id/test_report_summary': { 'public_jobs on': onPipeline },
  'POST /projects/:id/pipeline': {
    'unprotected ref': onCi(() => ({ body: { ref: 'free' } })),
    'protected ref, push and merge level 40': onCi(() => ({ body: { ref: 'main' } })),
  },
  'POST /projects/:id/pipelines/:pipeline_id/retry': {
    'unprotected ref': failedPipeline('free'),
    'protected ref, push and merge level 40': failedPipeline('main'),
  },
  'POST /projects/:id/pipelines/:pipeline_id/cancel': {
    'unprotected ref': newPipeline('free'),
    'protected ref, push and merge level 40': newPipeline('main'),
    'finished pipeline, unprotected ref': failedPipeline('free'),
  },
  'DELETE /projects/:id/pipelines/:pipeline_id': { '': newPipeline('free') },
  'PUT /projects/:id/pipelines/:pipeline_id/metadata': {
    'unprotected ref': onCi(async (stage) => ({ ...pipelinePath(await read(stage)), body: { name: 'x' } })),
  },
}

export const jobScenarios: Scenarios = {
  'GET /projects/:id/jobs': { 'public_jobs on': onCi(), 'public_jobs off': closed },
  'GET /projects/:id/jobs/:job_id': { 'public_jobs on': onJob },
  'GET /projects/:id/jobs/:job_id/trace': {
    'public_jobs on, no debug trace': onJob,
    'debug trace': onCi((stage) => stage.once('debug job', () => debugJob(stage))),
  },
  'POST /projects/:id/jobs/:job_id/retry': {
    'unprotected ref, failed job': failedJob('free'),
    'protected ref, push and merge level 40, failed job': failedJob('main'),
  },
  'POST /projects/:id/jobs/:job_id/cancel': {
    'unprotected ref': onCi(async (stage) => jobPath(await job(stage, await pipeline(stage)))),
    'force=true, canceling job': onCi(async (stage) => {
      const waiting = await job(stage, await pipeline(stage))
      await take(stage, waiting)
      await stage.make(`${stage.projectPath}/jobs/${idOf(waiting)}/cancel`)
      return { ...jobPath(waiting), body: { force: true } }
    }),
  },
  'POST /projects/:id/jobs/:job_id/play': {
    'unprotected ref, manual job': onCi(async (stage) =>
      jobPath(await job(stage, await pipeline(stage), 'later', ['manual'])),
    ),
  },
  'POST /projects/:id/jobs/:job_id/erase': {
    'finished job started by the caller': forEach(async (stage, of) =>
      jobPath((await finished(stage, 'success', of)).job),
    ),
    'finished job of another user': onCi(async (stage) =>
      jobPath((await finished(stage, 'success', await pipeline(stage))).job),
    ),
  },
  'GET /projects/:id/jobs/:job_id/artifacts': {
    'public_jobs on, artifacts public': onCi(async (stage) => jobPath(await artifacts(stage))),
  },
  'GET /projects/:id/jobs/:job_id/artifacts/tree': {
    'public_jobs on, artifacts public': onCi(async (stage) => jobPath(await artifacts(stage))),
  },
  'GET /projects/:id/jobs/:job_id/artifacts/*': {
    'public_jobs on, artifacts public': onCi(async (stage) => ({
      path: { ...jobPath(await artifacts(stage)).path, '*': 'x.txt' },
    })),
  },
  'GET /projects/:id/jobs/artifacts/:ref_name/download': {
    'public_jobs on, artifacts public': onCi(async (stage) => {
      await artifacts(stage)
      return { path: { ref_name: 'free' }, query: 'job=build' }
    }),
  },
  'GET /projects/:id/jobs/artifacts/:ref_name/raw/*': {
    'public_jobs on, artifacts public': onCi(async (stage) => {
      await artifacts(stage)
      return { path: { ref_name: 'free', '*': 'x.txt' }, query: 'job=build' }
    }),
  },
  'GET /job': { 'no job token': plain },
  'DELETE /projects/:id/jobs/:job_id/artifacts': {
    '': onCi(async (stage) => jobPath(await withArtifacts(stage))),
  },
  'POST /projects/:id/jobs/:job_id/artifacts/keep': {
    '': onCi(async (stage) => jobPath(await artifacts(stage))),
  },
  'DELETE /projects/:id/artifacts': { '': plain },
}
