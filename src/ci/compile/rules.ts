import { ConfigError } from '../config/config-error.ts'
import type { Changes, Exists, Rule } from '../entries/rules.ts'
import { holds } from '../expression/evaluate.ts'
import { pipelineText } from '../messages.ts'
import type { CompileContext } from '../types.ts'
import type { PathMatching } from './paths.ts'
import type { VariableScope } from './scope.ts'

/** The facts that rules look at. */
export type RuleFacts = Pick<
  CompileContext,
  'changedPaths' | 'changedPathsSince' | 'treePaths' | 'otherTrees'
>

/** What rules are judged by. */
export interface Grounds<Facts extends RuleFacts = RuleFacts> {
  context: Facts
  paths: PathMatching
}

/** Puts the reason why a clause cannot be judged into the words of its place. */
export type Refusal = (reason: string) => string

/**
 * The first rule that matches, with its position; null when none does. Throws a ConfigError when a clause names a ref
 * or project that is not there.
 */
export function firstMatching(
  rules: readonly Rule[],
  refusal: Refusal,
  scope: VariableScope,
  grounds: Grounds,
): { rule: Rule; index: number } | null {
  const index = rules.findIndex((rule) => matches(rule, refusal, scope, grounds))
  return index === -1 ? null : { rule: rules[index]!, index }
}

function matches(rule: Rule, refusal: Refusal, scope: VariableScope, grounds: Grounds): boolean {
  if (rule.if !== null && !holds(rule.if, scope)) return false
  if (rule.changes !== null && !changed(rule.changes, refusal, scope, grounds)) return false
  return rule.exists === null || exists(rule.exists, refusal, scope, grounds)
}

function changed(
  { paths, compareTo }: Changes,
  refusal: Refusal,
  scope: VariableScope,
  grounds: Grounds,
): boolean {
  const { context } = grounds
  let changedPaths: readonly string[] | null = context.changedPaths
  if (compareTo !== null) {
    const known = ownValue(context.changedPathsSince, scope.expand(compareTo))
    if (known === undefined) throw new ConfigError(refusal(pipelineText.compareTo))
    changedPaths = known
  }
  // Nothing to compare with: everything counts as changed.
  return changedPaths === null || grounds.paths.any(scope.expandAll(paths), changedPaths)
}

function exists(
  { paths, project, ref }: Exists,
  refusal: Refusal,
  scope: VariableScope,
  grounds: Grounds,
): boolean {
  let tree: readonly string[] = grounds.context.treePaths
  if (project !== null) {
    const [otherProject, otherRef] = [scope.expand(project), ref === null ? null : scope.expand(ref)]
    const known = ownValue(grounds.context.otherTrees, otherTreeKey(otherProject, otherRef))
    if (known === undefined) throw new ConfigError(refusal(pipelineText.existsProject(otherProject)))
    tree = known
  }
  return grounds.paths.exists(scope.expandAll(paths), tree)
}

/** The key in `context.otherTrees` of a project at a ref (null: its default branch); both expanded. */
export function otherTreeKey(project: string, ref: string | null): string {
  return ref === null ? project : `${project}@${ref}`
}

function ownValue<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
