import { compilePattern } from '../text/regex.ts'

const longestLine = 100_000

/**
 * The coverage that a job printed: the last line with a match of its `coverage` pattern, the last match therein, the
 * first number of that. Null when there is none or the pattern is wrong. Colours and other control sequences of a
 * terminal do not get in the way.
 */
export function extractCoverage(trace: string, coverage: string): number | null {
  const pattern = compilePattern(coverage)
  if (pattern === null) return null
  let end = trace.length
  while (end >= 0) {
    const start = trace.lastIndexOf('\n', end - 1) + 1
    const line = plain(trace.slice(start, Math.min(end, start + longestLine)))
    const number = /\d+(?:\.\d+)?/.exec(pattern.last(line) ?? '')
    if (number !== null) return Number(number[0])
    end = start - 1
  }
  return null
}

function plain(line: string): string {
  // eslint-disable-next-line no-control-regex -- these are the sequences to be removed
  return line.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/\r$/, '')
}
