import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { JobUser } from './job-user.ts'
import { discard, type OutputPipes } from './output-pipe.ts'
import { aborted, wait } from './wait.ts'

export interface GroupSpec {
  /** A program and what is handed to it. */
  command: readonly string[]
  cwd: string
  environment: Record<string, string>
  user: JobUser | undefined
  /** A descriptor with the commands. */
  input: number
  pipes: OutputPipes
  onOutput: (chunk: Buffer) => void
  /** Aborted: SIGTERM to the group and, after `grace` seconds, SIGKILL. */
  stop: AbortSignal
  grace: number
}

/**
 * Runs a program in a session and process group of its own and returns its exit code (128 and the signal's number when
 * a signal ended it) once its output is read. Nothing of the group lives on.
 */
export async function runGroup(spec: GroupSpec): Promise<number> {
  const { command, cwd, environment, user, input, stop } = spec
  const [file, ...args] = command
  const pipe = await spec.pipes.take(user)
  let child: ChildProcess
  try {
    child = spawn(file!, args, {
      ...(args.length === 0 && { argv0: 'bash' }),
      cwd,
      env: environment,
      stdio: [input, pipe.writer, pipe.writer],
      detached: true,
      ...user,
    })
    await once(child, 'spawn')
  } catch (error) {
    discard(pipe)
    throw error
  }
  closeSync(pipe.writer)
  const drained = new Promise<void>((resolve) => pipe.reader.once('close', () => resolve()))
  pipe.reader.on('data', spec.onOutput)
  pipe.reader.on('error', () => undefined)
  // Taken down before anything is awaited: a child may end at once.
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>

  const [code, signal] = await stopped(child, args.length > 0, ended, stop, spec.grace)
  signalGroup(child, 'SIGKILL')
  // A process that left the group may keep the pipe open; without a user of its own it cannot be found.
  await Promise.race([drained, wait(1000)])
  pipe.reader.destroy()
  return code ?? 128 + signalNumber(signal)
}

async function stopped<T>(
  child: ChildProcess,
  watched: boolean,
  ended: Promise<T>,
  stop: AbortSignal,
  grace: number,
): Promise<T> {
  const stopping = aborted(stop)
  try {
    const first = await Promise.race([ended, stopping.promise])
    if (first !== undefined) return first
  } finally {
    stopping.off()
  }
  // What watches the shell would end at once, and the shell with it, before it has done what it wants to.
  if (watched) await signalOthers(child, 'SIGTERM')
  else signalGroup(child, 'SIGTERM')
  const killing = setTimeout(() => signalGroup(child, 'SIGKILL'), grace * 1000)
  try {
    return await ended
  } finally {
    clearTimeout(killing)
  }
}

/** All of the group but the first process. */
async function signalOthers({ pid: first }: ChildProcess, signal: NodeJS.Signals) {
  for (const name of await readdir('/proc').catch(() => [])) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === first) continue
    const facts = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    // Behind the name, which may hold anything: state, parent, group.
    if (Number(facts.slice(facts.lastIndexOf(')') + 2).split(' ')[2]) !== first) continue
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
}

export function signalGroup(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // All have ended.
  }
}

const numbers: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
}

function signalNumber(signal: NodeJS.Signals | null) {
  return (signal === null ? undefined : numbers[signal]) ?? 0
}
