import { ConfigError } from '../config/config-error.ts'
import { pipelineText } from '../messages.ts'
import type { CompiledJob } from '../types.ts'

const usualNeeds = 50

/** Leaves out what rules removed: optional needs and dependencies. Throws a ConfigError for other absent needs. */
export function settleNeeds(jobs: readonly CompiledJob[], mostNeeds = usualNeeds): CompiledJob[] {
  const names = new Set(jobs.map(({ name }) => name))
  return jobs.map((job) => {
    const dependencies = job.dependencies?.filter((name) => names.has(name)) ?? null
    if (job.needs === null) return { ...job, dependencies }
    if (job.needs.length > mostNeeds) {
      throw new ConfigError(pipelineText.tooManyNeeds(job.name, mostNeeds, job.needs.length))
    }
    const absent = job.needs.find(({ name, optional }) => !optional && !names.has(name))
    if (absent !== undefined) throw new ConfigError(pipelineText.absentNeed(job.name, absent.name))
    return { ...job, dependencies, needs: job.needs.filter(({ name }) => names.has(name)) }
  })
}
