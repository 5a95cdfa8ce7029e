import { compileGlob } from '../text/glob.ts'

/** Beyond this a clause is taken to be true, as the time for looking would be without bound. */
const mostComparisons = 50_000
const mostComparisonsOverall = 2_000_000

/** Path patterns against lists of paths; each question is answered once. */
export class PathMatching {
  readonly #globs = new Map<string, ((path: string) => boolean) | null>()
  readonly #answers = new Map<readonly string[], Map<string, boolean>>()
  readonly #sets = new Map<readonly string[], Set<string>>()
  #left = mostComparisonsOverall

  /** Whether any path matches any pattern. */
  any(patterns: readonly string[], paths: readonly string[]): boolean {
    return this.#once('glob', patterns, paths, () => this.#compare(patterns, paths))
  }

  /** The same for files of a tree, where a pattern with a slash at the end means the folder. */
  exists(patterns: readonly string[], paths: readonly string[]): boolean {
    return this.#once('exists', patterns, paths, () => {
      const isGlob = (pattern: string) => /[*?[{\\]/.test(pattern)
      const [globs, exact] = [patterns.filter(isGlob), patterns.filter((pattern) => !isGlob(pattern))]
      const there = exact.some((pattern) =>
        pattern.endsWith('/')
          ? paths.some((path) => path.startsWith(pattern))
          : this.#set(paths).has(pattern),
      )
      return there || this.#compare(globs, paths)
    })
  }

  #compare(patterns: readonly string[], paths: readonly string[]): boolean {
    const comparisons = patterns.length * paths.length
    this.#left -= comparisons
    if (comparisons > mostComparisons || this.#left < 0) return true
    return patterns.some((pattern) => {
      const matches = this.#glob(pattern)
      return matches !== null && paths.some(matches)
    })
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

  #once(kind: string, patterns: readonly string[], paths: readonly string[], answer: () => boolean): boolean {
    const answers = this.#answers.get(paths) ?? new Map<string, boolean>()
    this.#answers.set(paths, answers)
    const question = JSON.stringify([kind, ...patterns])
    const known = answers.get(question) ?? answer()
    answers.set(question, known)
    return known
  }
}
