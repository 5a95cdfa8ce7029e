import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Repository } from './repository.ts'

/** Bytes of the objects of a repository; 0 where there is none. */
export async function diskSize(repository: Repository): Promise<number> {
  const objects = path.join(repository.path, 'objects')
  let size = 0
  for (const entry of await readdir(objects, { withFileTypes: true, recursive: true }).catch(() => [])) {
    if (!entry.isFile()) continue
    // Repacked meanwhile, perhaps.
    size += await stat(path.join(entry.parentPath, entry.name)).then(
      (found) => found.size,
      () => 0,
    )
  }
  return size
}
