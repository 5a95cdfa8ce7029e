import type { CodeOwnersFile, OwnedPattern, OwnerSection } from './parse.ts'

export interface OwnedPath {
  readonly section: OwnerSection
  readonly pattern: OwnedPattern
}

/** Who owns a file: of each section the last pattern that matches, unless the section excludes the file. */
export function patternsFor({ sections }: CodeOwnersFile, path: string): OwnedPath[] {
  return sections.flatMap((section) => {
    const matching = section.patterns.filter(({ pattern }) => matchesPattern(pattern, path))
    const last = matching.at(-1)
    if (last === undefined || matching.some(({ excludes }) => excludes)) return []
    return [{ section, pattern: last }]
  })
}

/**
 * Whether a pattern is for a file. With a slash before it, it counts from the root, else from any folder; with one
 * behind it, it is for all below that folder. `**` is any number of folders, `*` and `?` stay within one name.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  if (pattern === '' || pattern === '/') return false
  const rooted = pattern.startsWith('/')
  const parts = (rooted ? pattern.slice(1) : pattern).split('/')
  if (parts.at(-1) === '') parts.splice(-1, 1, '**', '*')
  return matchesParts(rooted ? parts : ['**', ...parts], path.split('/'))
}

/** Walks both lists once for each `**`, never deeper: what is still open is a set of places in the pattern. */
function matchesParts(parts: readonly string[], names: readonly string[]): boolean {
  const isDeep = (at: number): boolean => parts[at] === '**' && at < parts.length - 1
  const passing = (places: Set<number>): Set<number> => {
    for (const at of places) if (isDeep(at)) places.add(at + 1)
    return places
  }
  let places = passing(new Set([0]))
  for (const name of names) {
    const next = new Set<number>()
    for (const at of places) {
      if (at >= parts.length) continue
      if (isDeep(at)) next.add(at)
      else if (matchesName(parts[at]!, name)) next.add(at + 1)
    }
    places = passing(next)
    if (places.size === 0) return false
  }
  return places.has(parts.length)
}

type Token = '*' | ((char: string) => boolean)

function matchesName(glob: string, name: string): boolean {
  const tokens = tokensOf(glob)
  const chars = Array.from(name)
  let at = 0
  let read = 0
  let star = -1
  let mark = 0
  while (read < chars.length) {
    const token = tokens[at]
    if (token === '*') {
      star = at
      at += 1
      mark = read
    } else if (token?.(chars[read]!) === true) {
      at += 1
      read += 1
    } else if (star >= 0) {
      // Only the last star has to give way: what stood before it matched already.
      at = star + 1
      mark += 1
      read = mark
    } else {
      return false
    }
  }
  while (tokens[at] === '*') at += 1
  return at === tokens.length
}

function tokensOf(glob: string): Token[] {
  const tokens: Token[] = []
  const chars = Array.from(glob)
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at]!
    if (char === '*') tokens.push('*')
    else if (char === '?') tokens.push(() => true)
    else if (char === '\\' && at + 1 < chars.length) tokens.push(exactly(chars[(at += 1)]!))
    else if (char === '[') {
      const end = chars.indexOf(']', at + (/[\^!]/.test(chars[at + 1] ?? '') ? 3 : 2))
      if (end < 0) tokens.push(exactly(char))
      else {
        tokens.push(among(chars.slice(at + 1, end)))
        at = end
      }
    } else tokens.push(exactly(char))
  }
  return tokens
}

function exactly(char: string): Token {
  return (other) => other === char
}

/** `a-z_`, or all but that after `^` or `!`. */
function among(members: readonly string[]): Token {
  const negated = /[\^!]/.test(members[0] ?? '')
  const rest = negated ? members.slice(1) : members
  return (char) => {
    let found = false
    for (let at = 0; at < rest.length; at += 1) {
      const isRange = rest[at + 1] === '-' && at + 2 < rest.length
      found ||= isRange ? char >= rest[at]! && char <= rest[at + 2]! : char === rest[at]
      if (isRange) at += 2
    }
    return found !== negated
  }
}
