import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { chmod, chown, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { once } from 'node:events'
import path from 'node:path'
import type { JobUser } from './job-user.ts'

/**
 * Where one job lives. The folder itself stays the runner's, so that the job cannot put a link in the place of a
 * folder the runner uses; `builds`, `home` and `temporary` belong to the job alone.
 */
export interface JobFolder {
  root: string
  builds: string
  /** `CI_PROJECT_DIR` */
  project: string
  /** Of file variables. */
  files: string
  home: string
  temporary: string
  userName: string
}

export function jobFolder(
  jobs: string,
  jobId: number,
  projectPath: string,
  user: JobUser | undefined,
): JobFolder {
  const root = path.join(jobs, String(jobId))
  const project = path.join(root, 'builds', ...safeParts(projectPath))
  return {
    root,
    builds: path.join(root, 'builds'),
    project,
    files: `${project}.tmp`,
    home: path.join(root, 'home'),
    temporary: path.join(root, 'tmp'),
    userName: user === undefined ? 'runner' : `job-${user.uid}`,
  }
}

/** With the place the job chose for its project; one outside of the builds folder is a RangeError. */
export function withClonePath(folder: JobFolder, clonePath: string | undefined): JobFolder {
  if (clonePath === undefined || clonePath === '') return folder
  const project = path.resolve(clonePath)
  if (project.startsWith(`${folder.builds}/`)) return { ...folder, project }
  throw new RangeError(`GIT_CLONE_PATH=${clonePath} has to be within ${folder.builds}`)
}

function safeParts(projectPath: string) {
  const parts = projectPath
    .split('/')
    .filter((part) => !['', '.', '..'].includes(part) && !part.includes('\0'))
  return parts.length === 0 ? ['project'] : parts
}

/** The runner's own part; the job can pass it, but not see what is in it. */
export async function createJobRoot(folder: JobFolder, user: JobUser | undefined) {
  const make = () => mkdir(folder.root, { mode: 0o700 })
  // Only where cleaning up after the same job failed before there is one.
  await make().catch(() => removeTree(folder.root).then(make))
  // Whatever the umask says.
  if (user !== undefined) await chmod(folder.root, 0o711)
}

/** No process of the job may run yet: the owner of the folders is changed by the runner. */
export async function createJobFolders(
  folder: JobFolder,
  user: JobUser | undefined,
  files: Iterable<FileContent>,
) {
  await Promise.all(
    [folder.builds, folder.home, folder.temporary].map((each) => makeOwned(path.dirname(each), each, user)),
  )
  await makeOwned(folder.builds, folder.project, user)
  await makeOwned(folder.builds, folder.files, user)
  for (const { path: file, content } of files) await writeOwned(file, content, user)
}

interface FileContent {
  path: string
  content: string
}

async function makeOwned(base: string, target: string, user: JobUser | undefined) {
  let current = base
  for (const part of path.relative(base, target).split(path.sep)) {
    current = path.join(current, part)
    try {
      await mkdir(current, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    if (user !== undefined) await chown(current, user.uid, user.gid)
  }
}

async function writeOwned(file: string, content: string, user: JobUser | undefined) {
  await using handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  await handle.writeFile(content)
  if (user !== undefined) await handle.chown(user.uid, user.gid)
}

/** Removes a tree whatever its modes and depth; links are not followed. No process of the job may run any more. */
export async function removeTree(tree: string) {
  await run('rm', ['-rf', '--', tree])
  if (!(await exists(tree))) return
  await run('chmod', ['-R', 'u+rwx', '--', tree])
  await run('rm', ['-rf', '--', tree])
  if (await exists(tree)) throw new Error(`cannot remove ${tree}`)
}

export async function removeLeftovers(jobs: string) {
  for (const name of await readdir(jobs)) await removeTree(path.join(jobs, name))
}

async function exists(file: string) {
  return lstat(file).then(
    () => true,
    () => false,
  )
}

async function run(file: string, args: string[]) {
  const child = spawn(file, args, { stdio: 'ignore' })
  await once(child, 'exit')
}
