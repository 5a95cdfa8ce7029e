import { createHash } from 'node:crypto'
import { isZero, parseOid, zeroOid, type Oid, type Repository } from '../../../git/index.ts'
import {
  Fields,
  Float,
  Int,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Static,
} from '../../../kernel/endpoint/index.ts'
import { noteFault } from '../rules.ts'
import { Diff, lineCountOf } from './diff.ts'
import type { DiffLine } from './lines.ts'

const RangeEnd = Fields({
  line_code: Text(),
  type: Nullable(OneOf(['new', 'old'], { description: 'Null of a line that is shown beyond the hunks' })),
  old_line: Optional(Nullable(Int())),
  new_line: Optional(Nullable(Int())),
})

/** Where in a diff a thread begins, as callers say it. */
export const PositionParams = Fields({
  base_sha: Text(),
  start_sha: Text(),
  head_sha: Text(),
  position_type: OneOf('text', 'image'),
  new_path: Optional(Text()),
  old_path: Optional(Text()),
  new_line: Optional(Nullable(Int())),
  old_line: Optional(Nullable(Int())),
  line_range: Optional(Nullable(Fields({ start: RangeEnd, end: RangeEnd }))),
  width: Optional(Nullable(Int())),
  height: Optional(Nullable(Int())),
  x: Optional(Nullable(Float())),
  y: Optional(Nullable(Float())),
})
export type SentPosition = Static<typeof PositionParams>

/** The three commits that a diff hangs on. */
export interface DiffRefs {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
}

interface Places extends DiffRefs {
  readonly old_path: string
  readonly new_path: string
}

export interface RangeEndOf {
  readonly line_code: string
  readonly type: 'new' | 'old' | null
  readonly old_line: number | null
  readonly new_line: number | null
}

export interface TextPosition extends Places {
  readonly position_type: 'text'
  readonly old_line: number | null
  readonly new_line: number | null
  readonly line_range: { readonly start: RangeEndOf; readonly end: RangeEndOf } | null
}

export interface ImagePosition extends Places {
  readonly position_type: 'image'
  readonly width: number | null
  readonly height: number | null
  readonly x: number | null
  readonly y: number | null
}

export type Position = TextPosition | ImagePosition

const blank = ["can't be blank", 'must be a valid line code']
const notInDiff = (): Error => noteFault({ line_code: blank })

/** `40 hex digits of the path _ old counter _ new counter`. */
export function lineCode(path: string, { old, new: now }: Pick<DiffLine, 'old' | 'new'>): string {
  return `${createHash('sha1').update(path).digest('hex')}_${old}_${now}`
}

/** Compares as the empty tree what has no parent. */
export function sideOf(sha: string | null): Oid | undefined {
  return sha === null || isZero(sha as Oid) ? zeroOid : parseOid(sha)
}

/** The position that was sent, made whole, with its line code. Refused where the diff has no such line. */
export async function checkPosition(
  repository: Repository,
  sent: SentPosition,
  { lineRange }: { readonly lineRange: boolean },
): Promise<{ position: Position; lineCode: string | undefined }> {
  const { new_path: newPath = sent.old_path, old_path: oldPath = sent.new_path } = sent
  const [base, head] = [sideOf(sent.base_sha), parseOid(sent.head_sha)]
  const old = sent.old_line ?? null
  const now = sent.new_line ?? null
  const text = sent.position_type === 'text'
  if (newPath === undefined || oldPath === undefined || (text && old === null && now === null))
    throw noteFault({ line_code: blank, position: ['is incomplete'] })
  if (base === undefined || head === undefined) throw notInDiff()
  const diff = new Diff(repository, base, head)
  const file = (await diff.byNewPath(newPath)) ?? (await diff.byOldPath(oldPath))
  if (file === undefined || (file.oldPath !== oldPath && file.path !== newPath)) throw notInDiff()
  const places: Places = {
    base_sha: sent.base_sha,
    start_sha: sent.start_sha,
    head_sha: sent.head_sha,
    old_path: file.oldPath,
    new_path: file.path,
  }
  if (!text) {
    const { width = null, height = null, x = null, y = null } = sent
    if (!within(x, width) || !within(y, height)) throw notInDiff()
    return { position: { ...places, position_type: 'image', width, height, x, y }, lineCode: undefined }
  }
  const lines = await diff.lines(file)
  const line = lines?.at(old, now)
  if (line === undefined) throw notInDiff()
  // Between and after the hunks lines are told by counting, and the file may be shorter.
  if (lines!.shownAt(old, now) === undefined && now! > (await lineCountOf(repository, head, file.path)))
    throw notInDiff()
  const code = lineCode(file.status === 'deleted' ? file.oldPath : file.path, line)
  const range = lineRange && sent.line_range ? rangeOf(sent.line_range, code) : null
  return {
    position: { ...places, position_type: 'text', old_line: old, new_line: now, line_range: range },
    lineCode: code,
  }
}

/** Whether the picture, so many pixels long, has this place; what is not said is in nobody's way. */
function within(place: number | null, length: number | null): boolean {
  return (length ?? 1) > 0 && (place ?? 0) >= 0 && (place ?? 0) <= (length ?? Infinity)
}

const codeForm = /^([0-9a-z]+)_(\d+)_(\d+)$/

/** Both ends in one file, the first not after the last, which is where the thread stands. */
function rangeOf(
  { start, end }: NonNullable<SentPosition['line_range']>,
  anchor: string,
): TextPosition['line_range'] {
  const [from, to] = [codeForm.exec(start.line_code), codeForm.exec(end.line_code)]
  if (from === null || to === null || end.line_code !== anchor || from[1] !== to[1]) throw notInDiff()
  if (Number(from[2]) > Number(to[2]) || Number(from[3]) > Number(to[3])) throw notInDiff()
  return { start: rangeEnd(start, from), end: rangeEnd(end, to) }
}

function rangeEnd(
  sent: NonNullable<SentPosition['line_range']>['start'],
  [, , old, now]: RegExpExecArray,
): RangeEndOf {
  const { type, line_code } = sent
  const [oldLine, newLine] = [sent.old_line ?? null, sent.new_line ?? null]
  // A line may be said by its counters alone; what is said besides is the same line.
  if ((oldLine ?? Number(old)) !== Number(old) || (newLine ?? Number(now)) !== Number(now)) throw notInDiff()
  return {
    line_code,
    type,
    old_line: oldLine ?? (type === 'new' ? null : Number(old)),
    new_line: newLine ?? (type === 'old' ? null : Number(now)),
  }
}
