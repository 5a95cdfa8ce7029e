import type { EarlierJob, HandedJob } from './job-row.ts'

/** Why a job cannot run; `because`: what the reason does not say. */
export interface Unfit {
  readonly reason: string
  readonly because?: string
}

/** A feature that the job needs and the runner did not announce, or undefined (completions, 8.2). */
export function missingFeature(
  { definition, pipeline }: HandedJob,
  features: ReadonlySet<string>,
): string | undefined {
  const { artifacts, allowFailureExitCodes, retry, cache, inputs, release } = definition
  const needed: Record<string, boolean> = {
    upload_multiple_artifacts: artifacts.some(({ artifactType }) => artifactType !== 'archive'),
    upload_raw_artifacts: artifacts.some(({ artifactFormat }) => artifactFormat === 'raw'),
    // What is built for a merge request is on no branch.
    refspecs: pipeline.merge_request !== null,
    multi_build_steps: release !== null,
    artifacts_exclude: artifacts.some(({ exclude }) => exclude.length > 0),
    return_exit_code: allowFailureExitCodes !== null || (retry?.exitCodes.length ?? 0) > 0,
    fallback_cache_keys: cache.some(({ fallbackKeys }) => fallbackKeys.length > 0),
    job_inputs: Object.keys(inputs).length > 0,
    native_steps_integration: definition.run !== null,
  }
  return Object.keys(needed).find((name) => needed[name] === true && !features.has(name))
}

/** The earlier jobs whose artifacts a job gets; `missing` when one of them had some that are gone. */
export function dependenciesOf({
  definition,
  stage_index,
  earlier,
}: HandedJob): readonly EarlierJob[] | 'missing' {
  const chosen = earlier.filter(({ name, stage_index: stage, status }) => {
    if (status !== 'success' && status !== 'failed') return false
    const need = definition.needs?.find((one) => one.name === name)
    if (definition.needs !== null && need?.artifacts !== true) return false
    if (definition.dependencies !== null) return definition.dependencies.includes(name)
    return definition.needs !== null || stage < stage_index
  })
  const gone = chosen.some((job) => job.makes_archive && job.lost && job.filename === null)
  return gone ? 'missing' : chosen
}
