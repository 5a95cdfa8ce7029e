import { compilePattern, type Match } from '../text/regex.ts'

const longestLine = 100_000

/**
 * The coverage that a job printed: the last line with a match of its `coverage` pattern, the last match therein, the
 * first number of that (of its group, if it has one). Null when there is none or the pattern is wrong. Colours and other control sequences of a
 * terminal do not get in the way.
 */
export function extractCoverage(trace: string, coverage: string): number | null {
  const pattern = compilePattern(coverage)
  if (pattern === null) return null
  let end = trace.length
  while (end >= 0) {
    const start = trace.lastIndexOf('\n', end - 1) + 1
    const line = plain(trace.slice(start, Math.min(end, start + longestLine)))
    const match = pattern.last(line)
    const number = match && numberIn(match)
    if (number !== null) return number
    end = start - 1
  }
  return null
}

/** The first number that lies in the group, or partly: `\d+(\.\d+)?%` means all of `84.5`. */
function numberIn({ text, from, to }: Match): number | null {
  for (const { 0: digits, index } of text.matchAll(/\d+(?:\.\d+)?/g)) {
    if (index < to && index + digits.length > from) return Number(digits)
  }
  return null
}

function plain(line: string): string {
  // eslint-disable-next-line no-control-regex -- these are the sequences to be removed
  return line.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/\r$/, '')
}
