import { parseExpression, type Expression } from '../expression/parser.ts'
import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { AutoCancel, Variable, When } from '../types.ts'
import { needs, type NeedsEntry } from './needs.ts'
import {
  atMostItems,
  attribute,
  boolean,
  collect,
  duration,
  entry,
  mapOf,
  oneOf,
  readFields,
  string,
  strings,
  type Fields,
} from './read.ts'
import type { Read, Spot } from './spot.ts'
import { jobVariables } from './variables.ts'

export interface Changes {
  paths: string[]
  compareTo: string | null
}

export interface Exists {
  paths: string[]
  project: string | null
  ref: string | null
}

/** The conditions of one rule, all of which have to hold, and what it sets. */
export interface Rule {
  if: Expression | null
  changes: Changes | null
  exists: Exists | null
  when: When | 'never' | null
  startIn: number | null
  allowFailure: boolean | null
  variables: Variable[]
  needs: NeedsEntry | null
  interruptible: boolean | null
  autoCancel: Partial<AutoCancel>
}

const mostPaths = 50
const week = 7 * 24 * 3600
export const startIn = duration(1, week)

export const jobWhens = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const

export const autoCancel: Read<Partial<AutoCancel>> = mapOf({
  on_new_commit: attribute(mustBe(['conservative', 'interruptible', 'none'] as const)),
  on_job_failure: attribute(mustBe(['none', 'all'] as const)),
})

function mustBe<W extends string>(words: readonly W[]): Read<W> {
  return oneOf(words, entryText.mustBeOneOf(words))
}

const paths = atMostItems(mostPaths, strings)

const changes = listOrMap(
  mapOf({ paths: attribute(paths), compare_to: attribute(string) }, pathsRequired),
  ({ paths = [], compareTo = null }): Changes => ({ paths, compareTo }),
)
const exists = listOrMap(
  mapOf({ paths: attribute(paths), project: attribute(string), ref: attribute(string) }, pathsRequired),
  ({ paths = [], project = null, ref = null }): Exists => ({ paths, project, ref }),
)

function pathsRequired(value: DataMap, spot: Spot): void {
  if (value['paths'] === undefined || value['paths'] === null) spot.fail(entryText.missingKeys(['paths']))
}

/** A list of paths stands for a map with only these. */
function listOrMap<V, T>(read: Read<V>, build: (value: V) => T): Read<T> {
  return (value, spot) => {
    if (!Array.isArray(value) && !isMap(value)) return spot.fail(entryText.arrayOrHash)
    const found = Array.isArray(value)
      ? paths(value.flat(10), spot) && read({ paths: value.flat(10) }, spot)
      : read(value, spot)
    return found && build(found)
  }
}

const condition: Read<Expression> = (value, spot) => {
  if (typeof value !== 'string') return spot.fail(entryText.expression)
  return parseExpression(value) ?? spot.fail(entryText.expression)
}

function when<W extends string>(words: readonly W[]): Read<W> {
  return (value, spot) =>
    (words as readonly unknown[]).includes(value) ? (value as W) : spot.fail(entryText.unknownValue(value))
}

const conditions = { if: attribute(condition), changes: entry(changes), exists: entry(exists) }
const ofJobs = {
  ...conditions,
  when: attribute(when([...jobWhens, 'never'] as const)),
  start_in: attribute(startIn),
  allow_failure: attribute(boolean),
  variables: entry(jobVariables),
  needs: entry(needs),
  interruptible: attribute(boolean),
}
const ofBridges = {
  ...ofJobs,
  when: attribute(when(['on_success', 'on_failure', 'always', 'manual', 'never'] as const)),
}
const ofWorkflow = {
  ...conditions,
  when: attribute(when(['always', 'never'] as const)),
  variables: entry(jobVariables),
  auto_cancel: entry(autoCancel),
}
const ofIncludes = { ...conditions, when: attribute(when(['always', 'never'] as const)) }

export const jobRules = rulesWith(ofJobs)
export const bridgeRules = rulesWith(ofBridges)
export const workflowRules = rulesWith(ofWorkflow)
export const includeRules = rulesWith(ofIncludes)

type AllFields = typeof ofJobs & typeof ofWorkflow

/** `spot` is the attribute `rules` of what the rules belong to. */
function rulesWith(table: Fields): Read<Rule[]> {
  return (value, spot) => {
    const rules: unknown[] = Array.isArray(value) ? value.flat(10) : [value]
    if (!Array.isArray(value) || !rules.every(isMap)) return spot.fail(entryText.rulesShape)
    const place = spot.child('rules').child('rule')
    return collect(rules, (one) => {
      const found = readFields(table as AllFields, one, place, checkDelay)
      return {
        if: found.if ?? null,
        changes: found.changes ?? null,
        exists: found.exists ?? null,
        when: (found.when as Rule['when'] | undefined) ?? null,
        startIn: found.startIn ?? null,
        allowFailure: found.allowFailure ?? null,
        variables: found.variables ?? [],
        needs: found.needs ?? null,
        interruptible: found.interruptible ?? null,
        autoCancel: found.autoCancel ?? {},
      }
    })
  }
}

/** `start_in` belongs to `when: delayed`, and only to it. */
export function checkDelay(value: DataMap, spot: Spot): void {
  const given = value['start_in']
  const absent = given === undefined || given === null
  if (value['when'] === 'delayed') {
    if (absent) spot.key('start_in').fail(entryText.duration)
  } else if (!absent) spot.key('start_in').fail(entryText.mustBeBlank)
}
