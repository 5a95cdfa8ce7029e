import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { neverRetried, type FailureReason, type Retry } from '../../ci/index.ts'
import type { MachineJob } from './machine.ts'

/** Sources that do not count for "latest" and for the status of a ref (completions, 3.9). */
export const danglingSources: ReadonlySet<string> = new Set([
  'parent_pipeline',
  'webide',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
  'security_orchestration_policy',
  'container_registry_push',
  'duo_workflow',
  'pipeline_execution_policy_schedule',
])

/** Nothing of it will run unless somebody wants it to. */
export function isAtRest(status: string): boolean {
  return ['success', 'failed', 'canceled', 'skipped'].includes(status)
}

/** `[ci skip]` or `[skip ci]` in any letter case, also with `-` or `_` between the words. */
export function hasSkipMarker(message: string): boolean {
  return /\[(?:ci[-_ ]skip|skip[-_ ]ci)\]/i.test(message)
}

/** Why these variables may not be given to a pipeline, or undefined (completions, 2.10). `reserved`: keys it has anyway. */
export function checkVariables(
  {
    actor,
    project,
    variables = [],
    vettedVariables = false,
  }: {
    readonly actor: Actor
    readonly project: ProjectSubject
    readonly variables?: readonly { readonly key: string; readonly value: string }[]
    readonly vettedVariables?: boolean
  },
  reserved: readonly string[] = [],
): string | undefined {
  if (variables.length === 0) return undefined
  const seen = new Set<string>(reserved)
  const twice = new Set<string>()
  for (const { key } of variables) {
    if (seen.has(key)) twice.add(key)
    seen.add(key)
  }
  if (twice.size > 0) return `Duplicate variable name${twice.size === 1 ? '' : 's'}: ${[...twice].join(', ')}`
  if (!vettedVariables && !may(actor, 'set_pipeline_variables', project))
    return 'Insufficient permissions to set pipeline variables'
  if (variables.some(({ key }) => !/^\w{1,255}$/.test(key))) {
    return "Variable key can contain only letters, digits and '_'."
  }
  return undefined
}

/** Attempts that a job gets after this failure even where it asks for none. */
const attemptsByDefault: Readonly<Record<string, number>> = { scheduler_failure: 2 }

/** Whether a failed job is run once more by itself (completions, 3.15). `attempt`: how often it was run before. */
export function isRetriedByItself(
  { retry, attempt }: { readonly retry: Retry | null; readonly attempt: number },
  { reason, exitCode }: { readonly reason: string | null; readonly exitCode: number | null },
): boolean {
  if (reason === null || neverRetried.has(reason as FailureReason)) return false
  if (attempt < (attemptsByDefault[reason] ?? 0)) return true
  if (retry === null || attempt >= retry.max) return false
  if (exitCode !== null && retry.exitCodes.includes(exitCode)) return true
  return retry.when.includes('always') || retry.when.includes(reason)
}

/** The skipped jobs that wait again once this one runs anew: of later stages, and those that need it. */
export function skippedAfter(jobs: readonly MachineJob[], name: string, stageIndex: number): number[] {
  const reached = new Set([name])
  const found: number[] = []
  for (let more = true; more;) {
    more = false
    for (const job of jobs) {
      if (reached.has(job.name) || job.status !== 'skipped') continue
      const after =
        job.needs === null ? job.stage_index > stageIndex : job.needs.some((need) => reached.has(need))
      if (!after) continue
      reached.add(job.name)
      found.push(job.id)
      more = true
    }
  }
  return found
}
