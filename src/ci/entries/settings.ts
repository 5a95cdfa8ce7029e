import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import { compilePattern, splitPattern } from '../text/regex.ts'
import {
  attribute,
  collect,
  duration,
  durationOrVariable,
  entry,
  isStrings,
  mapOf,
  readFields,
  requireKeys,
  string,
  stringOrStrings,
  strings,
} from './read.ts'
import { exitCodes } from './retry.ts'
import { script } from './script.ts'
import type { Read } from './spot.ts'

/** The smaller keys of a job, each a line or a few. */

const mostTags = 50
const month = 30 * 24 * 3600

export const timeout = duration(1, month)

export const tags: Read<string[]> = (value, spot) => {
  const found = strings(value, spot)
  return found && found.length >= mostTags ? spot.fail(entryText.tooManyTags(mostTags)) : found
}

/** The pattern between the slashes. */
export const coverage: Read<string> = (value, spot) => {
  const pattern = typeof value === 'string' ? splitPattern(value) : null
  if (pattern === null || compilePattern(pattern.source, pattern.flags) === null)
    return spot.fail(entryText.regex)
  return pattern.flags === '' ? pattern.source : `(?${pattern.flags})${pattern.source}`
}

export type AllowFailure = boolean | { exitCodes: number[] }

export const allowFailure: Read<AllowFailure> = (value, spot) => {
  if (typeof value === 'boolean') return value
  if (!isMap(value)) return spot.fail(entryText.allowFailure)
  const below = spot.child('allow_failure')
  const found = readFields({ exit_codes: attribute(exitCodes) }, value, below)
  if (!('exit_codes' in value)) return below.fail(entryText.missingKeys(['exit_codes']))
  return { exitCodes: found.exitCodes ?? [] }
}

/** Everything, nothing, or the listed. */
export type Inherit = boolean | string[]

const inherited: Read<Inherit> = (value, spot) =>
  typeof value === 'boolean' || isStrings(value) ? value : spot.fail(entryText.inheritShape)

const inheritedOf =
  (known: readonly string[]): Read<Inherit> =>
  (value, spot) => {
    const found = inherited(value, spot)
    const unknown = Array.isArray(found) ? found.filter((key) => !known.includes(key)) : []
    return unknown.length > 0 ? spot.fail(entryText.unknownItems(unknown)) : found
  }

/** `defaults`: the keys that `default:` may have. */
export const inherit = (defaults: readonly string[]) =>
  mapOf({ default: entry(inheritedOf(defaults)), variables: entry(inherited) })

export const hooks = mapOf({ pre_get_sources_script: entry(script) })

export const pages: Read<boolean | Record<string, unknown>> = (value, spot) => {
  if (typeof value === 'boolean') return value
  return isMap(value) ? readFields(pagesFields, value, spot) : spot.fail(entryText.pagesShape)
}
const pagesFields = {
  publish: attribute(string),
  path_prefix: attribute(string),
  expire_in: attribute(durationOrVariable('never')),
}

const audience = mapOf({ aud: attribute(stringOrStrings) }, (value, spot) =>
  requireKeys(value, ['aud'], spot),
)

export const idTokens: Read<Record<string, { aud: string | string[] }>> = (value, spot) => {
  if (!isMap(value)) return spot.fail(entryText.hash)
  const tokens = collect(Object.entries(value), ([name, token]) => {
    const found = audience(token, spot.child(name))?.aud
    return found && ([name, { aud: found.length === 1 ? found[0]! : found }] as const)
  })
  return tokens && Object.fromEntries(tokens)
}

export const dastConfiguration = mapOf({
  site_profile: attribute(string),
  scanner_profile: attribute(string),
})
