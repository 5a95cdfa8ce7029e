import type { ChangedPath, Oid, Repository } from '../../../git/index.ts'
import { Diff } from './diff.ts'
import { FileLines, type DiffLine } from './lines.ts'
import {
  lineCode,
  sideOf,
  type DiffRefs,
  type Position,
  type RangeEndOf,
  type TextPosition,
} from './position.ts'

/** What became of a position when the diff it stands in was replaced by another one. */
export type Traced =
  | { readonly outdated: false; readonly position: Position; readonly lineCode: string | undefined }
  /** `change`: where it was changed or removed, where that can be told. */
  | { readonly outdated: true; readonly change: Position | null }

/** A path in one commit, and how its lines came to be those of another. */
interface Followed {
  readonly path: string
  readonly lines: FileLines
}

const unchanged = new FileLines('')

/** Follows positions of one diff (from `before.base_sha` to `before.head_sha`) into a newer one. */
export class Tracer {
  readonly #after: DiffRefs
  /** How each side became the new one, and the new diff. */
  readonly #heads: Diff
  readonly #bases: Diff
  readonly #diff: Diff

  constructor(repository: Repository, before: DiffRefs, after: DiffRefs) {
    const side = (sha: string): Oid => sideOf(sha)!
    this.#after = after
    this.#heads = new Diff(repository, side(before.head_sha), side(after.head_sha))
    this.#bases = new Diff(repository, side(before.base_sha), side(after.base_sha))
    this.#diff = new Diff(repository, side(after.base_sha), side(after.head_sha))
  }

  async trace(position: Position): Promise<Traced> {
    if (position.position_type === 'image') return this.#image(position)
    const { old_line: old, new_line: now } = position
    if (now !== null) return this.#fromHead(position, old, now)
    return this.#fromBase(position, old!)
  }

  /** Added or unchanged before: the line is looked for at the new head. */
  async #fromHead(position: TextPosition, old: number | null, now: number): Promise<Traced> {
    const head = await follow(this.#heads, position.new_path)
    const there = head?.lines.newOf(now)
    if (head === undefined || there === undefined) {
      return this.#lost(position, old === null ? { ...position, ...this.#after } : null)
    }
    const file = await this.#diff.byNewPath(head.path)
    const lines = file && (await this.#diff.lines(file))
    if (file === undefined || lines === undefined) return this.#lost(position, null)
    const added = lines.shownAt(null, there)
    if (added !== undefined) return this.#moved(position, file, added, null, there)
    const before = lines.oldOf(there)
    const kept = before === undefined ? undefined : lines.shownAt(before, there)
    if (before === undefined || kept === undefined) {
      const place = { ...position, ...this.#places(file), old_line: before ?? null, new_line: there }
      return this.#lost(position, old === null ? place : null)
    }
    return this.#moved(position, file, kept, before, there)
  }

  /** Removed before: the line is looked for at the new base. */
  async #fromBase(position: TextPosition, old: number): Promise<Traced> {
    const base = await follow(this.#bases, position.old_path)
    const there = base?.lines.newOf(old)
    if (base === undefined || there === undefined) return this.#lost(position, null)
    const file = await this.#diff.byOldPath(base.path)
    const lines = file && (await this.#diff.lines(file))
    const removed = lines?.shownAt(there, null)
    if (file === undefined || removed === undefined) {
      const now = lines?.newOf(there) ?? there
      return this.#lost(position, {
        ...position,
        ...this.#after,
        old_line: there,
        new_line: now,
        line_range: null,
      })
    }
    return this.#moved(position, file, removed, there, null)
  }

  /** Shown as it was as long as the picture is the same. */
  async #image(position: Extract<Position, { position_type: 'image' }>): Promise<Traced> {
    const changed = await this.#heads.byOldPath(position.new_path)
    const path = changed?.path ?? position.new_path
    const file = await this.#diff.byNewPath(path)
    const same = changed === undefined || (changed.status === 'renamed' && changed.oldOid === changed.newOid)
    if (!same || file === undefined) return { outdated: true, change: { ...position, ...this.#after } }
    return { outdated: false, position: { ...position, ...this.#places(file) }, lineCode: undefined }
  }

  #places({ oldPath, path }: ChangedPath): DiffRefs & { old_path: string; new_path: string } {
    return { ...this.#after, old_path: oldPath, new_path: path }
  }

  #lost(_: TextPosition, change: TextPosition | null): Traced {
    return { outdated: true, change: change === null ? null : { ...change, line_range: null } }
  }

  #moved(
    position: TextPosition,
    file: ChangedPath,
    line: DiffLine,
    old: number | null,
    now: number | null,
  ): Traced {
    const path = file.status === 'deleted' ? file.oldPath : file.path
    const code = lineCode(path, line)
    const moved: TextPosition = {
      ...position,
      ...this.#places(file),
      old_line: old,
      new_line: now,
      line_range: rangeEndingAt(position, path, line, old, now),
    }
    return { outdated: false, position: moved, lineCode: code }
  }
}

/** The range goes with its last line, as long as before. */
function rangeEndingAt(
  { line_range: range }: TextPosition,
  path: string,
  line: DiffLine,
  old: number | null,
  now: number | null,
): TextPosition['line_range'] {
  if (range === null) return null
  const numbers = ({ line_code: code }: RangeEndOf): [number, number] => {
    const [, before = '0', after = '0'] = code.split('_')
    return [Number(before), Number(after)]
  }
  const [first, last] = [numbers(range.start), numbers(range.end)]
  const start = {
    old: Math.max(0, line.old - (last[0] - first[0])),
    new: Math.max(0, line.new - (last[1] - first[1])),
  }
  const endType = old === null ? 'new' : 'old'
  const isNew = range.start.type === 'new'
  return {
    start: {
      line_code: lineCode(path, start),
      type: range.start.type,
      old_line: isNew ? null : start.old,
      new_line: range.start.new_line === null ? null : start.new,
    },
    end: { line_code: lineCode(path, line), type: endType, old_line: old, new_line: now },
  }
}

/** Where the file went from one commit to the other, renames followed. Undefined: it is gone. */
export async function follow(diff: Diff, path: string): Promise<Followed | undefined> {
  const file = await diff.byOldPath(path)
  if (file === undefined) return { path, lines: unchanged }
  if (file.status === 'deleted') return undefined
  const lines = await diff.lines(file)
  return lines === undefined ? undefined : { path: file.path, lines }
}
