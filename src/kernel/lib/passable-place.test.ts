import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { findClosedFolder, passablePlace } from './passable-place.ts'

const somebody = { uid: 4242, gid: 4242 }
let place: string

beforeEach(async () => {
  place = await mkdtemp(path.join(tmpdir(), 'guildhall-place-'))
  await chmod(place, 0o711)
  onTestFinished(() => rm(place, { recursive: true }))
})

async function folder(name: string, mode: number): Promise<string> {
  const made = path.join(place, name)
  await mkdir(made)
  await chmod(made, mode)
  return made
}

test('the first closed folder on a way is found, by the bits that count for who passes', async () => {
  const inside = path.join(await folder('a', 0o711), 'b')
  await mkdir(inside)
  expect(await findClosedFolder(inside, somebody)).toBeUndefined()
  await chmod(path.dirname(inside), 0o710)
  expect(await findClosedFolder(inside, somebody)).toBe(path.dirname(inside))
  const { uid, gid } = await lstat(inside)
  expect(await findClosedFolder(inside, { uid, gid: 4242 })).toBeUndefined()
  expect(await findClosedFolder(inside, { uid: 4242, gid })).toBeUndefined()
})

test('a folder that can be reached is itself the place', async () => {
  const open = await folder('open', 0o711)
  const shelf = await folder('shelf', 0o755)
  expect(await passablePlace(open, somebody, [shelf])).toBe(open)
  expect(await readdir(shelf)).toEqual([])
})

test('another one is elsewhere, always the same, and only ours to write', async () => {
  const closed = await folder('closed', 0o700)
  const [first, second] = [await folder('first', 0o755), await folder('second', 0o755)]
  const found = await passablePlace(closed, somebody, [path.join(place, 'missing'), first, second])
  expect(path.dirname(found)).toBe(first)
  expect((await lstat(found)).mode & 0o777).toBe(0o711)
  expect(await passablePlace(closed, somebody, [first, second])).toBe(found)
  expect(await passablePlace(await folder('other', 0o700), somebody, [first, second])).not.toBe(found)
})

test('what has its name and is not ours is passed over, and so is what is closed itself', async () => {
  const closed = await folder('closed', 0o700)
  const [first, second] = [await folder('first', 0o755), await folder('second', 0o755)]
  const found = await passablePlace(closed, somebody, [first])
  const name = path.basename(found)
  await rm(found, { recursive: true })
  await symlink('/etc', found)
  expect(await passablePlace(closed, somebody, [first, second])).toBe(path.join(second, name))
  await rm(found)
  await chmod(first, 0o700)
  expect(await passablePlace(closed, somebody, [first, second])).toBe(path.join(second, name))
  await expect(passablePlace(closed, somebody, [first])).rejects.toThrow(`may not enter ${closed}`)
})

test.runIf(process.getuid?.() === 0)('nor is a folder of somebody else’s', async () => {
  const closed = await folder('closed', 0o700)
  const shelf = await folder('shelf', 0o755)
  await chown(await passablePlace(closed, somebody, [shelf]), 1, 1)
  await expect(passablePlace(closed, somebody, [shelf])).rejects.toMatchObject({
    cause: expect.objectContaining({
      message: expect.stringContaining('somebody else (user 1)') as string,
    }) as Error,
  })
})
