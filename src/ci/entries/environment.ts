import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { Environment } from '../types.ts'
import { attribute, durationOrVariable, map, oneOf, readFields, string } from './read.ts'
import type { Read, Spot } from './spot.ts'

/** As written; the name is expanded when a pipeline is made. */
export type EnvironmentEntry = Omit<Environment, 'expandedName'>

const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const
const fields = {
  name: attribute(name),
  url: attribute(string),
  on_stop: attribute(string),
  action: attribute(
    oneOf(['start', 'prepare', 'stop', 'verify', 'access'] as const, entryText.environmentAction),
  ),
  auto_stop_in: attribute(durationOrVariable('never')),
  deployment_tier: attribute(oneOf(tiers, entryText.mustBeOneOf(tiers))),
  kubernetes: attribute(map),
}

export const environment: Read<EnvironmentEntry> = (value, spot) => {
  if (typeof value !== 'string' && !isMap(value)) return spot.fail(entryText.hashOrString)
  const given = typeof value === 'string' ? { name: value } : value
  const found = readFields(fields, given, spot, (whole, at) => {
    if (whole['name'] === undefined || whole['name'] === null) at.key('name').fail(entryText.blank)
  })
  return {
    name: found.name ?? '',
    url: found.url ?? null,
    onStop: found.onStop ?? null,
    action: found.action ?? 'start',
    autoStopIn: found.autoStopIn ?? null,
    deploymentTier: found.deploymentTier ?? null,
    kubernetes: found.kubernetes ?? null,
  }
}

function name(value: unknown, spot: Spot): string | undefined {
  if (typeof value !== 'string') return spot.fail(entryText.string)
  if (value === '') return spot.fail(entryText.blank)
  if (value.length > 255) return spot.fail(entryText.tooLong(255))
  const fine = /^[\w/\-${}. ]+$/.test(value) && !/^\/|\/$/.test(value)
  return fine ? value : spot.fail(entryText.environmentName)
}
