import { formatDuration } from './duration.ts'
import type { StopReason } from './job-control.ts'
import type { Outcome } from './trace-upload.ts'

/** The end of a job that did not succeed, in the words of the runner API. */
export class JobFailure extends Error {
  readonly reason: string
  readonly exitCode: number | undefined

  constructor(reason: string, message: string, exitCode?: number) {
    super(message)
    this.reason = reason
    this.exitCode = exitCode
  }

  /** As the log's last line says it. */
  get line() {
    const system = this.reason === 'runner_system_failure' ? ' (system failure)' : ''
    return `Job failed${system}: ${this.message}`
  }

  get outcome(): Outcome {
    const exit = this.exitCode === undefined ? {} : { exitCode: this.exitCode }
    return { state: 'failed', failureReason: this.reason, ...exit }
  }
}

export function scriptFailure(exitCode: number) {
  return new JobFailure('script_failure', `exit code ${exitCode}`, exitCode)
}

export function timeoutFailure(seconds: number) {
  return new JobFailure('job_execution_timeout', `execution took longer than ${formatDuration(seconds)}`)
}

export function stopFailure(reason: StopReason, timeout: number) {
  if (reason === 'timeout') return timeoutFailure(timeout)
  if (reason === 'shutdown') return new JobFailure('runner_system_failure', 'the runner is stopping')
  return new JobFailure('job_canceled', 'canceled')
}

/** Anything else that went wrong is the runner's trouble, not the job's. */
export function systemFailure(error: unknown) {
  if (error instanceof JobFailure) return error
  return new JobFailure('runner_system_failure', error instanceof Error ? error.message : String(error))
}
