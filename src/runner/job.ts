import path from 'node:path'
import type { Logger } from 'pino'
import type { Api } from './api.ts'
import { runCourse } from './course.ts'
import { JobFailure, systemFailure } from './failure.ts'
import { interpolateInputs } from './inputs.ts'
import { JobControl } from './job-control.ts'
import { createJobRoot, jobFolder, removeTree, withClonePath, type JobFolder } from './job-folder.ts'
import { killEverything, sweepSharedFolders, type JobUser } from './job-user.ts'
import type { Settings } from './options.ts'
import type { JobPayload } from './payload.ts'
import { isTraced } from './run-script.ts'
import { encodedLogin } from './sources.ts'
import { TraceUpload, type Outcome } from './trace-upload.ts'
import { Trace } from './trace.ts'
import { jobVariables } from './variables.ts'
import type { Workshop } from './workshop.ts'

export interface JobContext {
  settings: Settings
  api: Api
  workshop: Workshop
  log: Logger
  user: JobUser | undefined
  slot: number
  projectSlot: number
  /** Aborted when running jobs have had their time: they are stopped and reported. */
  shutdown: AbortSignal
  /** Aborted when not even a report is waited for. */
  lastCall: AbortSignal
}

// As long as a server may take to come back from an upgrade.
const reportWithin = 30 * 60_000

/** Runs one job to its end and reports it; what goes wrong with the job is told to the server, not thrown. */
export async function runJob(payload: JobPayload, context: JobContext): Promise<void> {
  const { workshop, user } = context
  const path = payload.job_info.project_full_path ?? `project-${payload.job_info.project_id}`
  const folder = jobFolder(workshop.jobs, payload.id, path, user)
  try {
    await createJobRoot(folder, user)
    await runInFolder(payload, folder, context)
  } finally {
    await killEverything(user, workshop.shell)
    await removeTree(folder.root)
    await sweepSharedFolders(user, workshop.shell)
  }
}

async function runInFolder(payload: JobPayload, plainFolder: JobFolder, context: JobContext) {
  const { settings, api, workshop, log, user, shutdown, lastCall } = context
  const planned = plan(payload, plainFolder, context)
  const { job, folder, variables } = planned
  using control = new JobControl(shutdown)
  using trace = new Trace({
    file: path.join(folder.root, 'trace'),
    secrets: [...variables.secrets, ...encodedLogin(job), settings.token],
    tokenPrefixes: job.features?.token_mask_prefixes ?? [],
    limit: settings.outputLimit,
    sections: job.features?.trace_sections === true,
  })
  const upload = new TraceUpload(api, job, trace, {
    log,
    version: settings.version,
    debug: isTraced(variables),
    onNews: (news) => control.stop(news),
  })
  const { pipes, sandbox, shell, caches } = workshop
  const timeout = job.runner_info?.timeout || 3600
  const hurry = () => upload.hurry()
  const course = {
    ...planned,
    settings,
    api,
    user,
    shell,
    pipes,
    sandbox,
    caches,
    trace,
    control,
    timeout,
    hurry,
  }
  upload.start()
  try {
    const failure = planned.failure ?? (await runCourse(course))
    if (control.reason === 'gone') {
      log.info({ job: job.id }, 'job dropped')
    } else {
      const accepted = await upload.finish(conclude(trace, failure), lastCall, reportWithin)
      log.info({ job: job.id, failure: failure?.reason, accepted }, 'job finished')
    }
  } finally {
    await upload.abandon()
  }
}

/** What can be said about the job before it starts. A job that makes no sense has a failure here. */
function plan(payload: JobPayload, folder: JobFolder, context: JobContext) {
  const { settings, slot, projectSlot, workshop } = context
  const facts = { slot, projectSlot, version: settings.version, path: settings.path, shell: workshop.shell }
  const variables = jobVariables(payload, folder, facts)
  try {
    if (payload.steps == null) throw new JobFailure('runner_unsupported', 'the job has no steps for a shell')
    const job = interpolateInputs(payload)
    const chosen = withClonePath(folder, variables.environment.GIT_CLONE_PATH)
    return { job, folder: chosen, variables: jobVariables(job, chosen, facts), failure: undefined }
  } catch (error) {
    return { job: payload, folder, variables, failure: systemFailure(error) }
  }
}

function conclude(trace: Trace, failure: JobFailure | undefined): Outcome {
  if (failure === undefined) {
    trace.line('\x1b[32;1mJob succeeded\x1b[0;m')
    trace.settle()
    return { state: 'success' }
  }
  trace.error(failure.line)
  trace.settle()
  return failure.outcome
}
