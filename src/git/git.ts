import { isAbsolute } from 'node:path'
import { execFile } from 'node:child_process'
import { GitError } from './git-error.ts'
import { ObjectReaders } from './object-readers.ts'
import { RefCache } from './ref-cache.ts'
import type { Repository } from './repository.ts'
import type { GitProgram } from './run.ts'
import { Starter } from './starter.ts'

export interface GitOptions {
  /** Default: `git`, as the path finds it. */
  readonly executable?: string
  /** Most object readers at one time, over all repositories; default 64. */
  readonly readers?: number
  /** Milliseconds after which an unused object reader is ended; default 60,000. */
  readonly readerIdle?: number
  /** Refs kept in memory, over all repositories; default 500,000 (some 200 MB at worst). */
  readonly cachedRefs?: number
  /** False leaves syncing to the operating system: for tests and throwaway instances only. */
  readonly durable?: boolean
}

/** Git for one process: the program, the object readers and the ref cache. Everything else in this room needs it. */
export interface Git extends AsyncDisposable {
  readonly version: string
  /** The repository in this folder (absolute), whether or not there is one. */
  repository(path: string): Repository
}

const oldest = [2, 39] as const

/** The version of git, `2.39.5`. Throws `missing-program` or `too-old` with a line for the administrator. */
export async function checkGit(executable = 'git'): Promise<string> {
  const text = await new Promise<string>((resolve, reject) => {
    execFile(executable, ['--version'], { env: { PATH: process.env['PATH'] ?? '' } }, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(new GitError('missing-program', `git was not found (${executable})`, { cause: error }))
    })
  })
  const found = /git version (\d+)\.(\d+)(?:\.\d+)*/.exec(text)
  const version = found?.[0].slice('git version '.length) ?? 'unknown'
  const [major, minor] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)]
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    throw new GitError('too-old', `git ${oldest.join('.')} or newer is needed; this machine has ${version}`)
  }
  return version
}

export async function openGit(options: GitOptions = {}): Promise<Git> {
  const executable = options.executable ?? 'git'
  const version = await checkGit(executable)
  const program: GitProgram = {
    executable,
    version,
    durable: options.durable ?? true,
    starter: new Starter(),
  }
  const readers = new ObjectReaders({ processes: options.readers ?? 64, idle: options.readerIdle ?? 60_000 })
  const refCache = new RefCache(options.cachedRefs ?? 500_000)
  return {
    version,
    repository(path) {
      if (!isAbsolute(path)) throw new GitError('failed', 'the path of a repository must be absolute')
      return { program, path, readers, refCache }
    },
    async [Symbol.asyncDispose]() {
      await readers[Symbol.asyncDispose]()
      await program.starter[Symbol.asyncDispose]()
    },
  }
}
