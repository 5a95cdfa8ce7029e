/**
 * Why a git operation could not be done. Only these are told apart by callers; everything else is `failed`.
 * `protocol`: the other side sent something that is no git protocol. `too-large`: a limit of ours was passed.
 * `bad-objects`: git's checks let what was to be written not in.
 */
export type GitFailure =
  'failed' | 'aborted' | 'missing-program' | 'too-old' | 'protocol' | 'too-large' | 'bad-objects'

/** The message is constant for a command, so that logs group; what varies stands in the fields. */
export class GitError extends Error {
  readonly failure: GitFailure
  readonly exitCode: number | undefined
  /** At most 8 KiB of what git said. It may name paths of this machine: for logs, never for a client. */
  readonly stderr: string

  constructor(
    failure: GitFailure,
    message: string,
    details: { exitCode?: number | undefined; stderr?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'GitError'
    this.failure = failure
    this.exitCode = details.exitCode
    this.stderr = details.stderr ?? ''
  }
}
