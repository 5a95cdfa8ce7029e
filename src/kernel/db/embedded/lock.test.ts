// @module-tag long
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFolder } from './folder.ts'
import { acquireLock } from './lock.ts'
import { query, startOwner, startServerHere, temporaryFolder } from './testing/world.ts'

test('a folder in use by another process is refused, and that one goes on', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const owner = await startOwner({ directory })
  expect(owner.error).toBeUndefined()
  await expect(startServerHere(directory)).rejects.toThrow(
    `Another Guildhall (process ${owner.process.pid}) is using ${directory}: stop it first`,
  )
  expect(await query(owner.connection!, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a second server of the same process is refused, until the first has stopped', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const first = await startServerHere(directory)
  for (const _ of [1, 2]) await expect(startServerHere(directory)).rejects.toThrow(`process ${process.pid}`)
  expect(await query(first.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  // The refusals have not loosened the first one's lock either, which others would notice.
  expect((await startOwner({ directory })).error).toContain('Another Guildhall')
  await first.stop()
  await startServerHere(directory)
})

test('of many who come at once one gets the folder', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const owners = await Promise.all(Array.from({ length: 5 }, () => startOwner({ directory })))
  expect(owners.filter((owner) => owner.pid !== undefined)).toHaveLength(1)
  for (const { error } of owners.filter((owner) => owner.pid === undefined))
    expect(error).toContain('Another Guildhall')
})

test('the lock of a killed process is free at once', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const owner = await startOwner({ directory })
  await owner.kill()
  const folder = await openFolder(directory)
  expect(await readFile(`${folder.lock}-holder`, 'utf8')).toBe(String(owner.process.pid))
  const lock = await acquireLock(folder)
  await lock.release()
  await lock.release()
})

test('a start that fails leaves the folder free', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await expect(startServerHere(directory, { settings: { port: '1' } })).rejects.toThrow('cannot be changed')
  await startServerHere(directory)
})
