import { constants, createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, open, rm, symlink, utimes } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fromFdPromise, type Entry, type ZipFile } from 'yauzl'
import { isInside } from './archive-files.ts'

const typeBits = 0o170000
const linkType = 0o120000
const longestLink = 4096

/**
 * Puts the files of a zip into the project, over what is there. Links are made as they are, wherever they lead, but
 * nothing is written through one that leads out: names are checked, what lies in the way is replaced, and the links of
 * the zip itself come last.
 */
export async function unpack(project: string, descriptor: number): Promise<number> {
  const zip = await fromFdPromise(descriptor, { autoClose: false })
  const links: { name: string; target: string }[] = []
  const folders: Entry[] = []
  const checked = new Set<string>()
  let count = 0
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName.replace(/\/+$/, '')
    if (name === '' || name.split('/').includes('..')) continue
    await makeParent(project, path.posix.dirname(name), checked)
    if (entry.fileName.endsWith('/')) {
      await makeParent(project, name, checked)
      folders.push(entry)
    } else if (((modeOf(entry) ?? 0) & typeBits) === linkType) {
      links.push({ name, target: await linkTarget(zip, entry) })
    } else {
      await writeFile(project, name, zip, entry)
    }
    count++
  }
  // After what lies in them, as a folder may be read-only, and before there are links in the place of folders.
  for (const entry of folders.reverse()) {
    const mode = modeOf(entry)
    if (mode !== undefined) await chmod(path.join(project, entry.fileName), (mode & 0o777) | 0o700)
  }
  for (const { name, target } of links) {
    // Looked at anew: the way may lead through the link before.
    await makeParent(project, path.posix.dirname(name), new Set())
    await replace(path.join(project, name))
    await symlink(target, path.join(project, name))
  }
  return count
}

/** The mode, when the archive was made where there are modes. */
function modeOf(entry: Entry) {
  const mode = entry.externalFileAttributes >>> 16
  return mode === 0 ? undefined : mode
}

async function makeParent(project: string, folder: string, checked: Set<string>) {
  if (checked.has(folder)) return
  if (folder === '.') await mkdir(project, { recursive: true })
  else await makeParent(project, path.posix.dirname(folder), checked)
  const full = path.join(project, folder)
  const stats = await lstat(full).catch(() => undefined)
  if (stats === undefined) await mkdir(full)
  else if (!stats.isDirectory() && !stats.isSymbolicLink()) {
    await rm(full)
    await mkdir(full)
  } else if (!(await isInside(project, folder))) {
    throw new Error(`${folder} leads out of the project directory`)
  }
  checked.add(folder)
}

async function writeFile(project: string, name: string, zip: ZipFile, entry: Entry) {
  const full = path.join(project, name)
  await replace(full)
  const mode = (modeOf(entry) ?? 0o644) & 0o777
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const handle = await open(full, flags, mode)
  await handle.chmod(mode)
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream('', { fd: handle }))
  const modified = entry.getLastModDate()
  await utimes(full, modified, modified).catch(() => undefined)
}

async function linkTarget(zip: ZipFile, entry: Entry) {
  if (entry.uncompressedSize > longestLink) throw new Error(`${entry.fileName}: not a link`)
  const parts: Buffer[] = []
  for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

async function replace(full: string) {
  await rm(full, { recursive: true, force: true })
}
