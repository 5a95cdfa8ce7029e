import os from 'node:os'
import path from 'node:path'
import { downloadArtifacts, dueArtifacts, uploadArtifacts, type ArtifactContext } from './artifacts.ts'
import { cachesToRestore, cachesToSave, restoreCaches, saveCaches, type CacheContext } from './cache.ts'
import { JobFailure, scriptFailure, stopFailure, systemFailure } from './failure.ts'
import { createJobFolders } from './job-folder.ts'
import { runScript, type Course } from './run-script.ts'
import { quote, userScript } from './script.ts'
import { getSources } from './sources.ts'
import { runAfterScript, runSteps } from './steps.ts'

/** Takes the job from its first to its last section; undefined is success. */
export async function runCourse(course: Course): Promise<JobFailure | undefined> {
  const { control } = course
  control.stopAfter(course.timeout)
  let failure = await outcomeOf(course, () => prepare(course))
  if (failure === undefined) {
    failure = await outcomeOf(course, () => runSteps(course))
    control.settle()
    if (!control.hard.aborted) {
      const after = await runAfterScript(course, failure)
      failure ??= after
    }
    if (!control.hard.aborted) failure = await keepResults(course, failure)
  }
  control.settle()
  if (control.hard.aborted) return stopFailure(control.reason ?? 'gone', course.timeout)
  if (course.trace.failure !== undefined) failure ??= systemFailure(course.trace.failure)
  await course.trace.section(
    'cleanup_file_variables',
    'Cleaning up project directory and file based variables',
    async () => undefined,
  )
  return failure
}

async function outcomeOf(course: Course, work: () => Promise<void>): Promise<JobFailure | undefined> {
  const { control, timeout } = course
  try {
    await work()
    return undefined
  } catch (error) {
    return control.reason === undefined ? systemFailure(error) : stopFailure(control.reason, timeout)
  }
}

async function prepare(course: Course) {
  const { job, trace, settings, shell, folder, user, variables, control } = course
  trace.line(`Running with guildhall-runner ${settings.version}`)
  trace.line(`  on ${os.hostname()} ${shortToken(settings.token)}, system ID: ${settings.systemId}`)
  await trace.section('prepare_executor', 'Preparing the "shell" executor', async () => {
    trace.line(`Using Shell (${path.basename(shell)}) executor...`)
  })
  await trace.section('prepare_script', 'Preparing environment', async () => {
    await createJobFolders(folder, user, variables.files)
    trace.line(`Running on ${os.hostname()}...`)
  })
  control.soft.throwIfAborted()
  await fetchSources(course)
  const context = resultContext(course, control.soft)
  const caches = cachesToRestore(job, variables.expand)
  if (caches.length > 0) {
    await trace.section('restore_cache', 'Restoring cache', () => restoreCaches(context, caches))
  }
  const dependencies = (job.dependencies ?? []).filter(({ artifacts_file: file }) => file != null)
  if (dependencies.length > 0) {
    const work = () => downloadArtifacts(context, dependencies)
    await trace.section('download_artifacts', 'Downloading artifacts', work)
  }
  control.soft.throwIfAborted()
}

async function fetchSources(course: Course) {
  const { job, trace, folder, variables, control } = course
  await trace.section('get_sources', 'Getting source from Git repository', async () => {
    for (const hook of job.hooks ?? []) {
      if (hook.name !== 'pre_get_sources_script' || hook.script.length === 0) continue
      const script = `cd ${quote(folder.builds)}\n${userScript(hook.script)}`
      const code = await runScript(course, { script, stop: control.soft, untrusted: true })
      if (code !== 0) throw scriptFailure(code)
    }
    const sources = getSources(job, folder.project, variables.environment)
    if ('skipped' in sources) {
      trace.line(sources.skipped)
      return
    }
    for (let attempt = 1; ; attempt++) {
      const { script, environment } = sources
      const code = await runScript(course, { script, environment, stop: control.soft, untrusted: false })
      if (code === 0) return
      const message = `getting the sources failed: exit code ${code}`
      if (attempt >= sources.attempts) throw new JobFailure('runner_system_failure', message)
      trace.warn(`${message}; attempt ${attempt + 1} of ${sources.attempts}`)
    }
  })
}

/** Caches and artifacts. What cannot be uploaded makes a job fail that had succeeded. */
async function keepResults(course: Course, failure: JobFailure | undefined): Promise<JobFailure | undefined> {
  const { job, trace, variables, control } = course
  const context = resultContext(course, control.hard)
  const succeeded = failure === undefined
  const kind = succeeded ? 'successful' : 'failed'
  const caches = cachesToSave(job, variables.expand, succeeded)
  const artifacts = dueArtifacts(job, succeeded)
  try {
    if (caches.length > 0) {
      await trace.section('archive_cache', `Saving cache for ${kind} job`, () => saveCaches(context, caches))
    }
    if (artifacts.length > 0) {
      const name = `upload_artifacts_on_${succeeded ? 'success' : 'failure'}`
      const work = () => uploadArtifacts(context, artifacts)
      await trace.section(name, `Uploading artifacts for ${kind} job`, work)
    }
    return failure
  } catch (error) {
    trace.error(systemFailure(error).message)
    return failure ?? systemFailure(error)
  }
}

function resultContext(course: Course, signal: AbortSignal): ArtifactContext & CacheContext {
  const { api, job, folder, user, trace, caches, variables } = course
  const { project, root, home } = folder
  const { environment, expand } = variables
  return { api, job, project, root, home, user, trace, signal, caches, environment, expand }
}

function shortToken(token: string) {
  return token.replace(/^glrtr?-(t\d+_)?/, '').slice(0, 8)
}
