import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolders } from './make-folders.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'guildhall-folders-'))
})
afterEach(() => rm(root, { recursive: true }))

test('makes what is missing and says so', async () => {
  const folder = path.join(root, 'a/b')
  expect(await makeFolders(folder)).toEqual([path.join(root, 'a'), folder])
  expect(await makeFolders(folder)).toEqual([])
  expect((await stat(folder)).isDirectory()).toBe(true)
})

test('fails with the reason where it cannot', async () => {
  await writeFile(path.join(root, 'file'), '')
  await expect(makeFolders(path.join(root, 'file/a'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test.runIf(process.platform === 'linux')('ends where nothing can be created', async () => {
  await expect(makeFolders('/proc/guildhall/a')).rejects.toMatchObject({ code: 'ENOENT' })
})
