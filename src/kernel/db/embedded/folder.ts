import { existsSync } from 'node:fs'
import { access, chmod, constants, lchown, lstat, mkdir, open, realpath, stat } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { makeFolders } from '../../lib/make-folders.ts'
import { passablePlace, standInFor } from '../../lib/passable-place.ts'
import { isRoot, type Account } from './account.ts'
import { EmbeddedPostgresError, errorCode, explainFileError } from './error.ts'

export const port = 5432

/** Where everything of one embedded server lies. All paths are real ones, without symbolic links. */
export interface Folder {
  root: string
  /** PostgreSQL's own data directory; it exists only when initdb has finished. */
  data: string
  password: string
  lock: string
  /** Where the server's user can go: `root`, or another folder, where the way to that one is closed to him. */
  open: string
  /** Copies of the binaries, one folder a version; seldom needed. */
  binaries: string
}

/** Creates the folder where it is missing and makes sure that we may work in it. */
export async function openFolder(directory: string): Promise<Folder> {
  const wanted = resolve(directory)
  try {
    // As root the server is somebody else, who must be able to pass through whatever the umask says.
    for (const made of await makeFolders(wanted)) await chmod(made, isRoot() ? 0o711 : 0o700)
    const root = await realpath(wanted)
    await access(root, constants.R_OK | constants.W_OK | constants.X_OK)
    return {
      root,
      data: join(root, 'data'),
      password: join(root, 'password'),
      lock: join(root, 'lock'),
      open: root,
      binaries: join(root, 'binaries'),
    }
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw explainFileError(error, wanted)
    throw new EmbeddedPostgresError(
      `The embedded database cannot write to ${wanted}: permission denied; ` +
        `give it to the user Guildhall runs as (chown -R ${userName()} ${wanted}).`,
      { cause: error },
    )
  }
}

/** Not every user has a name: a container may run as any number. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/**
 * The folder for this user of the server, who must be able to pass through it to its data; nobody needs to list it. What
 * he has to reach by a path lies elsewhere where he may not come here.
 */
export async function admit(folder: Folder, account: Account | undefined): Promise<Folder> {
  if (account === undefined) return folder
  const { mode, uid } = await stat(folder.root)
  if (uid !== account.uid && (mode & 0o011) !== 0o011) await chmod(folder.root, (mode & 0o7777) | 0o011)
  if (!existsSync(whereItStands)) return folder
  // Without one a refusal of the system's follows, which is explained.
  const open = await passablePlace(folder.root, account).catch(() => folder.root)
  if (open === folder.root) return folder
  return { ...folder, open, binaries: join(open, 'binaries') }
}

/** Leads a process to the folder it was started in, whatever is above that. */
const whereItStands = '/proc/self/cwd'

/** Where to start a program of the server, and what to call its data: it may stand where it could not go. */
export function wayToData(folder: Folder, data = folder.data): { cwd: string; data: string } {
  return folder.open === folder.root ? { cwd: '/', data } : { cwd: data, data: whereItStands }
}

/** Whose our own files are: the folder's owner's, so that an ordinary user finds them usable after a run as root. */
export async function giveToOwner(folder: Folder, path: string): Promise<void> {
  if (!isRoot()) return
  const { uid, gid } = await stat(folder.root)
  await lchown(path, uid, gid)
}

/** A rename survives a power cut only when its folder has been synced. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The kernel's limit for the path of a Unix socket: 108 bytes on Linux, 104 on macOS, one of them for the end. */
const socketPathLimit = process.platform === 'darwin' ? 103 : 107

function socketFits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= socketPathLimit
}

/**
 * The folder of the server's socket, mode 0700 and the server's: beside the data or where he can go, or, where that path is too long
 * for a socket, a short one whose name follows from the data's, so that it is the same at every start.
 */
export async function prepareSocketFolder(
  folder: Folder,
  account: Account | undefined,
  temporaries = [tmpdir(), '/tmp'],
): Promise<string> {
  const name = standInFor(folder.root)
  const path = [join(folder.open, 'socket'), ...temporaries.map((at) => join(at, name))].find(socketFits)
  if (path === undefined) {
    throw new EmbeddedPostgresError(
      `The path ${folder.root} is too long for a Unix socket, and so is TMPDIR: choose a shorter DATA_DIR.`,
    )
  }
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
  // Anybody may have put something of this name into the common temporary folder before us.
  const found = await lstat(path)
  const mine = process.getuid?.() ?? found.uid
  const server = account?.uid ?? mine
  if (!found.isDirectory() || (found.uid !== server && found.uid !== mine)) {
    throw new EmbeddedPostgresError(
      `${path}, needed for the database's socket, belongs to somebody else (user ${found.uid}): remove it.`,
    )
  }
  if (account !== undefined) await lchown(path, account.uid, account.gid)
  await chmod(path, 0o700)
  return path
}
