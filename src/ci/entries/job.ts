import { isLonger } from '../../kernel/lib/characters.ts'
import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import { artifacts } from './artifacts.ts'
import { caches } from './cache.ts'
import { environment } from './environment.ts'
import { filter } from './filters.ts'
import { image, services } from './image.ts'
import { jobInputs } from './job-inputs.ts'
import { needs, type NeedType } from './needs.ts'
import { parallel } from './parallel.ts'
import {
  atMostCharacters,
  attribute,
  boolean,
  entry,
  oneOf,
  readFields,
  string,
  stringOrStrings,
  strings,
  type Values,
} from './read.ts'
import { release } from './release.ts'
import { retry } from './retry.ts'
import { bridgeRules, checkDelay, jobRules, jobWhens, startIn } from './rules.ts'
import { run } from './run.ts'
import { script } from './script.ts'
import { secrets } from './secrets.ts'
import * as settings from './settings.ts'
import type { Spot } from './spot.ts'
import { trigger } from './trigger.ts'
import { jobVariables } from './variables.ts'

/** Keys that `default:` may set for all jobs. */
export const defaultFields = {
  before_script: entry(script),
  after_script: entry(script),
  hooks: entry(settings.hooks),
  image: entry(image),
  services: entry(services),
  cache: entry(caches),
  tags: entry(settings.tags),
  artifacts: entry(artifacts),
  retry: entry(retry),
  timeout: entry(settings.timeout),
  interruptible: entry(boolean),
  id_tokens: entry(settings.idTokens),
  identity: attribute(oneOf(['google_cloud'])),
}

/** Keys of jobs that run and of jobs that trigger. */
const sharedFields = {
  stage: entry(atMostCharacters(255)),
  extends: attribute(stringOrStrings),
  inherit: entry(settings.inherit(Object.keys(defaultFields))),
  variables: entry(jobVariables),
  only: entry(filter),
  except: entry(filter),
  needs: entry(needs),
  parallel: entry(parallel),
  allow_failure: attribute(settings.allowFailure),
  resource_group: attribute(string),
  environment: entry(environment),
  interruptible: entry(boolean),
  manual_confirmation: attribute(string),
}

const jobFields = {
  ...sharedFields,
  ...defaultFields,
  script: entry(script),
  run: entry(run),
  rules: attribute(jobRules),
  when: attribute(oneOf(jobWhens)),
  start_in: attribute(startIn),
  dependencies: attribute(strings),
  coverage: entry(settings.coverage),
  secrets: entry(secrets),
  release: entry(release),
  pages: entry(settings.pages),
  publish: attribute(string),
  inputs: entry(jobInputs),
  dast_configuration: entry(settings.dastConfiguration),
}

const bridgeFields = {
  ...sharedFields,
  trigger: entry(trigger),
  rules: attribute(bridgeRules),
  when: attribute(oneOf(['on_success', 'on_failure', 'always', 'manual'] as const)),
}

/** What one job of the file says, before defaults. */
export type JobEntry = Values<typeof jobFields & Pick<typeof bridgeFields, 'trigger'>>

const scriptKeys = ['script', 'before_script', 'after_script']

/**
 * Undefined: no job at all (it neither runs nor triggers), or a wrong one; either way it was reported. `globals`: what
 * else may stand on the first level of a file.
 */
export function readJob(
  name: string,
  value: unknown,
  jobs: Spot,
  globals: readonly string[] = [],
): JobEntry | undefined {
  const spot = jobs.child(name)
  if (!isMap(value)) return jobs.failHere(entryText.notAJob(name, [], globals))
  if (kindOf(value) === null) return jobs.failHere(entryText.notAJob(name, unknownKeys(value), globals))
  if (isLonger(name, 255)) return spot.failHere(`name ${entryText.tooLong(255)}`)
  const runs = ['script', 'run'].filter((key) => has(value, key))
  if (runs.length > 0 && has(value, 'trigger')) return spot.fail(entryText.together([...runs, 'trigger']))
  if (kindOf(value) === 'job') {
    const found = readFields(jobFields, value, spot, (given, at) => checkJob(name, given, at))
    checkNeeds(found, ['job', 'cross_dependency'], spot)
    return found
  }

  const found = readFields(bridgeFields, value, spot, checkBridge)
  checkNeeds(found, ['job', 'bridge'], spot)
  if (found.parallel && 'total' in found.parallel)
    spot.child('parallel').fail(entryText.parallelNumberOfBridge)
  return found
}

function kindOf(value: DataMap): 'job' | 'bridge' | null {
  if (has(value, 'script') || has(value, 'run')) return 'job'
  return 'trigger' in value || isMirror(value['needs']) ? 'bridge' : null
}

const unknownKeys = (value: DataMap) =>
  Object.keys(value).filter((key) => !Object.hasOwn(jobFields, key) && !Object.hasOwn(bridgeFields, key))

const has = (value: DataMap, key: string) => value[key] !== undefined && value[key] !== null

function isMirror(given: unknown): boolean {
  const all: unknown[] = Array.isArray(given) ? given : [given]
  return all.some((need) => isMap(need) && 'pipeline' in need && !('job' in need))
}

function checkJob(name: string, value: DataMap, spot: Spot): void {
  const scripts = scriptKeys.filter((key) => has(value, key))
  if (has(value, 'run') && scripts.length > 0) spot.fail(entryText.together(['run', ...scripts]))
  checkWithRules(value, spot)
  if (!has(value, 'rules')) checkDelay(value, spot)
  checkDependencies(value, spot)
  if (has(value, 'publish') && name !== 'pages' && !has(value, 'pages'))
    spot.failHere(entryText.publishOutsidePages)
}

function checkBridge(value: DataMap, spot: Spot): void {
  if (!has(value, 'trigger') && !isMirror(value['needs'])) spot.failHere(entryText.triggerOrNeeds)
  checkWithRules(value, spot)
}

function checkWithRules(value: DataMap, spot: Spot): void {
  if (!has(value, 'rules')) return
  const keys = ['only', 'except', 'start_in'].filter((key) => has(value, key))
  if (keys.length > 0) spot.fail(entryText.notWithRules(keys))
}

/** A trigger job fetches no artifacts, and only it can copy the status of another project. */
function checkNeeds({ needs: own, rules = [] }: JobEntry, allowed: NeedType[], spot: Spot): void {
  for (const entry of [own, ...rules.map((rule) => rule.needs)]) {
    const others = entry?.types.filter((type) => !allowed.includes(type)) ?? []
    if (others.length > 0) spot.child('needs').fail(entryText.needTypes(others))
    if (allowed.includes('bridge') && (entry?.mirrorCount ?? 0) > 1) spot.fail(entryText.oneMirror)
  }
}

/** With needs, artifacts come only from these. */
function checkDependencies({ needs: needed, dependencies }: DataMap, spot: Spot): void {
  if (!Array.isArray(needed) || !Array.isArray(dependencies)) return
  const names = needed.flat(10).map((need) => (isMap(need) ? need['job'] : need))
  const others = dependencies.filter((name) => typeof name === 'string' && !names.includes(name))
  if (others.length > 0) spot.key('dependencies').fail(entryText.dependencyNotNeeded(others as string[]))
}
