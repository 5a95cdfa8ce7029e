import {
  findCommit,
  GitError,
  parseFilePath,
  type FileAction,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import { badRequest, type ApiError } from '../../../kernel/errors/index.ts'
import { Diff } from '../positions/diff.ts'
import { sideOf, type TextPosition } from '../positions/position.ts'
import { follow } from '../positions/trace.ts'
import { between, linesOf } from './lines.ts'

export interface Replacement {
  readonly above: number
  readonly below: number
  readonly from_content: string
  readonly to_content: string
  readonly position: TextPosition
}

/** Where something is to be written in a commit. */
interface Placed {
  readonly path: string
  readonly first: number
  readonly last: number
  readonly from: string
  readonly to: string
}

const changed = (): ApiError => badRequest('The lines of a suggestion were changed since it was made')
const overlapping = (): ApiError => badRequest('Suggestions for the same lines cannot be applied together')

/** What to do with the files of a commit so that all replacements are made. Refused where the lines are not as they were. */
export async function rewrite(
  repository: Repository,
  head: Oid,
  replacements: readonly Replacement[],
): Promise<FileAction[]> {
  const files = new Map<string, Placed[]>()
  for (const replacement of replacements) {
    const placed = await placeOf(repository, head, replacement)
    files.set(placed.path, [...(files.get(placed.path) ?? []), placed])
  }
  return Promise.all(
    [...files].map(async ([path, placed]): Promise<FileAction> => {
      const lines = await linesOf(repository, head, path)
      const parsed = parseFilePath(path)
      if (lines === undefined || parsed === undefined) throw changed()
      return { action: 'update', path: parsed, content: Buffer.from(replaced(lines, placed)) }
    }),
  )
}

/** The branch may have gone on since the position was followed. */
async function placeOf(
  repository: Repository,
  head: Oid,
  { position, above, below, from_content: from, to_content: to }: Replacement,
): Promise<Placed> {
  const at = sideOf(position.head_sha)
  if (at === undefined || position.new_line === null) throw changed()
  if (at === head) return placed(position.new_path, position.new_line)
  if ((await findCommit(repository, at)) === undefined) throw changed()
  const now = await follow(new Diff(repository, at, head), position.new_path).catch((error: unknown) => {
    if (error instanceof GitError) return undefined
    throw error
  })
  const line = now?.lines.newOf(position.new_line)
  if (now === undefined || line === undefined) throw changed()
  return placed(now.path, line)

  function placed(path: string, line: number): Placed {
    return { path, first: line - above, last: line + below, from, to }
  }
}

function replaced(lines: readonly string[], all: readonly Placed[]): string {
  const made: string[] = []
  let next = 1
  for (const { first, last, from, to } of all.toSorted((a, b) => a.first - b.first)) {
    if (first < next) throw next === 1 ? changed() : overlapping()
    if (between(lines, first, last) !== from) throw changed()
    made.push(between(lines, next, first - 1), asTheFile(from, to))
    next = last + 1
  }
  made.push(between(lines, next, lines.length))
  return made.join('')
}

/** With the line ends of what it takes the place of, and no end after a last line that has none. */
function asTheFile(from: string, to: string): string {
  const text = from.includes('\r\n') ? to.replaceAll('\n', '\r\n') : to
  return from.endsWith('\n') ? text : text.replace(/\r?\n$/, '')
}
