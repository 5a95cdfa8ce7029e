import type { JobConfig } from '../config/config.ts'
import { isBridge } from '../config/jobs.ts'
import type { JobEntry } from '../entries/job.ts'
import type { Rule } from '../entries/rules.ts'
import { mirrorOf } from '../entries/trigger.ts'
import { defaultValues } from '../spec/values.ts'
import type {
  ArtifactUpload,
  Bridge,
  Cache,
  CompiledJob,
  CrossNeed,
  Environment,
  Need,
  Step,
  Variable,
  When,
} from '../types.ts'
import { groupOf } from './environment.ts'
import { releaseStep } from './release.ts'

/** What was decided for this pipeline. */
export interface Decision {
  rule: { rule: Rule; index: number } | null
  variables: Variable[]
  environment: Environment | null
  tags: string[]
  resourceGroup: string | null
  cache: Cache[]
  expand: (text: string) => string
}

/** Puts the record of one job together; names in its needs may still be missing from the pipeline. */
export function compileJob(config: JobConfig, decision: Decision): CompiledJob {
  const { entry } = config
  const rule = decision.rule?.rule ?? null
  const when = (rule?.when ?? entry.when ?? 'on_success') as When
  return {
    name: config.name,
    groupName: groupOf(config.groupName),
    stage: config.stage,
    stageIndex: config.stageIndex,
    when,
    startIn: when === 'delayed' ? (rule?.startIn ?? entry.startIn ?? null) : null,
    manualConfirmation: entry.manualConfirmation ?? null,
    ...forgiveness(entry, rule),
    variables: decision.variables,
    ...needsOf(config, decision.rule?.index ?? null),
    dependencies: config.dependencies,
    tags: decision.tags,
    image: entry.image ?? null,
    services: entry.services ?? [],
    steps: stepsOf(entry),
    run: entry.run ?? null,
    hooks: entry.hooks?.preGetSourcesScript
      ? [{ name: 'pre_get_sources_script', script: entry.hooks.preGetSourcesScript }]
      : [],
    artifacts: uploadsOf(config),
    artifactAccess: entry.artifacts?.access ?? 'all',
    exposeAs: entry.artifacts?.exposeAs ?? null,
    cache: decision.cache,
    timeout: entry.timeout ?? null,
    retry: entry.retry ?? null,
    interruptible: rule?.interruptible ?? entry.interruptible ?? false,
    coverage: entry.coverage ?? null,
    environment: decision.environment,
    resourceGroup: decision.resourceGroup,
    parallel: config.parallel,
    idTokens: entry.idTokens ?? {},
    secrets: entry.secrets ?? {},
    release: entry.release ?? null,
    pages: pagesOf(config, decision),
    inputs: defaultValues(entry.inputs ?? []),
    inputSpecs: entry.inputs ?? [],
    identity: entry.identity ?? null,
    only: config.written.only,
    except: config.written.except,
    bridge: bridgeOf(entry),
  }
}

/** A job that is manual by itself may fail; one that a rule makes manual may not. */
function forgiveness(
  { allowFailure, when }: JobEntry,
  rule: Rule | null,
): Pick<CompiledJob, 'allowFailure' | 'allowFailureExitCodes'> {
  if (rule !== null && rule.allowFailure !== null) {
    return { allowFailure: rule.allowFailure, allowFailureExitCodes: null }
  }
  if (typeof allowFailure === 'object')
    return { allowFailure: false, allowFailureExitCodes: allowFailure.exitCodes }
  const manual = when === 'manual' && (rule?.when ?? null) === null
  return { allowFailure: allowFailure ?? manual, allowFailureExitCodes: null }
}

function needsOf(config: JobConfig, rule: number | null): { needs: Need[] | null; crossNeeds: CrossNeed[] } {
  const { needs, crossNeeds } = (rule === null ? null : config.ruleNeeds[rule]) ?? config
  return { needs, crossNeeds }
}

function stepsOf({ beforeScript = [], script, afterScript = [], release }: JobEntry): Step[] {
  if (script === undefined) return []
  const steps: Step[] = [
    { name: 'script', script: [...beforeScript, ...script], when: 'on_success', allowFailure: false },
  ]
  if (release !== undefined) steps.push(releaseStep(release))
  if (afterScript.length > 0) {
    steps.push({ name: 'after_script', script: afterScript, when: 'always', allowFailure: true })
  }
  return steps
}

/** All that is written there is expanded. */
function pagesOf({ groupName, entry }: JobConfig, { expand }: Decision): CompiledJob['pages'] {
  const { pages = groupName === 'pages' && !isBridge(entry), publish } = entry
  if (pages === false) return null
  const own = pages === true ? {} : pages
  if (pages === true && publish === undefined) return true
  const written = Object.entries({ ...(publish !== undefined && { publish }), ...own })
  return Object.fromEntries(
    written.map(([name, value]) => [name, typeof value === 'string' ? expand(value) : value]),
  )
}

/** The folder of a site is part of the archive without being listed. */
function uploadsOf({ entry: { pages, publish, artifacts } }: JobConfig): ArtifactUpload[] {
  const uploads = artifacts?.uploads ?? []
  if (pages === undefined || pages === false) return uploads
  const own = pages === true ? undefined : pages['publish']
  const folder = typeof own === 'string' ? own : (publish ?? 'public')
  const archive = uploads.find(({ artifactType }) => artifactType === 'archive') ?? emptyArchive
  if (archive.paths.includes(folder)) return uploads
  return [
    { ...archive, paths: [...archive.paths, folder] },
    ...uploads.filter((upload) => upload !== archive),
  ]
}

const emptyArchive: ArtifactUpload = {
  name: null,
  untracked: false,
  paths: [],
  exclude: [],
  when: 'on_success',
  expireIn: null,
  artifactType: 'archive',
  artifactFormat: 'zip',
}

function bridgeOf(entry: JobEntry): Bridge | null {
  if (!isBridge(entry)) return null
  const mirrors = entry.needs?.mirrors ?? null
  return entry.trigger ?? (mirrors === null ? null : mirrorOf(mirrors))
}
