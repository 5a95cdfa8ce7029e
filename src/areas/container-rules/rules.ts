import { mayPassLevel, Role, type Actor, type ProjectSubject } from '../../access/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import { matchesWildcard } from '../../kernel/lib/wildcard.ts'

export const levelWords = ['maintainer', 'owner', 'admin'] as const
export type LevelWord = (typeof levelWords)[number]
export type Level = 40 | 50 | 60

const levels: Readonly<Record<LevelWord, Level>> = {
  maintainer: Role.maintainer,
  owner: Role.owner,
  admin: Role.administrator,
}

export function levelOf(word: LevelWord | '' | null): Level | null {
  return word === null || word === '' ? null : levels[word]
}

export function levelWord(level: Level | null): LevelWord | null {
  return levelWords.find((word) => levels[word] === level) ?? null
}

export type Action = 'push' | 'delete'

/** What a rule asks for; null: nothing. */
export interface Levels {
  readonly minimum_push: Level | null
  readonly minimum_delete: Level | null
}

/** The level a rule has for an action. */
function levelFor(rule: Levels, action: Action): Level | null {
  return action === 'push' ? rule.minimum_push : rule.minimum_delete
}

/** Of several rules the strictest counts, unlike with branches; undefined where none asks for anything. */
export function strictest<R extends Levels>(rules: readonly R[], action: Action): R | undefined {
  return rules
    .filter((rule) => levelFor(rule, action) !== null)
    .toSorted((a, b) => levelFor(b, action)! - levelFor(a, action)!)[0]
}

/** Whether the caller passes all of the rules, which are those that match. */
export function passes(
  rules: readonly Levels[],
  action: Action,
  actor: Actor,
  project: ProjectSubject,
): boolean {
  const rule = strictest(rules, action)
  return rule === undefined || mayPassLevel(actor, project, levelFor(rule, action)!)
}

/** The rules that match the path of an image, whose letter case does not count. */
export function matching<R extends { readonly repository_path_pattern: string }>(
  rules: readonly R[],
  path: string,
): R[] {
  return rules.filter((rule) => matchesWildcard(rule.repository_path_pattern, path.toLowerCase()))
}

const longestPattern = 255
const part = '[a-z0-9*]'
/** Words and the separators between them, where a star may stand for anything after the first character. */
const shape = new RegExp(`^(?=[a-z0-9])${part}+(?:(?:\\.|_|__|-+|/)${part}+)*$`)

/**
 * Refuses a pattern that is none (completions, 6.1), all faults at once. Answers what follows the project's path, which
 * is what is kept.
 */
export function checkPattern(pattern: string, project: Pick<ProjectSubject, 'fullPath'>): string {
  const label = 'Repository path pattern'
  if (pattern.trim() === '') throw faults([`${label} can't be blank`])
  const found: string[] = []
  if (pattern.length > longestPattern)
    found.push(`${label} is too long (maximum is ${longestPattern} characters)`)
  if (!shape.test(pattern)) {
    found.push(`${label} should be a valid container repository path with optional wildcard characters.`)
  }
  if (!pattern.toLowerCase().startsWith(project.fullPath.toLowerCase())) {
    found.push(`${label} should start with the project's full path`)
  }
  if (found.length > 0) throw faults(found)
  return pattern.slice(project.fullPath.length)
}

/** A rule that protects nothing is none. */
export function checkLevels({ minimum_push, minimum_delete }: Levels): void {
  if (minimum_push === null && minimum_delete === null) {
    throw faults(['A rule requires at least the Maintainer role for either push or delete.'])
  }
}

export function faults(texts: string[]): Error {
  return unprocessable({ error: texts })
}

export function patternTaken(): Error {
  return faults(['Repository path pattern has already been taken'])
}
