import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import { pushFiles } from '../../world/push.ts'
import { expectStatus, type Json } from '../../world/world.ts'
import type { Client } from '../../world/client.ts'
import { idOf, type Caller } from './actors.ts'
import type { Stage } from './stage.ts'

const configuration = `
build:
  script: echo hello
later:
  script: echo later
  when: manual
`
/** A stage whose project has pipelines: on `main`, which is protected, and on `free`, which is not. */
export function ciStage(stage: Stage): Promise<Stage> {
  return stage.variant('ci', prepareCi)
}

export async function prepareCi({ world, project, projectPath }: Stage): Promise<void> {
  await pushFiles(world, project, { '.gitlab-ci.yml': configuration }, ['main', 'free'])
  // What was pushed made pipelines of its own; the rows tell theirs from them by id.
  expectStatus(await world.root.put(projectPath, { auto_cancel_pending_pipelines: 'disabled' }), 200)
}

export async function pipeline(stage: Stage, ref = 'free', by: Client = stage.world.root): Promise<Json> {
  return expectStatus(await by.post(`${stage.projectPath}/pipeline`, { ref }), 201)
}

/** A pipeline that the caller started, where they may, else the administrator `root`. */
export function pipelineOf(stage: Stage, { userId }: Caller): Promise<Json> {
  const { members, admin } = stage.cast
  const starters = [members.developer, members.maintainer, members.owner, admin]
  return pipeline(
    stage,
    'free',
    starters.find(({ id }) => id === userId),
  )
}

/** A job of a pipeline by its name, once it has one of these statuses. */
export async function job(stage: Stage, of: Json, name = 'build', statuses = ['pending']): Promise<Json> {
  const path = `${stage.projectPath}/pipelines/${idOf(of)}/jobs`
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const { body } = (await stage.world.root.get(path)) as { body: Json[] }
    const found = body.find((one) => one['name'] === name)
    if (found !== undefined && statuses.includes(found['status'] as string)) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`the job ${name} did not become ${statuses.join(' or ')}`)
}

interface Running {
  readonly id: number
  readonly token: string
}

/** A runner of the stage's project alone. */
function runnerToken(stage: Stage): Promise<string> {
  return stage.once('runner', async () => {
    const made = await stage.make('/user/runners', {
      runner_type: 'project_type',
      project_id: idOf(stage.project),
    })
    return made['token'] as string
  })
}

/** Lets the runner take this job; what waits before it is done on the way. */
export async function take(stage: Stage, wanted: Json): Promise<Running> {
  const token = await runnerToken(stage)
  const info = { features: { cancel_gracefully: true, refspecs: true, return_exit_code: true } }
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const reply = await stage.world.anonymous.post('/jobs/request', { token, info })
    if (reply.status === 201) {
      const taken = reply.body as Running
      if (taken.id === idOf(wanted)) return taken
      await finish(stage, taken, 'success')
    } else if (reply.status === 204) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    } else throw new Error(`the runner got ${reply.status}: ${reply.text}`)
  }
  throw new Error('the runner was not given the job')
}

export async function finish(
  stage: Stage,
  { id, token }: Running,
  state: 'success' | 'failed',
): Promise<void> {
  const reason = state === 'failed' ? { failure_reason: 'script_failure' } : {}
  expectStatus(await stage.world.anonymous.put(`/jobs/${id}`, { token, state, ...reason }), 200)
}

/** The job `build` of a new pipeline, ended by the runner. */
export async function finished(
  stage: Stage,
  state: 'success' | 'failed',
  of: Json,
): Promise<{ pipeline: Json; job: Json }> {
  const waiting = await job(stage, of)
  await finish(stage, await take(stage, waiting), state)
  return { pipeline: of, job: await job(stage, of, 'build', [state]) }
}

/** A job with an archive of artifacts. */
export async function withArtifacts(stage: Stage): Promise<Json> {
  const of = await pipeline(stage)
  const running = await take(stage, await job(stage, of))
  const data = new FormData()
  data.append('file', new Blob([new Uint8Array(await zip())]), 'artifacts.zip')
  const path = `/jobs/${running.id}/artifacts?artifact_type=archive&artifact_format=zip`
  expectStatus(await stage.world.anonymous.post(path, data, { 'job-token': running.token }), 201)
  await finish(stage, running, 'success')
  return job(stage, of, 'build', ['success'])
}

/** A zip with one file, `x.txt`. */
async function zip(): Promise<Buffer> {
  const archive = new ZipFile()
  archive.addBuffer(Buffer.from('hello'), 'x.txt')
  archive.end()
  return buffer(archive.outputStream)
}
