import { defaultOnly, type Filter } from '../entries/filters.ts'
import { holds } from '../expression/evaluate.ts'
import type { CompileContext, PipelineSource } from '../types.ts'
import type { Grounds } from './rules.ts'
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
): boolean {
  return conditions({ ...defaultOnly, ...only }, scope, grounds).every((condition) => condition())
}

/** `except` excludes as soon as one of its keys holds. */
export function excludedByExcept(
  except: Filter,
  scope: VariableScope,
  grounds: Grounds<CompileContext>,
): boolean {
  return conditions(except, scope, grounds).some((condition) => condition())
}

function conditions(
  filter: Filter,
  scope: VariableScope,
  grounds: Grounds<CompileContext>,
): (() => boolean)[] {
  const { context, paths } = grounds
  const { refs, variables, changes, kubernetes } = filter
  const list: (() => boolean)[] = []
  if (refs) list.push(() => refs.some((ref) => matchesRef(ref, scope, context)))
  if (variables) list.push(() => variables.some((expression) => holds(expression, scope)))
  if (changes) {
    const changed = context.changedPaths
    list.push(() => changed === null || paths.any(scope.expandAll(changes), changed))
  }
  if (kubernetes) list.push(() => context.kubernetesActive === true)
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
