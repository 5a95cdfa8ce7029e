import { isLonger } from '../../kernel/lib/characters.ts'
import { components } from '../graph/components.ts'
import { graphText } from '../messages.ts'
import type { Need } from '../types.ts'
import { ConfigError } from './config-error.ts'
import type { JobConfig } from './config.ts'

const longestName = 255

/** What only all jobs together show; throws a ConfigError with the first fault. */
export function checkGraph(jobs: readonly JobConfig[], stages: readonly string[]): void {
  const named = new Map(jobs.map((job) => [job.name, job]))
  for (const job of jobs) {
    if (job.stageIndex === -1) throw new ConfigError(graphText.stage(job.name, job.stage, stages))
    checkDependencies(job, named)
    for (const needs of [job.needs, ...job.ruleNeeds.map((own) => own?.needs ?? null)]) {
      if (needs !== null) checkNeeds(job, needs, named)
    }
    checkOnStop(job, named)
  }
  checkCircles(named)
}

type Named = ReadonlyMap<string, JobConfig>

function checkDependencies(job: JobConfig, named: Named): void {
  for (const name of job.dependencies ?? []) {
    const other = named.get(name)
    if (other === undefined) throw new ConfigError(graphText.undefinedDependency(job.name, name))
    if (other.stageIndex > job.stageIndex) throw new ConfigError(graphText.laterDependency(job.name, name))
  }
}

function checkNeeds(job: JobConfig, needs: readonly Need[], named: Named): void {
  for (const { name, optional } of needs) {
    if (isLonger(name, longestName)) throw new ConfigError(graphText.longNeed(job.name, name))
    const other = named.get(name)
    if (other === undefined && !optional) throw new ConfigError(graphText.undefinedNeed(job.name, name))
    if (other !== undefined && other.stageIndex > job.stageIndex) {
      throw new ConfigError(graphText.laterNeed(job.name, name))
    }
  }
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const { name } of needs) (seen.has(name) ? twice : seen).add(name)
  if (twice.size > 0) throw new ConfigError(graphText.duplicateNeeds(job.name, [...twice]))
}

function checkOnStop({ name, entry }: JobConfig, named: Named): void {
  const onStop = entry.environment?.onStop
  if (!onStop || onStop.includes('$')) return
  const texts = graphText.onStop
  const stop = named.get(onStop)
  if (stop === undefined) throw new ConfigError(texts.undefined(name, onStop))
  const { environment } = stop.entry
  if (environment === undefined) throw new ConfigError(texts.noEnvironment(name, onStop))
  if (environment.name !== entry.environment!.name)
    throw new ConfigError(texts.otherEnvironment(name, onStop))
  if (environment.action !== 'stop') throw new ConfigError(texts.noStop(name, onStop))
}

function checkCircles(named: Named): void {
  const needed = (name: string) => (named.get(name)?.needs ?? []).map((need) => need.name)
  for (const name of named.keys()) {
    if (needed(name).includes(name)) throw new ConfigError(graphText.selfNeed(name))
  }
  const circle = components(named.keys(), needed).find((component) => component.length > 1)
  if (circle !== undefined) throw new ConfigError(graphText.circularNeeds(circle))
}
