import type { Environment, Variable } from '../types.ts'
import { environmentSlug, guessTier, refSlug } from '../variables/slug.ts'

interface Named {
  name: string
  stage: string
  parallel: { index: number; total: number } | null
}

/** The predefined variables that tell jobs of one pipeline apart and are known before it exists. */
export function jobPredefinedVariables(job: Named): Variable[] {
  return [
    { key: 'CI_JOB_NAME', value: job.name },
    { key: 'CI_JOB_NAME_SLUG', value: refSlug(job.name) },
    { key: 'CI_JOB_GROUP_NAME', value: groupOf(job.name) },
    { key: 'CI_JOB_STAGE', value: job.stage },
    ...(job.parallel ? [{ key: 'CI_NODE_INDEX', value: String(job.parallel.index) }] : []),
    { key: 'CI_NODE_TOTAL', value: String(job.parallel?.total ?? 1) },
  ]
}

const numbering = /[\s:]+(?:\[.*\]|\d+[\s:/\\]+\d+)\s*$/

/** Jobs that differ in such an end only are shown as one: `name 1/2`, `name 1:2`, `name 1 2`, `name: [a, b]`, thrice at most. */
export function groupOf(name: string): string {
  return [1, 2, 3].reduce((rest) => rest.replace(numbering, ''), name).trim()
}

/** `CI_ENVIRONMENT_…`, as far as they are known before the environment's row is. */
export function environmentVariables(environment: Environment): Variable[] {
  const { expandedName, action, deploymentTier, url } = environment
  return [
    { key: 'CI_ENVIRONMENT_NAME', value: expandedName },
    { key: 'CI_ENVIRONMENT_SLUG', value: environmentSlug(expandedName) },
    { key: 'CI_ENVIRONMENT_ACTION', value: action },
    { key: 'CI_ENVIRONMENT_TIER', value: deploymentTier ?? guessTier(expandedName) },
    ...(url === null ? [] : [{ key: 'CI_ENVIRONMENT_URL', value: url }]),
  ]
}
