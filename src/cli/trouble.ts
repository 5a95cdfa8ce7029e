import { GitError } from '../git/index.ts'
import type { Config } from '../kernel/config/index.ts'
import { ApiError, sentencesOf } from '../kernel/errors/index.ts'

/** Something the operator must mend: the message is one clear line, without a stack. */
export class Trouble extends Error {}

/** Turns the usual failures of starting into the line that says how to mend them. */
export function explain(error: unknown, facts: Pick<Config, 'sshPort' | 'host' | 'dataDirectory'>): unknown {
  const code = (error as NodeJS.ErrnoException).code
  const syscall = (error as NodeJS.ErrnoException).syscall
  if (error instanceof GitError && (error.failure === 'missing-program' || error.failure === 'too-old')) {
    return new Trouble(`${error.message}; install git 2.39 or newer and have it on the PATH.`)
  }
  if (syscall === 'listen') {
    const { port } = error as { port?: number }
    const name = port === facts.sshPort ? 'SSH_PORT' : 'PORT'
    if (code === 'EADDRINUSE')
      return new Trouble(`port ${port} is in use; stop what uses it, or choose another with ${name}.`)
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      return new Trouble(
        `cannot listen on ${facts.host}:${port} (${code}); choose others with HOST and ${name}.`,
      )
  }
  if (syscall === 'getaddrinfo')
    return new Trouble(`the name in HOST or DATABASE_URL is unknown: ${(error as Error).message}.`)
  if (code === 'ECONNREFUSED' || code === 'ETIMEDOUT' || (code === 'ENOENT' && syscall === 'connect')) {
    return new Trouble(
      'the database in DATABASE_URL cannot be reached; is it running, and is the address right?',
    )
  }
  if (code === '28P01' || code === '28000')
    return new Trouble('the database refuses the user or password in DATABASE_URL.')
  if (code === '3D000')
    return new Trouble('the database named in DATABASE_URL does not exist; create it first.')
  if (code === 'EEXIST' && syscall === 'mkdir') {
    const at = (error as NodeJS.ErrnoException).path ?? facts.dataDirectory
    return new Trouble(`${at} is not a folder; move it away, or choose another folder with DATA_DIR.`)
  }
  if (
    (code === 'ENOENT' && (syscall === 'mkdir' || syscall === 'stat')) ||
    code === 'EACCES' ||
    code === 'EROFS' ||
    code === 'EPERM' ||
    code === 'ENOTDIR' ||
    code === 'ELOOP' ||
    code === 'ENAMETOOLONG'
  ) {
    return new Trouble(
      `cannot write below ${facts.dataDirectory} (${code}); choose a folder of yours with DATA_DIR.`,
    )
  }
  if (code === 'ENOSPC') return new Trouble(`the disk of ${facts.dataDirectory} is full.`)
  if (error instanceof ApiError) {
    const faults = sentencesOf(error.body).map((fault) => fault.replace(/\.$/, ''))
    return new Trouble(`${faults.join('; ')}.`)
  }
  if (error instanceof AggregateError && error.errors.length > 0) return explain(error.errors[0], facts)
  return error
}
