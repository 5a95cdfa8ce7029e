import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isAlive, startTimeOf } from './process-table.ts'

/** The first process of a server, ours or one found running. */
export interface Postmaster {
  pid: number
  /** Settles with the way it ended. Only the process is gone then; its children follow within moments. */
  gone: Promise<string>
  /** Looks now, which for a found process is sooner than `gone` says. */
  isGone: () => boolean
}

export function ownPostmaster(child: ChildProcess): Postmaster {
  let over = false
  const gone = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('exit', (code, signal) => settle(signal === null ? `exit code ${code ?? '?'}` : signal))
  })
  void gone.then(() => (over = true))
  return { pid: child.pid ?? -1, gone, isGone: () => over }
}

/** Nobody tells us when a process ends that is not our child, so it is looked at, each second. */
export function foundPostmaster(pid: number): Postmaster {
  const started = startTimeOf(pid)
  const { promise: gone, resolve } = Promise.withResolvers<string>()
  const isGone = () => {
    const over = !isAlive(pid) || startTimeOf(pid) !== started
    if (over) {
      clearInterval(timer)
      resolve('it was not our child')
    }
    return over
  }
  const timer = setInterval(isGone, 1000)
  return { pid, gone, isGone }
}

/** Milliseconds to wait for the end after asking for a fast shutdown, and then for an immediate one. */
export interface Patience {
  fast: number
  immediate: number
}

/**
 * Ends it: connections are cut and everything is written out (SIGINT); if that takes too long, at once (SIGQUIT), which
 * costs a recovery at the next start; at last by force. Nothing committed is lost by any of them.
 */
export async function stopPostmaster(
  postmaster: Postmaster,
  log: Logger,
  patience: Patience = { fast: 30_000, immediate: 10_000 },
): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', patience.fast],
    ['SIGQUIT', patience.immediate],
    ['SIGKILL', 10_000],
  ]
  for (const [signal, wait] of steps) {
    if (postmaster.isGone()) return
    if (signal !== 'SIGINT')
      log.warn(`PostgreSQL (process ${postmaster.pid}) does not stop: sending ${signal}`)
    signalProcess(postmaster.pid, signal)
    if (await waitUntil(postmaster.isGone, wait)) return
  }
}

/** True as soon as it holds, false when `wait` milliseconds have passed. */
export async function waitUntil(holds: () => boolean, wait: number): Promise<boolean> {
  const end = performance.now() + wait
  while (!holds()) {
    if (performance.now() > end) return false
    await sleep(5)
  }
  return true
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, signal)
  } catch {
    // It has just ended, which is what we want of it.
  }
}
