import { RE2JS } from 're2js'

/**
 * The only way from a user's regular expression to a match. RE2 takes time linear in the text, with the size of the
 * program as the factor, so that size is bounded as well.
 */
export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean
  /** The last match in the text and, within it, the first group (without one all of it); null without a match. */
  last(text: string): Match | null
}

export interface Match {
  text: string
  /** Where the group lies in the text of the match. */
  from: number
  to: number
}

const longestPattern = 4_096
const largestProgram = 5_000

/** Flags are `i`, `s`, `m` and `U` (not greedy). Null when the text is no RE2 pattern, or too large a one. */
export function compilePattern(source: string, flags = ''): Pattern | null {
  if (source.length > longestPattern) return null
  const set = [...new Set(flags)].join('')
  try {
    const compiled = RE2JS.compile(set === '' ? source : `(?${set})${source}`)
    if (compiled.programSize() > largestProgram) return null
    return {
      test: (text) => compiled.test(text),
      last(text) {
        const matcher = compiled.matcher(text)
        let found: Match | null = null
        while (matcher.find()) {
          const [start, end] = [matcher.start(), matcher.end()]
          const grouped = matcher.groupCount() > 0 && matcher.start(1) >= 0
          const [from, to] = grouped ? [matcher.start(1), matcher.end(1)] : [start, end]
          found = { text: text.slice(start, end), from: from - start, to: to - start }
        }
        return found
      },
    }
  } catch {
    return null
  }
}

/** `/pattern/flags` in its parts; null when the text is not of that form. */
export function splitPattern(text: string): { source: string; flags: string } | null {
  const match = /^\/(.*)\/([ismU]*)$/s.exec(text)
  return match ? { source: match[1]!, flags: match[2]! } : null
}

/** Compiles each pattern once; lives as long as one compilation. */
export class Patterns {
  readonly #known = new Map<string, Pattern | null>()

  /** Null: not of the form `/pattern/flags`, or no RE2 pattern. */
  get(text: string): Pattern | null {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const parts = splitPattern(text)
    const pattern = parts && compilePattern(parts.source, parts.flags)
    this.#known.set(text, pattern)
    return pattern
  }
}
