import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'

/** Who is to pass, as the system knows him. */
interface Passer {
  readonly uid: number
  readonly gid: number
}

/** Where root may make folders for other users, the best first: there nothing goes because it is old. */
const shelves = ['/var/cache', '/var/tmp', '/tmp']

/**
 * Where another user of this machine can go: this folder of ours, or, where the way to it is closed to him (the home of
 * root is, and what mktemp makes), one elsewhere, always the same. Throws when there is none.
 */
export async function passablePlace(folder: string, passer: Passer, places = shelves): Promise<string> {
  if ((await findClosedFolder(folder, passer)) === undefined) return folder
  let refusal: unknown
  for (const shelf of places) {
    try {
      const place = path.join(shelf, standInFor(folder))
      await makeOwnFolder(place)
      if ((await findClosedFolder(place, passer)) === undefined) return place
    } catch (error) {
      refusal ??= error
    }
  }
  throw new Error(
    `user ${passer.uid} may not enter ${folder}, and there is no other place for what he needs`,
    {
      cause: refusal,
    },
  )
}

/** The name, always the same, of what stands elsewhere for a folder. */
export function standInFor(folder: string): string {
  return `guildhall-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
}

/** Others pass through it, but only we write; whatever else has its name is not used. */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o711 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
  const found = await lstat(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${folder} belongs to somebody else (user ${found.uid}): remove it`)
  }
  await chmod(folder, 0o711)
}

/** The first folder on the way to `target`, itself among them, that a user may not enter, by its mode bits. */
export async function findClosedFolder(target: string, { uid, gid }: Passer): Promise<string | undefined> {
  const folders = [target]
  for (let at = target; path.dirname(at) !== at; at = path.dirname(at)) folders.unshift(path.dirname(at))
  for (const folder of folders) {
    const found = await stat(folder).catch(() => undefined)
    if (found === undefined) return undefined
    const needed = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001
    if ((found.mode & needed) === 0) return folder
  }
  return undefined
}
