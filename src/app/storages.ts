import { mkdtemp, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { ConfigError } from '../kernel/config/index.ts'
import { makeFolders } from '../kernel/lib/make-folders.ts'

/** What keeps a folder from holding repositories, or undefined. Tried, because root is told that it may do anything. */
export async function storageFault(folder: string): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return 'is not a folder'
    await rmdir(await mkdtemp(path.join(folder, '.probe-')))
    return undefined
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR' || (code === 'ENOENT' && syscall === 'stat')) return 'does not exist'
    return `cannot be written (${code ?? String(error)})`
  }
}

/** Makes the folders that are missing, and refuses those that cannot be used, by the name of the storage. */
export async function prepareStorages(storages: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, folder] of Object.entries(storages)) {
    const fault = await makeFolders(folder).then(
      () => storageFault(folder),
      (error: unknown) => {
        const { code } = error as NodeJS.ErrnoException
        return code === 'EEXIST' ? 'is not a folder' : `cannot be made (${code ?? String(error)})`
      },
    )
    if (fault !== undefined)
      throw new ConfigError(`REPOSITORY_STORAGES: the folder of "${name}", ${folder}, ${fault}.`)
  }
}
