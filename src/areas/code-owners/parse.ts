/** Whom a line names, as it is written; who that is depends on the project. */
export type OwnerName =
  /** `@name` or `@group/below`: which of the two is not to be seen. */
  | { readonly kind: 'account'; readonly path: string }
  | { readonly kind: 'email'; readonly address: string }
  /** `@@developer`: direct members with exactly this role. */
  | { readonly kind: 'role'; readonly role: 'developer' | 'maintainer' | 'owner' }

export interface OwnedPattern {
  /** From 1. */
  readonly line: number
  /** As it is written, without escapes. */
  readonly pattern: string
  /** `!pattern`: nobody owns what matches, whatever else the section says. */
  readonly excludes: boolean
  /** Those of the line, else those of its section's heading. */
  readonly owners: readonly OwnerName[]
}

export interface OwnerSection {
  /** As first written; of the lines before any heading null. */
  readonly name: string | null
  /** Merge requests need no approval of its owners. */
  readonly optional: boolean
  /** At least 1. */
  readonly approvals: number
  readonly patterns: readonly OwnedPattern[]
}

export type ProblemCode =
  | 'invalid_section_format'
  | 'missing_section_name'
  | 'invalid_approval_requirement'
  | 'invalid_section_owner_format'
  | 'missing_entry_owner'
  | 'invalid_entry_owner_format'

/** What is wrong with a line. Reading goes on: the rest of the file counts. */
export interface Problem {
  readonly code: ProblemCode
  /** From 1. */
  readonly line: number
  readonly source: string
}

export interface CodeOwnersFile {
  readonly sections: readonly OwnerSection[]
  readonly problems: readonly Problem[]
}

interface OpenSection {
  readonly name: string | null
  optional: boolean
  approvals: number
  readonly patterns: OwnedPattern[]
}

const heading = /^(\^)?\[([^\]]*)\](?:\[([^\]]*)\])?(.*)$/

/** Reads a file of code owners. Whatever it holds there is an answer; see `problems`. */
export function parseCodeOwners(text: string): CodeOwnersFile {
  const sections = new Map<string | null, OpenSection>()
  const problems: Problem[] = []
  let section = open(sections, null)
  let defaults: readonly OwnerName[] = []
  for (const [index, written] of text.split(/\r\n|\r|\n/).entries()) {
    const source = written.trim()
    const at = { line: index + 1, source }
    if (source === '' || source.startsWith('#')) continue
    if (/^\^?\[/.test(source)) {
      const found = heading.exec(source)
      if (found !== null && found[2]!.trim() !== '') {
        section = open(sections, found[2]!.trim(), found[1] === undefined)
        section.approvals = Math.max(section.approvals, approvalsOf(found[3], at, problems))
        const { names, malformed } = ownersIn(found[4]!)
        if (malformed) problems.push({ ...at, code: 'invalid_section_owner_format' })
        defaults = names
        continue
      }
      // A heading that cannot be read is a pattern like any other, of the section before it.
      problems.push({ ...at, code: found === null ? 'invalid_section_format' : 'missing_section_name' })
    }
    section.patterns.push(patternIn(at, defaults, problems))
  }
  return { sections: [...sections.values()].filter(({ patterns }) => patterns.length > 0), problems }
}

/** The section of this name in any letter case. One that was optional is required as soon as one heading says so. */
function open(sections: Map<string | null, OpenSection>, name: string | null, required = true): OpenSection {
  const key = name?.toLowerCase() ?? null
  const known = sections.get(key)
  if (known !== undefined) {
    known.optional &&= !required
    return known
  }
  const made: OpenSection = { name, optional: !required, approvals: 1, patterns: [] }
  sections.set(key, made)
  return made
}

type Place = Pick<Problem, 'line' | 'source'>

function approvalsOf(text: string | undefined, at: Place, problems: Problem[]): number {
  if (text === undefined) return 1
  if (/^[1-9]\d{0,3}$/.test(text.trim())) return Number(text)
  problems.push({ ...at, code: 'invalid_approval_requirement' })
  return 1
}

function patternIn(at: Place, defaults: readonly OwnerName[], problems: Problem[]): OwnedPattern {
  const excludes = at.source.startsWith('!')
  const text = excludes ? at.source.slice(1).trimStart() : at.source
  // Up to the first blank that no backslash stands before.
  const written = /^(?:\\.|[^\\\s]|\\$)*/s.exec(text)![0]
  const pattern = written.replaceAll(/\\([\s#])/g, '$1')
  const { names, malformed } = ownersIn(text.slice(written.length))
  if (malformed) problems.push({ ...at, code: 'invalid_entry_owner_format' })
  const owners = names.length > 0 ? names : defaults
  if (!excludes && owners.length === 0) problems.push({ ...at, code: 'missing_entry_owner' })
  return { line: at.line, pattern, excludes, owners: excludes ? [] : owners }
}

const role = /^@@(developer|maintainer|owner)s?$/i
const account = /^@([\w.-]+(?:\/[\w.-]+)*)$/
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** What stands after a pattern or a heading. Owners in a comment count as well. */
function ownersIn(text: string): { names: OwnerName[]; malformed: boolean } {
  const names: OwnerName[] = []
  let malformed = false
  let comment = false
  for (const word of text.split(/\s+/).filter(Boolean)) {
    comment ||= word.startsWith('#')
    const name = ownerOf(word)
    if (name !== undefined) names.push(name)
    else malformed ||= !comment
  }
  return { names, malformed }
}

function ownerOf(word: string): OwnerName | undefined {
  const named = role.exec(word)?.[1]?.toLowerCase()
  if (named !== undefined) return { kind: 'role', role: named as 'developer' }
  const path = account.exec(word)?.[1]
  if (path !== undefined) return { kind: 'account', path }
  return email.test(word) ? { kind: 'email', address: word } : undefined
}
