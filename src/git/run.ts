import { parse as parseFilePath } from 'node:path'
import type { Writable } from 'node:stream'
import { allows, configuration, durable, volatile, type CommandName, type Flag } from './commands.ts'
import { GitError } from './git-error.ts'
import type { Rev, TreePath } from './parse.ts'
import type { Output } from './output.ts'
import type { Started, Starter } from './starter.ts'

/** The git binary and how it is started. */
export interface GitProgram {
  readonly executable: string
  /** `2.39.5` */
  readonly version: string
  /** False only in tests: then nothing is synced to the disk. */
  readonly durable: boolean
  readonly starter: Starter
}

/** Where a command works: a repository, perhaps seen through a quarantine (a folder for objects not yet let in). */
export interface Workplace {
  readonly program: GitProgram
  readonly path: string
  readonly quarantine?: string | undefined
}

export interface RunOptions<C extends CommandName> {
  readonly flags?: readonly Flag<C>[]
  /** Positional arguments after the flags: revisions, or constants of ours. */
  readonly revs?: readonly Rev[]
  /** After `--`; taken literally, never as a pattern. */
  readonly paths?: readonly TreePath[]
  /** The paths carry `:(...)` marks, which this room has put there. */
  readonly pathspecMagic?: boolean
  readonly signal?: AbortSignal | undefined
  /** More settings, constants of ours, as `key=value`. */
  readonly config?: readonly string[]
  /** `GIT_PROTOCOL`: checked by the caller to be `version=<n>` and the like. */
  readonly protocol?: string | undefined
  /** Boundaries of a shallow client, in a file; git then takes these commits as parentless. */
  readonly shallowFile?: string | undefined
  readonly onStderr?: (chunk: Buffer) => void
}

export interface GitProcess {
  readonly stdin: Writable
  readonly stdout: Output
  /** The exit code, when the process and its pipes are gone. Rejects only when it could not run or was aborted. */
  readonly exit: Promise<number>
  /** At most 8 KiB. */
  stderr(): string
  kill(): void
}

const stderrLimit = 8192

/** The environment is built from nothing: no `GIT_*` of the outside, no one's home, no terminal, one language. */
function environment(
  place: Workplace,
  options: Pick<RunOptions<CommandName>, 'protocol' | 'pathspecMagic'>,
): Record<string, string> {
  const result: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    // A bare repository is never searched for upwards from where it should be.
    GIT_CEILING_DIRECTORIES: parseFilePath(place.path).dir,
  }
  if (options.pathspecMagic !== true) result['GIT_LITERAL_PATHSPECS'] = '1'
  if (options.protocol !== undefined) result['GIT_PROTOCOL'] = options.protocol
  if (place.quarantine !== undefined) {
    result['GIT_OBJECT_DIRECTORY'] = place.quarantine
    result['GIT_ALTERNATE_OBJECT_DIRECTORIES'] = `${place.path}/objects`
    // Makes git itself refuse to move a ref to an object that is not let in yet.
    result['GIT_QUARANTINE_PATH'] = place.quarantine
  }
  return result
}

/** Commands that get the repository as their argument, since they open it by themselves. */
const opensItself: ReadonlySet<CommandName> = new Set<CommandName>(['upload-pack', 'upload-archive', 'init'])

function argumentsOf<C extends CommandName>(place: Workplace, command: C, options: RunOptions<C>): string[] {
  const flags: readonly string[] = options.flags ?? []
  for (const flag of flags) {
    if (!allows(command, flag)) throw new GitError('failed', `git ${command} does not take this flag`)
  }
  const settings = [
    ...configuration,
    ...(place.program.durable ? durable : volatile),
    ...(options.config ?? []),
  ]
  const result = settings.flatMap((setting) => ['-c', setting])
  if (!opensItself.has(command)) result.push(`--git-dir=${place.path}`)
  if (options.shallowFile !== undefined) result.push('--shallow-file', options.shallowFile)
  result.push(command, ...flags, ...(options.revs ?? []))
  if (opensItself.has(command)) result.push(place.path)
  if (options.paths !== undefined) result.push('--', ...options.paths)
  return result
}

export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new GitError('aborted', 'stopped', { cause: signal.reason })
}

/** Starts git. The caller reads `stdout` (else git waits), ends `stdin`, and looks at `exit`. */
export function start<C extends CommandName>(
  place: Workplace,
  command: C,
  options: RunOptions<C> = {},
): GitProcess {
  stopIfAborted(options.signal)
  const { executable, starter } = place.program
  const program = starter.start(executable, argumentsOf(place, command, options), environment(place, options))
  const said: Buffer[] = []
  let length = 0
  program.stderr.on('data', (chunk: Buffer) => {
    options.onStderr?.(chunk)
    if (length >= stderrLimit) return
    said.push(chunk.subarray(0, stderrLimit - length))
    length += chunk.length
  })
  // When git ends early the pipe breaks; its exit code tells why.
  program.stdin.on('error', () => undefined)
  const exit = exitOf(program, command, options.signal)
  exit.catch(() => undefined)
  return {
    stdin: program.stdin,
    stdout: program.stdout,
    exit,
    stderr: () => Buffer.concat(said).toString(),
    kill: () => program.kill(),
  }
}

async function exitOf(program: Started, command: string, signal: AbortSignal | undefined): Promise<number> {
  const stop = (): void => program.kill()
  signal?.addEventListener('abort', stop)
  try {
    // An aborted process is waited for: until it is gone it may still write.
    const { code, signal: killedBy } = await program.exit.catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
        throw new GitError('missing-program', 'git is not installed', { cause })
      throw new GitError('failed', `git ${command} could not be started`, { cause })
    })
    const aborted = signal?.aborted === true
    if (code !== null && !aborted) return code
    throw new GitError(aborted ? 'aborted' : 'failed', `git ${command} was stopped`, {
      stderr: killedBy ?? '',
    })
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

export function failure(command: CommandName, exitCode: number, stderr: string): GitError {
  return new GitError('failed', `git ${command} failed`, { exitCode, stderr })
}

export interface Result {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: string
}

/**
 * Runs git to its end and keeps its output, at most `maxOutput` bytes (default 64 MiB).
 * Exit codes other than `accept` (default: 0) are thrown.
 */
export async function run<C extends CommandName>(
  place: Workplace,
  command: C,
  options: RunOptions<C> & {
    readonly input?: string | Buffer
    readonly accept?: readonly number[]
    readonly maxOutput?: number
  } = {},
): Promise<Result> {
  const git = start(place, command, options)
  git.stdin.end(options.input)
  const limit = options.maxOutput ?? 64 * 1024 * 1024
  const chunks: Buffer[] = []
  let length = 0
  let tooLong = false
  git.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) {
      tooLong = true
      git.kill()
    } else {
      chunks.push(chunk)
    }
  })
  const exitCode = await git.exit.catch((error: unknown) => {
    if (tooLong) throw new GitError('too-large', `git ${command} answers too much`)
    throw error
  })
  if (!(options.accept ?? [0]).includes(exitCode)) throw failure(command, exitCode, git.stderr())
  return { exitCode, stdout: Buffer.concat(chunks), stderr: git.stderr() }
}

/** Runs git and gives the parts of its output between `separator` as they come. Leaving the loop stops git. */
export async function* records<C extends CommandName>(
  place: Workplace,
  command: C,
  separator: number,
  options: RunOptions<C> & { readonly input?: string | Buffer } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const git = start(place, command, options)
  git.stdin.end(options.input)
  let left: Buffer = Buffer.alloc(0)
  let finished = false
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      const data = left.length === 0 ? chunk : Buffer.concat([left, chunk])
      let from = 0
      for (let at = data.indexOf(separator); at >= 0; at = data.indexOf(separator, from)) {
        yield data.subarray(from, at)
        from = at + 1
      }
      left = data.subarray(from)
    }
    finished = true
  } finally {
    if (!finished) git.kill()
  }
  const exitCode = await git.exit
  if (exitCode !== 0) throw failure(command, exitCode, git.stderr())
  if (left.length > 0) yield left
}
