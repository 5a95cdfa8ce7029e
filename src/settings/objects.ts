import { flag as readFlag } from '../kernel/endpoint/scalars.ts'
import { parseJsonValue } from '../kernel/endpoint/json-body.ts'
import {
  Fields,
  Flag,
  Hash,
  Int,
  Json,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Static,
} from '../kernel/endpoint/types.ts'
import { humanSize } from '../kernel/lib/human-size.ts'
import { httpUrl } from './formats.ts'
import type { Faults } from './faults.ts'
import { setting, type Setting, type Traits } from './setting.ts'

/* Settings whose values are objects. A change replaces the whole object. */

type Bag = Readonly<Record<string, unknown>>

const unfit = 'must be a valid json schema'

function bagOf(given: unknown): Bag | undefined {
  if (given === null || given === '') return {}
  if (typeof given === 'string') {
    try {
      return bagOf(parseJsonValue(given))
    } catch {
      return undefined
    }
  }
  return typeof given === 'object' && !Array.isArray(given) ? (given as Bag) : undefined
}

/** Named switches and nothing else. */
export function switches<const Name extends string>(
  names: readonly Name[],
  fallback: { readonly [N in Name]?: boolean },
  about: string,
  traits: Traits = {},
): Setting<{ [N in Name]?: boolean }> {
  const schema = Fields(Object.fromEntries(names.map((name) => [name, Optional(Flag())])))
  return setting<{ [N in Name]?: boolean }>(
    schema,
    { ...fallback },
    about,
    (given, name, faults) => {
      const bag = bagOf(given)
      if (bag === undefined) {
        faults.parameter(`${name} is invalid`)
        return undefined
      }
      const entries = Object.entries(bag).map(([key, value]) => [key, readFlag(value, key, [])] as const)
      if (entries.every(([key, value]) => names.includes(key as Name) && typeof value === 'boolean')) {
        return Object.fromEntries(entries) as { [N in Name]?: boolean }
      }
      faults.rule(name, unfit)
      return undefined
    },
    traits,
  )
}

const AccessLevelEntry = Fields({ access_level: OneOf(0, 30, 40, 60) })
export const BranchProtection = Fields({
  allowed_to_push: Optional(ListOf(AccessLevelEntry)),
  allowed_to_merge: Optional(ListOf(AccessLevelEntry)),
  allow_force_push: Optional(Flag()),
  code_owner_approval_required: Optional(Flag()),
  developer_can_initial_push: Optional(Flag()),
})
export type BranchProtectionDefaults = Static<typeof BranchProtection>

/** What is larger is no rule for a branch. */
const largestProtection = 1024

export function branchProtection(
  fallback: BranchProtectionDefaults,
  about: string,
): Setting<BranchProtectionDefaults> {
  return setting(BranchProtection, fallback, about, (given, name, faults) => {
    const bag = bagOf(given)
    if (bag === undefined) {
      faults.parameter(`${name} is invalid`)
      return undefined
    }
    const value = Object.fromEntries(
      Object.entries(bag).flatMap(([key, part]): [string, unknown][] => {
        const place = `${name}[${key}]`
        switch (key) {
          case 'allowed_to_push':
          case 'allowed_to_merge':
            return [[key, takeLevels(part, place, faults)]]
          case 'allow_force_push':
          case 'code_owner_approval_required':
          case 'developer_can_initial_push':
            return [[key, takeSwitch(part, place, faults)]]
          default:
            return []
        }
      }),
    ) as BranchProtectionDefaults
    const size = JSON.stringify(value).length
    if (size <= largestProtection) return value
    faults.rule(
      name,
      `is too long (${humanSize(size)}). The maximum size is ${humanSize(largestProtection)}.`,
    )
    return undefined
  })
}

function takeLevels(given: unknown, place: string, faults: Faults): { access_level: number }[] {
  if (given === null || given === '') return []
  if (!Array.isArray(given)) {
    faults.parameter(`${place} is invalid`)
    return []
  }
  return given.map((entry: unknown, index) => {
    const level = typeof entry === 'object' && entry !== null ? (entry as Bag)['access_level'] : undefined
    const asked = `${place}[${index}][access_level]`
    if (level === undefined) faults.parameter(`${asked} is missing`)
    else if (![0, 30, 40, 60].includes(toNumber(level)))
      faults.parameter(`${asked} does not have a valid value`)
    return { access_level: toNumber(level) }
  })
}

function toNumber(given: unknown): number {
  return typeof given === 'number' || (typeof given === 'string' && given !== '') ? Number(given) : NaN
}

function takeSwitch(given: unknown, place: string, faults: Faults): boolean | undefined {
  const value = readFlag(given, place, [])
  if (typeof value === 'boolean') return value
  faults.parameter(`${place} is invalid`)
  return undefined
}

/** Weights of 0 to 100 by the name of a storage; which storages there are is known where they are configured. */
export function weights(
  fallback: Readonly<Record<string, number>>,
  about: string,
): Setting<Record<string, number>> {
  const schema = Hash(Int({ minimum: 0, maximum: 100 }))
  return setting<Record<string, number>>(schema, { ...fallback }, about, (given, name, faults) => {
    const bag = bagOf(given)
    if (bag === undefined) {
      faults.parameter(`${name} is invalid`)
      return undefined
    }
    const value: Record<string, number> = {}
    for (const [storage, sent] of Object.entries(bag)) {
      const weight = toNumber(sent)
      if (!Number.isInteger(weight)) faults.rule(name, `value for '${storage}' must be an integer`)
      else if (weight < 0 || weight > 100) {
        faults.rule(name, `value for '${storage}' must be between 0 and 100`)
      } else value[storage] = weight
    }
    return value
  })
}

const Marketplace = Fields({
  enabled: Optional(Flag()),
  preset: Optional(OneOf('open_vsx', 'custom')),
  custom_values: Optional(
    Fields({
      service_url: Optional(Text()),
      item_url: Optional(Text()),
      resource_url_template: Optional(Text()),
    }),
  ),
  extension_host_domain: Optional(Text()),
})
type Marketplace = Static<typeof Marketplace>

const marketplaceUrls = ['service_url', 'item_url', 'resource_url_template'] as const

/** Where an editor in the browser takes its extensions from. */
export function marketplace(about: string, traits: Traits): Setting<Marketplace> {
  return setting<Marketplace>(
    Marketplace,
    {},
    about,
    (given, name, faults) => {
      const bag = bagOf(given)
      if (bag === undefined) {
        faults.parameter(`${name} is invalid`)
        return undefined
      }
      const value = readMarketplace(bag)
      if (value === undefined) faults.rule(name, unfit)
      return value
    },
    traits,
  )
}

function readMarketplace(bag: Bag): Marketplace | undefined {
  const { enabled, preset, custom_values, extension_host_domain, ...others } = bag
  if (Object.keys(others).length > 0) return undefined
  const value: Marketplace = {}
  if (enabled !== undefined) {
    const on = readFlag(enabled, 'enabled', [])
    if (typeof on !== 'boolean') return undefined
    value.enabled = on
  }
  if (preset !== undefined) {
    if (preset !== 'open_vsx' && preset !== 'custom') return undefined
    value.preset = preset
  }
  if (extension_host_domain !== undefined) {
    if (typeof extension_host_domain !== 'string' || extension_host_domain.length > 255) return undefined
    value.extension_host_domain = extension_host_domain
  }
  if (custom_values !== undefined) {
    const own = bagOf(custom_values)
    if (own === undefined || !Object.entries(own).every(([key, url]) => isMarketplaceUrl(key, url))) {
      return undefined
    }
    value.custom_values = own
  }
  const complete = marketplaceUrls.every((key) => value.custom_values?.[key] !== undefined)
  return value.preset === 'custom' && !complete ? undefined : value
}

function isMarketplaceUrl(key: string, url: unknown): boolean {
  return (
    marketplaceUrls.some((one) => one === key) &&
    typeof url === 'string' &&
    url.length <= 1000 &&
    httpUrl(url) === undefined
  )
}

/** Any object, also as JSON text. */
export function anyObject(about: string, traits: Traits): Setting<Record<string, unknown>> {
  return setting<Record<string, unknown>>(
    Json(),
    {},
    about,
    (given, name, faults) => {
      const bag = bagOf(given)
      if (bag === undefined) faults.parameter(`${name} is invalid`)
      else if (JSON.stringify(bag).length > 10_000) faults.rule(name, unfit)
      else return { ...bag }
      return undefined
    },
    traits,
  )
}
