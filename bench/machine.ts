import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import os from 'node:os'
import { promisify } from 'node:util'

/** What the figures were measured on. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  readonly git: string
  /** Processes that were waiting for a core before we began, a minute's average. */
  readonly loadBefore: number
}

export async function readMachine(): Promise<Machine> {
  const { stdout } = await promisify(execFile)('git', ['--version'])
  return {
    cores: os.availableParallelism(),
    processor: os.cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()}, ${os.arch()}`,
    node: process.version,
    git: stdout.trim().replace('git version ', ''),
    loadBefore: os.loadavg()[0] ?? 0,
  }
}

/** The process and all that it has started, and these in turn; Linux only, elsewhere just the process. */
async function familyOf(root: number): Promise<number[]> {
  const children = new Map<number, number[]>()
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    // The name before it, in parentheses, may hold anything.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const family = [root]
  for (const pid of family) family.push(...(children.get(pid) ?? []))
  return family
}

/**
 * Bytes that a process and its descendants take, memory that they share counted once (Pss). Undefined where the system
 * does not tell.
 */
export async function memoryOf(root: number): Promise<number | undefined> {
  let sum = 0
  for (const pid of await familyOf(root)) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    sum += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
  }
  return sum === 0 ? undefined : sum
}

/** Milliseconds of processor time so far: of a process, and of all that it has started (the database, git). */
export interface Effort {
  readonly own: number
  readonly others: number
}

/** The kernel counts in hundredths of a second. Undefined where the system does not tell. */
export async function effortOf(root: number): Promise<Effort | undefined> {
  const effort = { own: 0, others: 0 }
  for (const pid of await familyOf(root)) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const spent = (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10
    effort[pid === root ? 'own' : 'others'] += spent
  }
  return effort.own === 0 ? undefined : effort
}
