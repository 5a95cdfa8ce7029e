import { defaultOnly, type Filter } from '../entries/filters.ts'
import { holds } from '../expression/evaluate.ts'
import type { CompileContext, PipelineSource } from '../types.ts'
import { allHold, anyHolds, type ClauseTrace, type Judged } from './explanation.ts'
import { pathsChanged, tellExpression, type Grounds } from './rules.ts'
import type { VariableScope } from './scope.ts'

const wordOfSource: Partial<Record<PipelineSource, string>> = {
  api: 'api',
  chat: 'chat',
  external: 'external',
  external_pull_request_event: 'external_pull_requests',
  merge_request_event: 'merge_requests',
  parent_pipeline: 'parent_pipelines',
  pipeline: 'pipelines',
  push: 'pushes',
  schedule: 'schedules',
  trigger: 'triggers',
  web: 'web',
}

/** `only` wants all its keys to hold; refs it does not name are branches and tags. */
export function includedByOnly(
  only: Filter,
  scope: VariableScope,
  grounds: Grounds<CompileContext>,
  traces: ClauseTrace[] | null = null,
): boolean {
  return allHold(conditions({ ...defaultOnly, ...only }, scope, grounds), traces)
}

/** `except` excludes as soon as one of its keys holds. */
export function excludedByExcept(
  except: Filter,
  scope: VariableScope,
  grounds: Grounds<CompileContext>,
  traces: ClauseTrace[] | null = null,
): boolean {
  return anyHolds(conditions(except, scope, grounds), traces)
}

function conditions(
  { refs, variables, changes, kubernetes }: Filter,
  scope: VariableScope,
  grounds: Grounds<CompileContext>,
): (() => Judged)[] {
  const { context } = grounds
  const list: (() => Judged)[] = []
  if (refs) {
    list.push(() => {
      const found = refs.find((ref) => matchesRef(ref, scope, context)) ?? null
      const judged = { clause: 'refs', holds: found !== null } as const
      return { holds: judged.holds, tell: () => ({ ...judged, refs, found }) }
    })
  }
  if (variables) {
    list.push(() => {
      const judged = {
        clause: 'variables',
        holds: variables.some((expression) => holds(expression, scope)),
      } as const
      const expressions = () => variables.map((expression) => tellExpression(expression, scope))
      return { holds: judged.holds, tell: () => ({ ...judged, expressions: expressions() }) }
    })
  }
  if (changes) list.push(() => pathsChanged(changes, null, context.changedPaths, scope, grounds))
  if (kubernetes) {
    const judged = { clause: 'kubernetes', holds: context.kubernetesActive === true } as const
    list.push(() => ({ holds: judged.holds, tell: () => judged }))
  }
  return list
}

function matchesRef(written: string, scope: VariableScope, context: CompileContext): boolean {
  const { wanted, project } = splitProject(written)
  if (project !== null && project !== context.projectPath) return false
  const ofMergeRequest = context.source === 'merge_request_event'
  if (wanted === 'branches') return context.refType === 'branch' && !ofMergeRequest
  if (wanted === 'tags') return context.refType === 'tag'
  if (wanted === wordOfSource[context.source]) return true
  // Names are those of branches and tags; a merge request is none.
  if (ofMergeRequest) return false
  return scope.patterns.get(wanted)?.test(context.ref) ?? wanted === context.ref
}

/** `ref@group/project`; an `@` within a pattern is part of it. */
function splitProject(written: string): { wanted: string; project: string | null } {
  const match = /^(\/.*\/[ismU]*|[^/@][^@]*)@([^@]+)$/s.exec(written)
  return match ? { wanted: match[1]!, project: match[2]! } : { wanted: written, project: null }
}
