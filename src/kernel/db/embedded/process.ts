import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import type { Account } from './account.ts'

/** How programs of the server are started on this machine. */
export interface Launcher {
  account: Account | undefined
  /** Whether the kernel can be asked to stop them when this process dies, however it dies. */
  tied: boolean
}

/** util-linux's setpriv is not everywhere, and not every program of that name knows our options: ask it. */
export async function chooseLauncher(account: Account | undefined): Promise<Launcher> {
  const tied: Launcher = { account, tied: true }
  const { code } = await run(tied, 'setpriv', ['--version'])
  return code === 0 ? tied : { account, tied: false }
}

interface Start {
  /** What the program gets when this process dies. */
  deathSignal: 'INT' | 'KILL'
  stdio: StdioOptions
  /** Else the uppermost one, which no user is forbidden to enter. */
  cwd?: string | undefined
  env?: Record<string, string>
}

export function start(launcher: Launcher, program: string, args: string[], options: Start): ChildProcess {
  const { account } = launcher
  const common = {
    stdio: options.stdio,
    cwd: options.cwd ?? '/',
    // Nothing of ours leaks in: no secrets, no PG* variables; messages in English, because they are parsed.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...options.env },
    // A session of its own: an interrupt at the terminal is for us, who then stop the server in order.
    detached: true,
  }
  if (!launcher.tied) {
    return spawn(program, args, account ? { ...common, uid: account.uid, gid: account.gid } : common)
  }
  // The kernel forgets the death signal when the user changes, so setpriv must do both, in its order.
  const user = account ? ['--reuid', `${account.uid}`, '--regid', `${account.gid}`, '--clear-groups'] : []
  const tie = [...user, '--pdeathsig', options.deathSignal, '--', program, ...args]
  return spawn('setpriv', tie, common)
}

export interface Finished {
  /** Null when it could not be started, or was killed. */
  code: number | null
  output: string
  /** The server's user may not execute the program, or perhaps not read its libraries. */
  forbidden: boolean
}

/** Runs a program to its end; a failure to start it is an answer too. At most 64 KiB of its output is kept. */
export async function run(
  launcher: Launcher,
  program: string,
  args: string[],
  options: { input?: string; cwd?: string } = {},
): Promise<Finished> {
  const child = start(launcher, program, args, {
    deathSignal: 'KILL',
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: options.cwd,
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  const keep = (chunk: string) => (output = (output + chunk).slice(-65_536))
  child.stdout?.setEncoding('utf8').on('data', keep)
  child.stderr?.setEncoding('utf8').on('data', keep)
  // A program that ends before it has read everything is no failure of ours; its exit code tells.
  child.stdin?.on('error', () => undefined).end(options.input ?? '')
  try {
    return await new Promise((settle) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        settle({ code: null, output: error.message, forbidden: error.code === 'EACCES' })
      })
      child.once('close', (code) => {
        // The linker does not say whether libraries are missing or out of reach.
        const forbidden = launcher.account !== undefined && output.includes('while loading shared libraries')
        settle({ code, output, forbidden: code !== 0 && forbidden })
      })
    })
  } finally {
    process.off('exit', kill)
  }
}
