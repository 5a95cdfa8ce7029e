import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { run, type Workplace } from './run.ts'

/**
 * Puts the packs of many pushes together, so that reading stays fast: packs of like size become one, and the large ones
 * are left alone. Takes nothing away that could be read before.
 */
export async function optimise(place: Workplace, signal?: AbortSignal): Promise<void> {
  await run(place, 'repack', { flags: ['--geometric=2', '-d', '-l', '-q'], signal })
}

/**
 * Bytes of all objects, with those that are not let in yet; 0 where there is no repository. What it borrows of another
 * is not counted.
 */
export async function storedSize({
  path: place,
  quarantine,
}: Pick<Workplace, 'path' | 'quarantine'>): Promise<number> {
  const objects = path.join(place, 'objects')
  const names = (await readdir(objects).catch(() => [])).filter(
    (name) => name === 'pack' || /^[0-9a-f]{2}$/.test(name),
  )
  const folders = names.map((name) => path.join(objects, name))
  const sizes = await Promise.all([...folders, ...(quarantine === undefined ? [] : [quarantine])].map(sizeOf))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A repack may take folders and files away meanwhile. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  })
  let size = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    size += await stat(path.join(entry.parentPath, entry.name)).then(
      (found) => found.size,
      () => 0,
    )
  }
  return size
}
