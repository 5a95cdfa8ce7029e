import type { Position, RangeEndOf } from '../notes/index.ts'
import type { DiscussionRecord, NoteRecord } from './format.ts'
import { longestTitle, reader, RecordFault, type Raw } from './record-reader.ts'

const { objectOf, listOf, text, textOrNull, oneOf, whole, wholeOrNull, time, timeOrNull, oid, oidOrNull } =
  reader

const longestBody = 1024 * 1024
const longestPath = 4096
const lineCode = /^[0-9a-f]{40}_\d{1,10}_\d{1,10}$/

/** Whether a commit is one that threads may stand at; undefined: none is, since there is no diff. */
export type KnownCommit = ((oid: string) => boolean) | undefined

function checkNote(value: unknown): NoteRecord {
  const raw = objectOf(value)
  const system = raw['system'] === true
  return {
    author: textOrNull(raw, 'author', longestTitle),
    body: text(raw, 'body', longestBody),
    system,
    action: system ? text(raw, 'action', 50) : null,
    created_at: time(raw, 'created_at'),
    updated_at: time(raw, 'updated_at'),
    resolved_at: timeOrNull(raw, 'resolved_at'),
    resolved_by: textOrNull(raw, 'resolved_by', longestTitle),
  }
}

/** `known`: for places in a diff; those at other commits are left out, and what was said is said of the whole. */
export function checkDiscussion(value: unknown, known: KnownCommit): DiscussionRecord {
  const raw = objectOf(value)
  const notes = listOf(raw['notes'], 'notes', checkNote)
  if (notes.length === 0) throw new RecordFault('a discussion has no notes')
  const individual = raw['individual'] === true && notes.length === 1
  const position = known && positionOrNull(raw['position'], known)
  const original = known && positionOrNull(raw['original_position'], known)
  const commit = known && oidOrNull(raw, 'commit_id')
  const stands = position != null && original != null
  const code = textOrNull(raw, 'line_code', 100)
  return {
    individual,
    internal: raw['internal'] === true,
    needs_code: raw['needs_code'] === true,
    position: stands ? position : null,
    original_position: stands ? original : null,
    change_position: stands ? positionOrNull(raw['change_position'], known!) : null,
    line_code: stands && code !== null && lineCode.test(code) ? code : null,
    commit_id: commit != null && known!(commit) ? commit : null,
    notes,
  }
}

function positionOrNull(value: unknown, known: (oid: string) => boolean): Position | null {
  if (value === undefined || value === null) return null
  const raw = objectOf(value)
  const places = {
    base_sha: oid(raw, 'base_sha'),
    start_sha: oid(raw, 'start_sha'),
    head_sha: oid(raw, 'head_sha'),
    old_path: text(raw, 'old_path', longestPath),
    new_path: text(raw, 'new_path', longestPath),
  }
  if (![places.base_sha, places.start_sha, places.head_sha].every(known)) return null
  if (oneOf(raw, 'position_type', ['text', 'image']) === 'image') {
    return {
      ...places,
      position_type: 'image',
      width: wholeOrNull(raw, 'width', 0),
      height: wholeOrNull(raw, 'height', 0),
      x: placeIn(raw, 'x'),
      y: placeIn(raw, 'y'),
    }
  }
  const range = raw['line_range']
  return {
    ...places,
    position_type: 'text',
    ...linesOf(raw),
    line_range:
      range === undefined || range === null
        ? null
        : { start: endOf(objectOf(range)['start']), end: endOf(objectOf(range)['end']) },
  }
}

function linesOf(raw: Raw): { old_line: number | null; new_line: number | null } {
  const lines = { old_line: wholeOrNull(raw, 'old_line', 1), new_line: wholeOrNull(raw, 'new_line', 1) }
  if (lines.old_line === null && lines.new_line === null) throw new RecordFault('a position has no line')
  return lines
}

function endOf(value: unknown): RangeEndOf {
  const raw = objectOf(value)
  const code = text(raw, 'line_code', 100)
  if (!lineCode.test(code)) throw new RecordFault('line_code is none')
  const type = raw['type'] === null ? null : oneOf(raw, 'type', ['new', 'old'])
  return {
    line_code: code,
    type,
    old_line: wholeOrNull(raw, 'old_line', 0),
    new_line: wholeOrNull(raw, 'new_line', 0),
  }
}

function placeIn(raw: Raw, name: string): number | null {
  const value = raw[name]
  if (value === undefined || value === null) return null
  return typeof value === 'number' && value >= 0 ? value : whole(raw, name, 0)
}
