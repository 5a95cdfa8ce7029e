import type { Actor, ProjectSubject } from '../../access/index.ts'
import { compilePattern } from '../../ci/index.ts'
import { faults, passes, type Action, type Levels } from './rules.ts'

const longestPattern = 100
export const maximumTagRules = 5

/** A rule for tags: without levels nobody may push over or delete them. */
export interface TagRuleFacts extends Levels {
  readonly tag_name_pattern: string
}

/** Refuses what is no rule for tags (completions, 6.5), all faults at once. */
export function checkTagRule({ tag_name_pattern: pattern, ...levels }: TagRuleFacts, paid: boolean): void {
  const found: string[] = []
  if (pattern.trim() === '') found.push("Tag name pattern can't be blank")
  if (pattern.length > longestPattern) {
    found.push(`Tag name pattern is too long (maximum is ${longestPattern} characters)`)
  }
  if (compilePattern(pattern) === null) found.push('Tag name pattern not valid RE2 syntax')
  const given = [levels.minimum_push, levels.minimum_delete].filter((level) => level !== null).length
  if (given === 1 || (given === 0 && !paid)) {
    found.push('Access levels should either both be present or both be nil')
  }
  if (found.length > 0) throw faults(found)
}

export function tagPatternTaken(): Error {
  return faults(['Tag name pattern has already been taken'])
}

export function tooManyTagRules(): Error {
  return faults([`Maximum number of protection rules have been reached.`])
}

/** The patterns of tags that the caller may not push over or delete. */
export function deniedPatterns(
  rules: readonly TagRuleFacts[],
  action: Action,
  /** Undefined: somebody who has no role anywhere. */
  who: { readonly actor: Actor; readonly project: ProjectSubject } | undefined,
): string[] {
  return rules
    .filter((rule) => !isImmutable(rule) && !(who && passes([rule], action, who.actor, who.project)))
    .map((rule) => rule.tag_name_pattern)
}

/** The patterns of tags that get their manifest once, whoever pushes, and that nobody deletes. */
export function immutablePatterns(rules: readonly TagRuleFacts[]): string[] {
  return rules.filter(isImmutable).map((rule) => rule.tag_name_pattern)
}

function isImmutable({ minimum_push, minimum_delete }: Levels): boolean {
  return minimum_push === null && minimum_delete === null
}

export function isDenied(patterns: readonly string[], tag: string): boolean {
  return patterns.some((pattern) => compilePattern(pattern)?.test(tag) ?? true)
}
