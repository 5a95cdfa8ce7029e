import { invalidParameters } from '../../kernel/errors/index.ts'
import type { Gates } from '../../settings/index.ts'

export interface Wanted {
  readonly value: number | boolean
  readonly key?: 'percentage_of_time' | 'percentage_of_actors' | undefined
  readonly feature_group?: string | undefined
  /** Who is named, as `User:1`; undefined when nobody is. */
  readonly actors: readonly string[] | undefined
}

/** What is said of a feature once this is done. A share is a number; people and places are let in or out by name. */
export function changedGates(before: Gates, { value, key, feature_group, actors }: Wanted): Gates {
  if (actors !== undefined || feature_group !== undefined) {
    const on = value === true || value === 1 || value === 100
    return {
      ...before,
      ...(actors !== undefined && { actors: changed(before.actors, actors, on) }),
      ...(feature_group !== undefined && { groups: changed(before.groups, [feature_group], on) }),
    }
  }
  if (typeof value === 'number') return { ...before, [key ?? 'percentage_of_time']: value }
  if (key !== undefined) throw invalidParameters(['value is invalid'])
  // On is for everybody, whatever else was said; off takes back all of it.
  return value ? { ...before, boolean: true } : { boolean: false }
}

function changed(before: readonly string[] = [], named: readonly string[], on: boolean): string[] {
  const others = before.filter((one) => !named.includes(one))
  return on ? [...others, ...named] : others
}
