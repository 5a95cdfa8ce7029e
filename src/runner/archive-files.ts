import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, lstat, readdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { globBase, globExpression, isGlob } from './glob.ts'

export interface FoundFile {
  /** Relative to the project, with slashes. */
  name: string
  kind: 'file' | 'folder' | 'link'
  mode: number
  modified: Date
}

export interface Selection {
  paths: string[]
  exclude: string[]
  untracked: boolean
}

/** The files a job chose, sorted; those that cannot be had are told through `warn`. */
export async function selectFiles(
  project: string,
  { paths, exclude, untracked }: Selection,
  tell: { line: (text: string) => void; warn: (text: string) => void },
): Promise<FoundFile[]> {
  const found = new Map<string, FoundFile>()
  const excluded = exclude.map((pattern) => globExpression(relativePattern(project, pattern) ?? pattern))
  let dropped = 0
  const add = (file: FoundFile) => {
    if (found.has(file.name)) return
    if (excluded.some((expression) => expression.test(file.name))) dropped++
    else found.set(file.name, file)
  }
  for (const pattern of paths) {
    const before = found.size
    const relative = relativePattern(project, pattern)
    if (relative === undefined) {
      tell.warn(`${pattern}: not inside the project directory (${project})`)
      continue
    }
    for await (const file of matches(project, relative, tell.warn)) add(file)
    const count = found.size - before
    if (count > 0) tell.line(`${pattern}: found ${count} matching files and directories`)
    else
      tell.warn(
        `${pattern}: no matching files. Ensure that the path is relative to the working directory (${project})`,
      )
  }
  if (untracked) await addUntracked(project, found, add, tell)
  if (dropped > 0) tell.line(`excluded ${dropped} files`)
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function addUntracked(
  project: string,
  found: Map<string, FoundFile>,
  add: (file: FoundFile) => void,
  tell: { line: (text: string) => void },
) {
  const before = found.size
  const options = { cwd: project, encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 } as const
  const { stdout } = await promisify(execFile)('git', ['ls-files', '--others', '-z'], options)
  for (const name of stdout.split('\0')) {
    const file = name === '' ? undefined : await fileAt(project, name)
    if (file !== undefined) add(file)
  }
  tell.line(`untracked: found ${found.size - before} files`)
}

/** Undefined when it leads out of the project. */
function relativePattern(project: string, pattern: string): string | undefined {
  const relative = path.posix.isAbsolute(pattern) ? path.posix.relative(project, pattern) : pattern
  const normal = path.posix.normalize(relative).replace(/\/+$/, '')
  return normal === '..' || normal.startsWith('../') || normal.includes('\0') ? undefined : normal
}

async function* matches(
  project: string,
  pattern: string,
  warn: (text: string) => void,
): AsyncGenerator<FoundFile> {
  const expression = isGlob(pattern) ? globExpression(pattern) : undefined
  const base = expression === undefined ? pattern : globBase(pattern)
  const whole = base === '' || base === '.'
  if (!whole && !(await isInside(project, path.posix.dirname(base)))) {
    warn(`${pattern}: leads out of the project directory through a link`)
    return
  }
  const start = whole ? undefined : await fileAt(project, base)
  if (!whole && start === undefined) return
  if (expression === undefined) {
    if (start !== undefined) yield start
    if (start === undefined || start.kind === 'folder') yield* below(project, start?.name ?? '')
    return
  }
  if (start !== undefined && start.kind !== 'folder') return
  // What lies in a matching folder belongs to it.
  let within: string | undefined
  for await (const file of below(project, start?.name ?? '')) {
    const inherited = within !== undefined && file.name.startsWith(`${within}/`)
    if (!inherited && !expression.test(file.name)) continue
    if (!inherited && file.kind === 'folder') within = file.name
    yield file
  }
}

/** Everything in a folder, depth first; links are not followed. */
async function* below(project: string, folder: string): AsyncGenerator<FoundFile> {
  const names = await readdir(path.join(project, folder)).catch(() => [])
  for (const name of names.sort()) {
    const file = await fileAt(project, folder === '' ? name : `${folder}/${name}`)
    if (file === undefined) continue
    yield file
    if (file.kind === 'folder') yield* below(project, file.name)
  }
}

/** Undefined when there is none, or it is nothing to keep: a socket, a device, a name that is not text. */
async function fileAt(project: string, name: string): Promise<FoundFile | undefined> {
  const full = path.join(project, name)
  const stats = await lstat(full).catch(() => undefined)
  if (stats === undefined) return undefined
  const common = { name, mode: stats.mode, modified: stats.mtime }
  if (stats.isSymbolicLink()) return { ...common, kind: 'link' }
  if (stats.isDirectory()) return { ...common, kind: 'folder' }
  if (!stats.isFile()) return undefined
  const readable = await access(full, constants.R_OK).then(
    () => true,
    () => false,
  )
  return readable ? { ...common, kind: 'file' } : undefined
}

/** Whether the folder, all links resolved, lies in the project. */
export async function isInside(project: string, folder: string) {
  const [outer, inner] = await Promise.all([
    realpath(project),
    realpath(path.join(project, folder)).catch(() => undefined),
  ])
  return inner === undefined || inner === outer || inner.startsWith(`${outer}/`)
}
