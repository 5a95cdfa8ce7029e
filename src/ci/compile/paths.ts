import { compileGlob } from '../text/glob.ts'
import type { PathMatch } from './explanation.ts'

/** Beyond this a clause is taken to be true, as the time for looking would be without bound. */
const mostComparisons = 50_000
const mostComparisonsOverall = 2_000_000

/** Too much to look through: it is taken to be there. */
const assumed: PathMatch = { pattern: null, path: null }

/** Path patterns against lists of paths; each question is answered once. */
export class PathMatching {
  readonly #globs = new Map<string, ((path: string) => boolean) | null>()
  readonly #answers = new Map<readonly string[], Map<string, PathMatch | null>>()
  readonly #sets = new Map<readonly string[], Set<string>>()
  #left = mostComparisonsOverall

  /** A path that matches any pattern. */
  any(patterns: readonly string[], paths: readonly string[]): PathMatch | null {
    return this.#once('glob', patterns, paths, () => this.#compare(patterns, paths))
  }

  /** The same for files of a tree, where a pattern with a slash at the end means the folder. */
  exists(patterns: readonly string[], paths: readonly string[]): PathMatch | null {
    return this.#once('exists', patterns, paths, () => {
      const isGlob = (pattern: string) => /[*?[{\\]/.test(pattern)
      const [globs, exact] = [patterns.filter(isGlob), patterns.filter((pattern) => !isGlob(pattern))]
      for (const pattern of exact) {
        const path = pattern.endsWith('/')
          ? paths.find((one) => one.startsWith(pattern))
          : this.#set(paths).has(pattern)
            ? pattern
            : undefined
        if (path !== undefined) return { pattern, path }
      }
      return this.#compare(globs, paths)
    })
  }

  #compare(patterns: readonly string[], paths: readonly string[]): PathMatch | null {
    const comparisons = patterns.length * paths.length
    this.#left -= comparisons
    if (comparisons > mostComparisons || this.#left < 0) return assumed
    for (const pattern of patterns) {
      const matches = this.#glob(pattern)
      const path = matches === null ? undefined : paths.find(matches)
      if (path !== undefined) return { pattern, path }
    }
    return null
  }

  #glob(pattern: string) {
    const known = this.#globs.get(pattern)
    if (known !== undefined) return known
    const compiled = compileGlob(pattern)
    this.#globs.set(pattern, compiled)
    return compiled
  }

  #set(paths: readonly string[]): Set<string> {
    const known = this.#sets.get(paths) ?? new Set(paths)
    this.#sets.set(paths, known)
    return known
  }

  #once(
    kind: string,
    patterns: readonly string[],
    paths: readonly string[],
    answer: () => PathMatch | null,
  ): PathMatch | null {
    const answers = this.#answers.get(paths) ?? new Map<string, PathMatch | null>()
    this.#answers.set(paths, answers)
    const question = JSON.stringify([kind, ...patterns])
    const known = answers.get(question)
    if (known !== undefined) return known
    const found = answer()
    answers.set(question, found)
    return found
  }
}
