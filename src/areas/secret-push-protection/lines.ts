/** A line of a file as it is after a change. */
export interface Line {
  readonly number: number
  readonly text: string
}

/** Longer lines are no text of people: what stands behind that is not looked at. */
const longest = 10_000

export function* linesOf(text: string): Generator<Line> {
  let number = 0
  for (const line of text.split('\n')) {
    number += 1
    yield { number, text: line.slice(0, longest) }
  }
}

/** The lines that a diff of one file, in the unified form from its first `@@` on, adds. */
export function* addedLines(diff: string): Generator<Line> {
  let next = 0
  for (const line of diff.split('\n')) {
    const start = /^@@ -\S+ \+(\d+)/.exec(line)?.[1]
    if (start !== undefined) {
      next = Number(start)
    } else if (line.startsWith('+')) {
      yield { number: next, text: line.slice(1, longest) }
      next += 1
    } else if (line.startsWith(' ')) {
      next += 1
    }
  }
}
