import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import type { JobUserRange } from './options.ts'
import { takeHostLock, type HostLock } from './host-lock.ts'

export interface JobUser {
  uid: number
  gid: number
}

/** The user of one slot; undefined `user` means the runner's own. */
export interface JobUserLease extends AsyncDisposable {
  user: JobUser | undefined
}

/**
 * A user id that no other job on this host runs as, nor any process of the system; processes a crashed runner left
 * under it are killed. The id needs no entry in the user database.
 */
export async function leaseJobUser(
  range: Required<JobUserRange> | undefined,
  shell: string,
): Promise<JobUserLease> {
  if (range === undefined) return { user: undefined, [Symbol.asyncDispose]: async () => undefined }
  for (let uid = range.firstUid; uid < range.firstUid + range.count; uid++) {
    const lock: HostLock | undefined = await takeHostLock(`uid ${uid}`)
    if (lock === undefined) continue
    const user = { uid, gid: uid }
    await killEverything(user, shell)
    return { user, [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose]() }
  }
  throw new Error(`no free user id in ${range.firstUid}..${range.firstUid + range.count - 1}`)
}

/**
 * Kills every process of the user, also those that left their group. `kill -1` sent by the user itself does it in one
 * step, so that not even a fork bomb escapes.
 */
export async function killEverything(user: JobUser | undefined, shell: string) {
  if (user === undefined) return
  // Sent as root it would end the machine.
  if (user.uid < 1000 || process.getuid?.() !== 0) throw new Error(`refusing to kill all of user ${user.uid}`)
  // The user's own limit of processes may be used up, and then nothing starts as that user.
  await runAs(user, shell, 'kill -KILL -1').catch(() => killOneByOne(user))
}

async function killOneByOne({ uid }: JobUser) {
  for (let round = 0; round < 50; round++) {
    const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const owned = await Promise.all(processes.map(async (pid) => (await liveUserOf(pid)) === uid))
    const victims = processes.filter((_, index) => owned[index])
    if (victims.length === 0) return
    for (const pid of victims) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
  }
}

/** The real user; the owner of the folder says nothing about a process that made itself undumpable. */
async function liveUserOf(pid: string) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  if (/^State:\s+Z/m.test(status)) return undefined
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
}

/** Files jobs leave in the places everybody may write to would be readable by the slot's next job. */
export async function sweepSharedFolders(user: JobUser | undefined, shell: string) {
  if (user === undefined) return
  await runAs(user, shell, `find /tmp /var/tmp /dev/shm -xdev -user ${user.uid} -delete`)
}

async function runAs(user: JobUser, shell: string, script: string) {
  const child = spawn(shell, ['-c', script], {
    ...user,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: 'ignore',
  })
  await once(child, 'exit')
}
