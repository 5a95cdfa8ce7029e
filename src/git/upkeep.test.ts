import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { storedSize } from './upkeep.ts'

test('folders that are taken away while they are measured count for nothing', async () => {
  const place = await mkdtemp(path.join(tmpdir(), 'guildhall-size-'))
  try {
    const objects = path.join(place, 'objects')
    await mkdir(path.join(objects, '0a'), { recursive: true })
    await writeFile(path.join(objects, '0a', 'f'.repeat(38)), 'seven b')
    // Named in the listing, and gone when it is opened.
    await symlink(path.join(place, 'nowhere'), path.join(objects, '8c'))
    expect(await storedSize({ path: place })).toBe(7)
    expect(await storedSize({ path: path.join(place, 'none') })).toBe(0)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
})
