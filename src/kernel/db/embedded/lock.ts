import { readFile, rm, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { EmbeddedPostgresError } from './error.ts'
import { giveToOwner, type Folder } from './folder.ts'

const busy = 5

/** Held by the one process that owns the folder's server. */
export class FolderLock {
  readonly #file: DatabaseSync
  readonly #holder: string

  constructor(file: DatabaseSync, holder: string) {
    this.#file = file
    this.#holder = holder
  }

  async release(): Promise<void> {
    if (!this.#file.isOpen) return
    await rm(this.#holder, { force: true })
    this.#file.close()
  }
}

/**
 * Takes the folder for this process; refused while another one, or another server of this process, has it.
 *
 * The lock is the kernel's (fcntl), reached through SQLite, which is part of Node and the only thing there that locks
 * files: it goes with its process however that dies, so it is never stale, never taken twice, does not care about
 * reused process ids, and also works between containers that share a volume. Nothing is stored in the file. Trap: the
 * kernel drops such a lock when the process closes any other handle to the same file, so the file is never opened
 * otherwise, and who holds it stands in a second file.
 */
export async function acquireLock(folder: Folder): Promise<FolderLock> {
  const holder = `${folder.lock}-holder`
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(folder.lock, { timeout: 0 })
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
    if (code === busy) {
      const pid = await readFile(holder, 'utf8').catch(() => '')
      throw new EmbeddedPostgresError(
        `Another Guildhall${pid === '' ? '' : ` (process ${pid})`} is using ${folder.root}: ` +
          'stop it first, or choose another DATA_DIR.',
      )
    }
    throw new EmbeddedPostgresError(
      `The embedded database cannot lock ${folder.lock} (${error instanceof Error ? error.message : String(error)}): ` +
        'make it writable for the user Guildhall runs as, on a file system with file locks.',
      { cause: error },
    )
  }
  const lock = new FolderLock(file, holder)
  try {
    await writeFile(holder, String(process.pid), { mode: 0o644 })
    for (const path of [folder.lock, holder]) await giveToOwner(folder, path)
    return lock
  } catch (error) {
    await lock.release()
    throw error
  }
}
