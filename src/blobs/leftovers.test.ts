import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { Blobs } from './blobs.ts'

test('what uploads left that were cut off goes once it has lain long enough', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-blobs-'))
  try {
    const blobs = new Blobs(folder)
    expect(await blobs.removeLeftovers(0)).toBe(0)
    const incoming = path.join(folder, 'incoming')
    await mkdir(incoming)
    for (const name of ['old', 'new']) await writeFile(path.join(incoming, name), 'x')
    const before = new Date(Date.now() - 7200_000)
    await utimes(path.join(incoming, 'old'), before, before)
    expect(await blobs.removeLeftovers(3600_000)).toBe(1)
    expect(await readdir(incoming)).toEqual(['new'])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('what nothing needs goes once it has lain long enough, unless it is put again', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-blobs-'))
  try {
    const blobs = new Blobs(folder)
    const put = async (text: string): Promise<string> => (await blobs.put(Readable.from([text]))).digest
    const [needed, old, fresh, again] = [
      await put('needed'),
      await put('old'),
      await put('fresh'),
      await put('again'),
    ]
    const before = new Date(Date.now() - 7200_000)
    for (const digest of [needed, old, again]) await utimes(blobs.path(digest), before, before)
    await put('again')
    await blobs.removeUnneeded(3600_000, async (digests) => {
      expect(digests.toSorted()).toEqual([needed, old, fresh, again].toSorted())
      return new Set([needed])
    })
    expect(await Promise.all([needed, old, fresh, again].map((digest) => blobs.has(digest)))).toEqual([
      true,
      false,
      true,
      true,
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
