import { GitError, RemoteRefusal, type RemoteWire } from '../../git/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import { withoutSecrets, type Address, type KeylessScheme } from './address.ts'
import { HttpWire } from './http-wire.ts'
import { daemonWire } from './line-wire.ts'
import { MirrorProblem } from './problem.ts'
import { sshWire, type SshLogin } from './ssh-wire.ts'
import type { Outcome } from './work.ts'

/** The line to a repository elsewhere, by whichever protocol its address names. */
export function wireTo(
  outbound: Outbound,
  address: Address,
  login: SshLogin,
  signal: AbortSignal,
): RemoteWire {
  return isKeyless(address)
    ? keylessWireTo(outbound, address, signal)
    : sshWire(outbound, address, login, signal)
}

const isKeyless = (address: Address): address is Address<KeylessScheme> => address.scheme !== 'ssh'

/** The same where no key is needed. */
export function keylessWireTo(
  outbound: Outbound,
  address: Address<KeylessScheme>,
  signal: AbortSignal,
): RemoteWire {
  return address.scheme === 'git'
    ? daemonWire(outbound, address, signal)
    : new HttpWire(outbound, address, signal)
}

/** What went wrong, in words without anything secret. Throws on where it was stopped. */
export function failureOf(
  error: unknown,
  { address, signal, log, mirror }: { address: Address; signal: AbortSignal; log: Logger; mirror: number },
): Outcome {
  signal.throwIfAborted()
  const failed = (text: string, passing = false): Outcome => failedBy(text, address, passing)
  if (error instanceof MirrorProblem) return failed(error.message, error.passing)
  if (error instanceof RemoteRefusal) return failed(`The other side refuses: ${error.message}`)
  if (error instanceof GitError && error.failure === 'too-large') return failed('It is too large')
  if (error instanceof GitError && error.failure === 'bad-objects') {
    return failed('Git does not take what the other side has')
  }
  if (error instanceof GitError && error.failure === 'protocol') {
    return failed(`The other side does not answer as git does: ${error.message}`, true)
  }
  log.warn({ err: error, mirror }, 'a mirror could not be brought up to date')
  return failed('It could not be brought up to date', true)
}

export function failedBy(text: string, address: Address, passing = false): Outcome {
  return { ok: false, error: withoutSecrets(text, address), passing }
}

const mostNamed = 10

/** A list that is not too long to read. */
export function named(names: readonly string[]): string {
  const more = names.length > mostNamed ? [`and ${names.length - mostNamed} more`] : []
  return [...names.slice(0, mostNamed), ...more].join(', ')
}
