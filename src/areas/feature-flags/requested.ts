import {
  Fields,
  Flag,
  Hash,
  Id,
  Json,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { strategyNames, type StrategyName, type StrategyRow } from './entities.ts'
import type { Strategy } from './rules.ts'

const parameters = Optional(Hash(Json(), { description: 'Texts by their names, as programs know them' }))
const userList = Optional(Id({ description: 'Of the strategy gitlabUserList' }))

export const newStrategies = Optional(
  ListOf(
    Fields({
      name: OneOf(strategyNames, {}),
      parameters,
      user_list_id: userList,
      scopes: Optional(ListOf(Fields({ environment_scope: Text() }))),
    }),
  ),
)

const change = { id: Optional(Id()), _destroy: Optional(Flag({ description: 'Takes it away' })) }

export const changedStrategies = Optional(
  ListOf(
    Fields({
      ...change,
      name: Optional(OneOf(strategyNames, {})),
      parameters,
      user_list_id: userList,
      scopes: Optional(ListOf(Fields({ ...change, environment_scope: Optional(Text()) }))),
    }),
  ),
)

type New = Static<typeof newStrategies>
type Changed = Static<typeof changedStrategies>

export function strategiesOf(asked: New = []): Strategy[] {
  return asked.map((one) => ({
    name: one.name,
    parameters: one.parameters ?? {},
    userListId: one.user_list_id ?? null,
    scopes: (one.scopes ?? []).map(({ environment_scope: scope }) => scope),
  }))
}

/** A strategy after a change, with the ids of what of it was there before. */
export interface KeptStrategy extends Strategy {
  readonly id: number | undefined
  readonly kept: readonly { readonly id: number | undefined; readonly scope: string }[]
}

/** The strategies of a flag after these were added, changed or taken away; others stay as they are. */
export function strategiesAfter(before: readonly StrategyRow[], asked: Changed = []): KeptStrategy[] {
  const after = new Map<number, KeptStrategy>(before.map((row) => [row.id, keptAs(row)]))
  const added: KeptStrategy[] = []
  for (const wanted of asked) {
    const { id, _destroy: destroyed = false } = wanted
    if (id === undefined) {
      added.push(changedBy(undefined, wanted))
      continue
    }
    const known = after.get(id)
    if (known === undefined) throw recordNotFound()
    if (destroyed) after.delete(id)
    else after.set(id, changedBy(known, wanted))
  }
  return [...after.values(), ...added]
}

function keptAs({ id, name, parameters: given, user_list: list, scopes }: StrategyRow): KeptStrategy {
  return {
    id,
    name,
    parameters: given,
    userListId: list?.id ?? null,
    scopes: scopes.map(({ environment_scope: scope }) => scope),
    kept: scopes.map(({ id: scopeId, environment_scope: scope }) => ({ id: scopeId, scope })),
  }
}

function changedBy(known: KeptStrategy | undefined, wanted: NonNullable<Changed>[number]): KeptStrategy {
  const name: StrategyName = wanted.name ?? known?.name ?? 'default'
  const another = known !== undefined && known.name !== name
  const kept = scopesAfter(known?.kept ?? [], wanted.scopes)
  return {
    id: known?.id,
    name,
    parameters: wanted.parameters ?? (another ? {} : (known?.parameters ?? {})),
    userListId: wanted.user_list_id ?? (another ? null : (known?.userListId ?? null)),
    kept,
    scopes: kept.map(({ scope }) => scope),
  }
}

function scopesAfter(
  before: KeptStrategy['kept'],
  asked: NonNullable<Changed>[number]['scopes'] = [],
): KeptStrategy['kept'] {
  let after = [...before]
  for (const { id, environment_scope: scope, _destroy: destroyed = false } of asked) {
    if (id === undefined) {
      after.push({ id, scope: scope ?? '' })
      continue
    }
    if (!after.some((one) => one.id === id)) throw recordNotFound()
    after = destroyed
      ? after.filter((one) => one.id !== id)
      : after.map((one) => (one.id === id ? { id, scope: scope ?? one.scope } : one))
  }
  return after
}
