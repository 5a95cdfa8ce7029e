import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { errorCode } from './error.ts'
import { giveToOwner, syncFolder, type Folder } from './folder.ts'

/**
 * The npm registry carries no symbolic links, so the packages list theirs in `pg-symlinks.json`, for a script that runs
 * at their installation, if scripts run at all. Without them the server finds no libraries. This sets the missing ones;
 * false says that they are missing and cannot be set there.
 */
export async function repairSymlinks(packageFolder: string): Promise<boolean> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(packageFolder, target)
    // Followed: a link that leads nowhere is as bad as none.
    if (await stat(link).then(Boolean, () => false)) continue
    try {
      await rm(link, { force: true })
      await symlink(relative(dirname(target), source), link)
    } catch (error) {
      const code = errorCode(error)
      // Somebody else repairs the same installation at the same moment.
      if (code === 'EEXIST') continue
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
      throw error
    }
  }
  return true
}

/**
 * A copy of the package that everybody may read, beside the data: for an installation that the server's user cannot
 * enter, or where the links cannot be set. Made once for each version, whole or not at all; older ones go.
 */
export async function copyPackage(packageFolder: string, folder: Folder): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = join(folder.binaries, version)
  if (await stat(copy).then(Boolean, () => false)) return copy
  await mkdir(folder.binaries, { recursive: true })
  await chmod(folder.binaries, 0o755)
  await giveToOwner(folder, folder.binaries)
  for (const old of await readdir(folder.binaries)) {
    await rm(join(folder.binaries, old), { recursive: true, force: true })
  }
  const unfinished = await mkdtemp(join(folder.binaries, 'unfinished-'))
  try {
    for (const part of ['package.json', 'native']) {
      await cp(join(packageFolder, part), join(unfinished, part), { recursive: true, verbatimSymlinks: true })
    }
    // First, because the folders of a read-only installation are copied as such.
    await openToAll(unfinished)
    await repairSymlinks(unfinished)
    await rename(unfinished, copy)
    await syncFolder(folder.binaries)
    return copy
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}
