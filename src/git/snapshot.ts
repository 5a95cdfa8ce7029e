import { open, readdir, readFile, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'
import type { Workplace } from './run.ts'

/**
 * The files of a repository as they lie on disk, as a tar: its refs and its objects, those that it borrows included,
 * but neither its configuration nor what is only coming in. What a repack takes away meanwhile it has put into a new
 * pack before, which is looked for at the end.
 */
export function snapshotOf({ path: place }: Pick<Workplace, 'path'>): Readable {
  const tar = pack()
  const output = new PassThrough()
  // What goes wrong ends the output with it; who stops reading ends the filling.
  pipeline(tar, output).catch(() => undefined)
  fill(tar, place).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error as Error),
  )
  return output
}

async function fill(tar: Pack, place: string): Promise<void> {
  for (const name of ['HEAD', 'packed-refs']) await add(tar, path.join(place, name), name)
  for (const name of await filesBelow(path.join(place, 'refs'))) {
    await add(tar, path.join(place, 'refs', name), `refs/${name}`)
  }
  const added = new Set<string>()
  for (const folder of await objectFolders(path.join(place, 'objects'))) {
    // Packs come last: what was loose before is in one of them then.
    while (await addObjects(tar, folder, added));
  }
}

/** Its own, and those it borrows from. */
async function objectFolders(objects: string): Promise<string[]> {
  const text = await readFile(path.join(objects, 'info', 'alternates'), 'utf8').catch(() => '')
  const borrowed = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => path.resolve(objects, line))
  return [objects, ...borrowed]
}

/** Adds what has not been added yet; tells whether something had gone when its turn came. */
async function addObjects(tar: Pack, folder: string, added: Set<string>): Promise<boolean> {
  const loose = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{2}$/.test(name))
  let gone = false
  for (const part of [...loose, 'pack']) {
    for (const name of await filesBelow(path.join(folder, part))) {
      const inside = `${part}/${name}`
      if (added.has(inside) || /(?:^|\/)tmp_/.test(inside)) continue
      added.add(inside)
      if (!(await add(tar, path.join(folder, inside), `objects/${inside}`))) gone = true
    }
  }
  return gone
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort()
}

/** Held open, so that it is read whole though another file takes its place. Tells whether it is there. */
async function add(tar: Pack, file: string, name: string): Promise<boolean> {
  let handle: FileHandle
  try {
    handle = await open(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  await using held = handle
  const { size, mtime } = await held.stat()
  const header = { name, size, mtime, mode: 0o644 }
  if (size === 0) tar.entry(header, '')
  else {
    await pipeline(held.createReadStream({ start: 0, end: size - 1, autoClose: false }), tar.entry(header))
  }
  return true
}
