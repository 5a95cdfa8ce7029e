// @module-tag long
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { zeroOid, type Oid } from './parse.ts'
import { reconcile } from './reconcile.ts'
import { recoverRepository } from './recover.ts'
import { git, openWorld, pushBody, tryGit, type World } from './testing.ts'

let world: World
let copy: string
beforeEach(async () => {
  world = await openWorld()
  copy = await world.clone('a')
  await world.commit(copy, 'one')
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
})
afterEach(async () => {
  await world[Symbol.asyncDispose]()
})

/** A server of its own that takes one push from its input, and stops for good at one step of the journal. */
function receiver(stopAt: 'prepare' | 'applied' | 'nowhere'): ChildProcess {
  const code = `
    import { openGit, receivePack, allowAll } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
    const stop = async (step) => {
      if (step !== ${JSON.stringify(stopAt)}) return
      process.stderr.write('stopped')
      await new Promise((resolve) => setTimeout(resolve, 1e8))
    }
    const journal = { prepare: () => stop('prepare'), applied: () => stop('applied'), abandoned: async () => {} }
    const git = await openGit({ durable: false })
    const repository = git.repository(${JSON.stringify(world.repository.path)})
    await receivePack(repository, process.stdin, process.stdout, { guard: allowAll, journal })
    await git[Symbol.asyncDispose]()
  `
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: 'pipe' })
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** A hundred commits, so that the push is stored as a pack. */
async function history(): Promise<{ old: Oid; new: Oid; body: Buffer }> {
  const old = (await git(copy, 'rev-parse', 'HEAD')) as Oid
  for (let i = 0; i < 40; i++) {
    await writeFile(join(copy, 'file'), `${i}\n`)
    await git(copy, 'add', '-A')
    await git(copy, 'commit', '--quiet', '-m', `${i}`)
  }
  const next = (await git(copy, 'rev-parse', 'HEAD')) as Oid
  return { old, new: next, body: await pushBody(copy, [{ old, new: next, ref: world.main }]) }
}

const serverMain = () => git(world.repository.path, 'rev-parse', 'main')
const leftovers = async () =>
  (await readdir(join(world.repository.path, 'objects'), { recursive: true })).filter((name) =>
    /tmp_objdir-[^/]*$|\.keep$/.test(name),
  )

test('killed while the pack comes in: nothing is there but a quarantine, which is removed when it is old', async () => {
  const { old, body } = await history()
  const child = receiver('nowhere')
  child.stdin!.write(body.subarray(0, body.length - 1000))
  await expect.poll(leftovers, { timeout: 30_000 }).toHaveLength(1)
  await kill(child)
  expect(await serverMain()).toBe(old)
  expect(await recoverRepository(world.repository)).toEqual([])
  const removed = await recoverRepository(world.repository, { uploadsOlderThan: -1 })
  expect(removed.map((name) => name.slice(0, -6))).toEqual(['objects/tmp_objdir-incoming-'])
  expect(await leftovers()).toEqual([])
  expect(await git(world.repository.path, 'fsck', '--strict')).toBe('')
})

test('killed before the ref moves: the update is found to be abandoned', async () => {
  const { old, new: next, body } = await history()
  const child = receiver('prepare')
  child.stdin!.end(body)
  await once(child.stderr!, 'data')
  await kill(child)
  expect(await serverMain()).toBe(old)
  expect(await reconcile(world.repository, [{ ref: world.main, oldOid: old, newOid: next }])).toEqual([
    'abandoned',
  ])
})

test('killed after the ref has moved: the update is found to be applied, and housekeeping may have the pack again', async () => {
  const { old, new: next, body } = await history()
  const child = receiver('applied')
  child.stdin!.end(body)
  await once(child.stderr!, 'data')
  await kill(child)
  expect(await serverMain()).toBe(next)
  expect(await reconcile(world.repository, [{ ref: world.main, oldOid: old, newOid: next }])).toEqual([
    'applied',
  ])
  expect(await leftovers()).toHaveLength(2)
  await recoverRepository(world.repository, { uploadsOlderThan: -1 })
  expect(await leftovers()).toEqual([])
  expect(await git(world.repository.path, 'fsck', '--strict')).toBe('')
})

test('a push that is whole, to compare', async () => {
  const { new: next, body } = await history()
  const child = receiver('nowhere')
  child.stdin!.end(body)
  expect(await text(child.stdout!)).toContain('unpack ok')
  expect(await serverMain()).toBe(next)
  expect(await leftovers()).toEqual([])
})

test('stale locks go, fresh ones stay', async () => {
  const lock = join(world.repository.path, 'refs/heads/main.lock')
  await writeFile(lock, '')
  await writeFile(join(world.repository.path, 'packed-refs.lock'), '')
  await world.commit(copy, 'two')
  const told = await tryGit(copy, ['push', 'origin', 'HEAD:main'])
  expect(told.stderr).toContain('failed to update ref')
  expect(await recoverRepository(world.repository)).toEqual([])
  expect(await recoverRepository(world.repository, { locksOlderThan: -1 })).toEqual([
    'packed-refs.lock',
    'refs/heads/main.lock',
  ])
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
})

test('what became of prepared updates', async () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((x) => x.repeat(40)) as [Oid, Oid, Oid, Oid]
  const now = (await serverMain()) as Oid
  const main = (oldOid: Oid, newOid: Oid) => ({ ref: world.main, oldOid, newOid })
  const gone = { ref: 'refs/heads/gone' as typeof world.main }
  const fates = (...updates: Parameters<typeof reconcile>[1]) => reconcile(world.repository, updates)
  expect(await fates(main(a, now))).toEqual(['applied'])
  expect(await fates(main(now, a))).toEqual(['abandoned'])
  expect(await fates(main(a, b))).toEqual(['unknown'])
  // a -> b, then two that wanted to go on from there, of which one came through.
  expect(await fates(main(a, b), main(b, c), main(b, now))).toEqual(['applied', 'abandoned', 'applied'])
  expect(await fates(main(a, b), main(a, now))).toEqual(['abandoned', 'applied'])
  expect(await fates({ ...gone, oldOid: a, newOid: zeroOid })).toEqual(['applied'])
  expect(await fates({ ...gone, oldOid: zeroOid, newOid: d }, main(zeroOid, now))).toEqual([
    'abandoned',
    'applied',
  ])
})
