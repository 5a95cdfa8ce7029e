import { ConfigError } from '../config/config-error.ts'
import type { Changes, Exists, Rule } from '../entries/rules.ts'
import { holds } from '../expression/evaluate.ts'
import type { Expression } from '../expression/parser.ts'
import { printExpression, variablesIn } from '../expression/print.ts'
import { pipelineText } from '../messages.ts'
import type { CompileContext, ScopedVariable } from '../types.ts'
import { allHold, type ClauseTrace, type Judged, type RuleTrace, type TracedValue } from './explanation.ts'
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
 * The first rule that matches, with its position; null when none does. What was looked at is told to `traces`. Throws a
 * ConfigError when a clause names a ref or project that is not there.
 */
export function firstMatching(
  rules: readonly Rule[],
  refusal: Refusal,
  scope: VariableScope,
  grounds: Grounds,
  traces: RuleTrace[] | null = null,
): { rule: Rule; index: number } | null {
  const index = rules.findIndex((rule, at) => {
    const clauses: ClauseTrace[] | null = traces && []
    const matched = allHold(clausesOf(rule, refusal, scope, grounds), clauses)
    traces?.push({ index: at, when: rule.when, matched, clauses: clauses ?? [] })
    return matched
  })
  if (index === -1) return null
  for (const [after, { when }] of rules.slice(index + 1).entries()) {
    traces?.push({ index: index + 1 + after, when, matched: null, clauses: [] })
  }
  return { rule: rules[index]!, index }
}

function clausesOf(rule: Rule, refusal: Refusal, scope: VariableScope, grounds: Grounds): (() => Judged)[] {
  const clauses: (() => Judged)[] = []
  const { if: condition, changes, exists } = rule
  if (condition !== null) clauses.push(() => conditionHolds(condition, scope))
  if (changes !== null) clauses.push(() => changed(changes, refusal, scope, grounds))
  if (exists !== null) clauses.push(() => there(exists, refusal, scope, grounds))
  return clauses
}

function conditionHolds(condition: Expression, scope: VariableScope): Judged {
  const judged = { clause: 'if', holds: holds(condition, scope) } as const
  return { holds: judged.holds, tell: () => ({ ...judged, ...tellExpression(condition, scope) }) }
}

/** The expression, and what its variables are. */
export function tellExpression(
  expression: Expression,
  scope: VariableScope,
): { expression: string; values: TracedValue[] } {
  const values = variablesIn(expression).map((key) => {
    const variable: ScopedVariable | undefined = scope.find(key)
    const concealed = variable?.masked === true || variable?.concealed === true
    const value = concealed ? null : (variable?.value ?? null)
    return { key, value, defined: variable !== undefined, concealed }
  })
  return { expression: printExpression(expression), values }
}

function changed(
  { paths, compareTo }: Changes,
  refusal: Refusal,
  scope: VariableScope,
  grounds: Grounds,
): Judged {
  const { context } = grounds
  let changedPaths: readonly string[] | null = context.changedPaths
  if (compareTo !== null) {
    const known = ownValue(context.changedPathsSince, scope.expand(compareTo))
    if (known === undefined) throw new ConfigError(refusal(pipelineText.compareTo))
    changedPaths = known
  }
  return pathsChanged(paths, compareTo, changedPaths, scope, grounds)
}

/** With nothing to compare with (null) everything counts as changed. */
export function pathsChanged(
  patterns: readonly string[],
  compareTo: string | null,
  changedPaths: readonly string[] | null,
  scope: VariableScope,
  { paths }: Grounds,
): Judged {
  const comparable = changedPaths !== null
  const found = comparable ? paths.any(scope.expandAll(patterns), changedPaths) : null
  const judged = { clause: 'changes', holds: !comparable || found !== null } as const
  return {
    holds: judged.holds,
    tell: () => ({ ...judged, paths: [...patterns], compareTo, comparable, found }),
  }
}

function there(
  { paths, project, ref }: Exists,
  refusal: Refusal,
  scope: VariableScope,
  grounds: Grounds,
): Judged {
  let tree: readonly string[] = grounds.context.treePaths
  if (project !== null) {
    const [otherProject, otherRef] = [scope.expand(project), ref === null ? null : scope.expand(ref)]
    const known = ownValue(grounds.context.otherTrees, otherTreeKey(otherProject, otherRef))
    if (known === undefined) {
      const isThere = ownValue(grounds.context.otherTrees, otherTreeKey(otherProject, null)) !== undefined
      throw new ConfigError(
        refusal(
          otherRef !== null && isThere
            ? pipelineText.existsRef(otherProject, otherRef)
            : pipelineText.existsProject(otherProject),
        ),
      )
    }
    tree = known
  }
  const found = grounds.paths.exists(scope.expandAll(paths), tree)
  const judged = { clause: 'exists', holds: found !== null } as const
  return { holds: judged.holds, tell: () => ({ ...judged, paths, project, ref, found }) }
}

/** The key in `context.otherTrees` of a project at a ref (null: its default branch); both expanded. */
export function otherTreeKey(project: string, ref: string | null): string {
  return ref === null ? project : `${project}@${ref}`
}

function ownValue<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
