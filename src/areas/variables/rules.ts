import type { KeeperKind } from '../../access/index.ts'
import { isMaskable } from '../../ci/index.ts'
import { conflict, invalid, invalidParameters, notFound } from '../../kernel/errors/index.ts'
import type { VariableRow } from './entities.ts'

/** What differs between the places that keep variables (completions, 2.9). */
export interface PlaceRules {
  readonly maximum: number
  /** As the refusal of one more calls them. */
  readonly plural: string
  /** As the refusal of a missing one calls it. */
  readonly singular: string
  /** Whether they know environment scopes; otherwise all have `*`. */
  readonly scoped: boolean
  /** Characters of a value of type `file`. */
  readonly longestFile: number
}

const longestText = 255
const longestValue = 10_000

export const placeRules: Readonly<Record<KeeperKind, PlaceRules>> = {
  project: {
    maximum: 8000,
    plural: 'project ci variables',
    singular: 'Variable',
    scoped: true,
    longestFile: longestValue,
  },
  group: {
    maximum: 30_000,
    plural: 'group ci variables',
    singular: 'GroupVariable',
    scoped: true,
    longestFile: longestValue,
  },
  instance: {
    maximum: 25,
    plural: 'ci instance level variables',
    singular: 'InstanceVariable',
    scoped: false,
    longestFile: 50_000,
  },
}

/** What a variable will be once a write is done. */
export interface VariableState {
  readonly type: string
  readonly key: string
  readonly value: string
  readonly environmentScope: string
  readonly description: string | null
  readonly masked: boolean
  readonly raw: boolean
}

/** Refuses, with the texts of the completions (2.3), what breaks a rule; all faults of all attributes at once. */
export function check(kind: KeeperKind, state: VariableState): void {
  const { key, value, environmentScope, description, masked, raw } = state
  const faults: Record<string, string[]> = {}
  const fault = (attribute: string, text: string): void => {
    faults[attribute] = [...(faults[attribute] ?? []), text]
  }
  const tooLong = `is too long (maximum is ${longestText} characters)`
  if (key === '') fault('key', "can't be blank")
  if (isLonger(key, longestText)) fault('key', tooLong)
  if (!/^[a-zA-Z0-9_]+$/.test(key)) fault('key', "can contain only letters, digits and '_'.")
  if (environmentScope === '') fault('environment_scope', "can't be blank")
  if (isLonger(environmentScope, longestText)) fault('environment_scope', tooLong)
  if (!/^[a-zA-Z0-9_/${}.* -]+$/.test(environmentScope)) {
    fault(
      'environment_scope',
      "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
    )
  }
  if (isLonger(description ?? '', longestText)) fault('description', tooLong)
  const longest = state.type === 'file' ? placeRules[kind].longestFile : longestValue
  if (isLonger(value, longest)) {
    fault('value', `The value of the provided variable exceeds the ${longest} character limit`)
  }
  if (masked && !isMaskable(value, raw)) fault('value', 'is invalid')
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** In characters, of which some are two units of a JavaScript text. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || Array.from(text).length > limit)
}

/**
 * The one variable that a call means. The filter is exact text. Several of the key and none chosen is 409; with a
 * single one, a filter that does not name it finds nothing.
 */
export function only(
  kind: KeeperKind,
  candidates: readonly VariableRow[],
  scope: string | undefined,
): VariableRow {
  const chosen = chosenBy(candidates, scope)
  if (chosen !== undefined) return chosen
  if (candidates.length > 1) {
    throw conflict(
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
    )
  }
  throw notFound(placeRules[kind].singular)
}

/** Refuses a change without a value: only who may not see it cannot send it along. Said before there is no such variable. */
export function requireValue(
  value: string | undefined,
  candidates: readonly VariableRow[],
  scope: string | undefined,
): void {
  if (value === undefined && chosenBy(candidates, scope)?.hidden !== true) {
    throw invalidParameters(['value is missing'])
  }
}

function chosenBy(candidates: readonly VariableRow[], scope: string | undefined): VariableRow | undefined {
  const chosen =
    scope === undefined ? candidates : candidates.filter((row) => row.environment_scope === scope)
  return chosen.length === 1 ? chosen[0] : undefined
}

/** A hidden variable stays hidden and masked for good, and only a new one can become hidden. */
export function checkVisibility(
  row: VariableRow,
  { masked, hidden }: { readonly masked: boolean; readonly hidden: boolean },
): void {
  if (row.hidden && !(masked && hidden)) {
    throw invalid({ base: ['The visibility setting cannot be changed for masked and hidden variables.'] })
  }
  if (hidden && !row.hidden) {
    throw invalid({ base: ['Only new variables can be set as masked and hidden.'] })
  }
}

export function taken(key: string): Error {
  return invalid({ key: [`${key} has already been taken`] })
}

export function limitReached(kind: KeeperKind, most: number): Error {
  return invalid({ base: [`Maximum number of ${placeRules[kind].plural} (${most}) exceeded`] })
}
