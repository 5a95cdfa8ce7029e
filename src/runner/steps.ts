import { isTraced, runScript, type Course } from './run-script.ts'
import { parseDuration } from './duration.ts'
import { scriptFailure, systemFailure, timeoutFailure, type JobFailure } from './failure.ts'
import { due, type Step } from './payload.ts'
import { makeRelease, releaseSetup } from './release.ts'
import { quote, sayGreen, userScript } from './script.ts'

const afterScriptTimeout = 300

/** The steps that make the result, in order; throws what the job failed of. */
export async function runSteps(course: Course) {
  const { job, trace, control } = course
  let failure: JobFailure | undefined
  for (const step of job.steps ?? []) {
    if (step.name === 'after_script' || step.script.length === 0) continue
    if (!due(step.when, failure === undefined)) continue
    try {
      const title = `Executing "step_${step.name}" stage of the job script`
      await trace.section(`step_${step.name}`, title, () => runStep(course, step))
    } catch (error) {
      if (control.soft.aborted) throw error
      if (step.allow_failure === true) trace.warn(`${step.name} failed: ${systemFailure(error).message}`)
      else failure ??= systemFailure(error)
    }
  }
  if (failure !== undefined) throw failure
}

async function runStep(course: Course, step: Step) {
  const { control, folder, variables } = course
  const own = parseDuration(variables.environment.RUNNER_SCRIPT_TIMEOUT)
  const seconds = Math.min(step.timeout || Infinity, own || Infinity)
  using limit = limited(control.soft, seconds)
  const releases = step.name === 'release'
  const script = [
    `cd ${quote(folder.project)}`,
    ...(releases ? [releaseSetup(folder)] : []),
    userScript(step.script, { trace: isTraced(variables) }),
  ].join('\n')
  course.hurry()
  const code = await runScript(course, { script, stop: limit.signal, untrusted: true })
  control.soft.throwIfAborted()
  if (limit.passed()) throw timeoutFailure(seconds)
  if (code !== 0) throw scriptFailure(code)
  if (releases) await makeRelease(course)
}

/** Runs in a shell of its own. Nothing it does changes the result, unless the job wants its failure to be one: that is answered. */
export async function runAfterScript(
  course: Course,
  failure: JobFailure | undefined,
): Promise<JobFailure | undefined> {
  const { job, trace, control, folder, variables } = course
  const step = (job.steps ?? []).find(({ name }) => name === 'after_script')
  if (step === undefined || step.script.length === 0) return undefined
  const seconds = parseDuration(variables.environment.RUNNER_AFTER_SCRIPT_TIMEOUT) || afterScriptTimeout
  let trouble: JobFailure | undefined
  await trace.section('after_script', 'Running after_script', async () => {
    using limit = limited(control.hard, seconds)
    const commands = userScript(step.script, { trace: isTraced(variables) })
    const script = [`cd ${quote(folder.project)}`, sayGreen('Running after script...'), commands].join('\n')
    const environment = { CI_JOB_STATUS: statusOf(failure) }
    const run = { script, environment, stop: limit.signal, untrusted: true }
    trouble = await runScript(course, run).then((code) => {
      if (limit.passed()) return timeoutFailure(seconds)
      return code === 0 ? undefined : scriptFailure(code)
    }, systemFailure)
    if (trouble === undefined) return
    if (ignoresErrors(variables.environment)) {
      trace.warn(`after_script failed, but job will continue unaffected: ${trouble.message}`)
      trouble = undefined
    } else trace.warn(`after_script failed: ${trouble.message}`)
  })
  return trouble
}

function ignoresErrors({ AFTER_SCRIPT_IGNORE_ERRORS: wish = '' }: Course['variables']['environment']) {
  return !/^(?:0|f|false)$/i.test(wish)
}

function statusOf(failure: JobFailure | undefined) {
  if (failure === undefined) return 'success'
  return failure.reason === 'job_canceled' ? 'canceled' : 'failed'
}

/** A signal that is also aborted after some seconds. */
function limited(signal: AbortSignal, seconds: number) {
  const own = new AbortController()
  const milliseconds = Math.min(seconds * 1000, 0x7fffffff)
  const timer = setTimeout(() => own.abort(), milliseconds)
  return {
    signal: AbortSignal.any([signal, own.signal]),
    passed: () => own.signal.aborted && !signal.aborted,
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
