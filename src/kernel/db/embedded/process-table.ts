import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { errorCode } from './error.ts'

/** What can be known of processes that are not our children. /proc where it is, `ps` elsewhere. */

/** A zombie (dead, not yet reaped: common in containers, whose first process reaps nobody) is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false
  }
  return !/^[ZX]/.test(statOf(pid)?.[0] ?? '')
}

/** Tells a process from a later one with the same id; undefined where the system does not say. */
export function startTimeOf(pid: number): string | undefined {
  return statOf(pid)?.[19]
}

/** The fields of /proc/<pid>/stat from the third on: the second, the name, may itself contain blanks and brackets. */
function statOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Whether this process is the postmaster of this data directory (a real path). */
export function isPostmasterOf(pid: number, data: string): boolean {
  if (!isAlive(pid)) return false
  if (!existsSync('/proc/self/cmdline')) return psNames(pid, data)
  // Its children change their command line to «postgres: what they do», so they do not pass for it.
  const command = read(`/proc/${pid}/cmdline`)?.split('\0') ?? []
  if (basename(command[0] ?? '') !== 'postgres') return false
  return folderOf(pid) === data || (folderOf(pid) === undefined && command.includes(data))
}

/** Server processes at work on this data directory, postmaster or not; empty where the system does not say. */
export function serverProcessesIn(data: string): number[] {
  if (!existsSync('/proc/self/cmdline')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) => read(`/proc/${pid}/comm`)?.trim() === 'postgres' && folderOf(pid) === data && isAlive(pid),
    )
}

/** Every server process stands in its data directory. Undefined where we may not look (root without its powers). */
function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function psNames(pid: number, data: string): boolean {
  try {
    const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return /(^|\/)postgres /.test(command) && command.includes(data)
  } catch {
    return false
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
