/** A line of a diff. Both numbers are running counters: of an added line `old` is that of the next old line. */
export interface DiffLine {
  readonly type: 'added' | 'removed' | 'unchanged'
  readonly old: number
  readonly new: number
}

interface Hunk {
  readonly lines: readonly DiffLine[]
  /** The first lines after it. */
  readonly oldEnd: number
  readonly newEnd: number
}

/** How the lines of one version of a file became those of another, from a unified diff. */
export class FileLines {
  readonly #hunks: readonly Hunk[]

  constructor(patch: string) {
    this.#hunks = parse(patch)
  }

  /** Lines that the diff shows. */
  get shown(): readonly DiffLine[] {
    return this.#hunks.flatMap(({ lines }) => lines)
  }

  /** The line that a position names, one that the diff shows: by its new number, its old one, or both. */
  shownAt(old: number | null, now: number | null): DiffLine | undefined {
    const type = old === null ? 'added' : now === null ? 'removed' : 'unchanged'
    return this.shown.find(
      (line) =>
        line.type === type && (old === null || line.old === old) && (now === null || line.new === now),
    )
  }

  /** The same for an unchanged line between the hunks; where the file ends nobody knows here. */
  at(old: number | null, now: number | null): DiffLine | undefined {
    const shown = this.shownAt(old, now)
    if (shown !== undefined || old === null || now === null || old < 1) return shown
    return this.newOf(old) === now ? { type: 'unchanged', old, new: now } : undefined
  }

  /** Where an old line is now; undefined: it went. */
  newOf(old: number): number | undefined {
    let shift = 0
    for (const { lines, oldEnd, newEnd } of this.#hunks) {
      if (old < lines[0]!.old) break
      if (old < oldEnd) return lines.find((line) => line.type === 'unchanged' && line.old === old)?.new
      shift = newEnd - oldEnd
    }
    return old + shift
  }

  /** What a line was before; undefined: it came. */
  oldOf(now: number): number | undefined {
    let shift = 0
    for (const { lines, oldEnd, newEnd } of this.#hunks) {
      if (now < lines[0]!.new) break
      if (now < newEnd) return lines.find((line) => line.type === 'unchanged' && line.new === now)?.old
      shift = oldEnd - newEnd
    }
    return now + shift
  }
}

const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

function parse(patch: string): Hunk[] {
  const hunks: Hunk[] = []
  let lines: DiffLine[] | undefined
  let old = 0
  let now = 0
  const finish = (): void => {
    if (lines !== undefined && lines.length > 0) hunks.push({ lines, oldEnd: old, newEnd: now })
  }
  for (const text of patch.split('\n')) {
    const begins = header.exec(text)
    if (begins !== null) {
      finish()
      // Of a side that has no lines at all it stays 0, as clients know it.
      old = Number(begins[1])
      now = Number(begins[2])
      lines = []
      continue
    }
    const sign = text.charAt(0)
    if (sign === ' ') lines?.push({ type: 'unchanged', old: old++, new: now++ })
    else if (sign === '-') lines?.push({ type: 'removed', old: old++, new: now })
    else if (sign === '+') lines?.push({ type: 'added', old, new: now++ })
  }
  finish()
  return hunks
}
