import { mkdir, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * Creates a folder and those above it, and says which were missing. Unlike mkdir's own `recursive` it names the true
 * reason of a failure, and does not try for ever where nothing can be created (as below /proc).
 */
export async function makeFolders(folder: string, mode = 0o777): Promise<string[]> {
  try {
    await mkdir(folder, mode)
    return [folder]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return []
    if (code !== 'ENOENT') throw error
    const above = await makeFolders(path.dirname(folder), mode)
    await mkdir(folder, mode)
    return [...above, folder]
  }
}
