import type { Plan } from '../kernel/config/index.ts'
import type { Static, TSchema, TUnsafe } from '../kernel/endpoint/types.ts'
import type { Faults } from './faults.ts'

/** What may be said of a setting besides its type. */
export interface Traits {
  /** Only with this plan or a higher one; below it the setting is neither shown nor taken, and has its default. */
  readonly plan?: Plan
  /** The vendor's spelling, which clients may send and look for. */
  readonly vendor?: string
  /** Kept encrypted, and never shown. */
  readonly secret?: true
  /** A secret that the specification shows nevertheless. */
  readonly shown?: true
  /** Stored and shown, with no effect of its own: for clients and interfaces to read. */
  readonly recorded?: true
  /** Acts only through this service of somebody else. */
  readonly needs?: string
}

/** One instance setting: shape with its default, and what it does. API, storage and manual derive from the row. */
export interface Setting<T = unknown> extends Traits {
  /** As it is answered. */
  readonly schema: TUnsafe<T>
  readonly fallback: T
  /** What one sees when it is changed. */
  readonly about: string
  /** The value of what was sent, or undefined and a fault. */
  readonly take: (given: unknown, name: string, faults: Faults) => T | undefined
}

export type ValueOf<S extends Setting> = Static<S['schema']>

export function setting<T>(
  schema: TSchema,
  fallback: T,
  about: string,
  take: Setting<T>['take'],
  traits: Traits = {},
): Setting<T> {
  const { plan, vendor, secret, shown, recorded, needs } = traits
  return {
    schema: schema as TUnsafe<T>,
    fallback,
    about,
    take,
    ...(plan !== undefined && { plan }),
    ...(vendor !== undefined && { vendor }),
    ...(secret && { secret }),
    ...(shown && { shown }),
    ...(recorded && { recorded }),
    ...(needs !== undefined && { needs }),
  }
}
