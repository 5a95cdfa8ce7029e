import { entryFor, type AccessEntry } from '../../access/index.ts'
import { Fields, Flag, Id, ListOf, OneOf, Optional, type Static } from '../../kernel/endpoint/index.ts'
import { recordNotFound, unprocessable } from '../../kernel/errors/index.ts'
import { isLonger } from '../../kernel/lib/characters.ts'
import { actionWords, type Action, type Entry } from './rules.ts'
import type { NewEntry } from './store.ts'

const targets = {
  user_id: Optional(Id()),
  group_id: Optional(Id()),
  deploy_key_id: Optional(Id()),
}
const Level = OneOf(0, 30, 40, 60)
/** Nobody could ever lift a rule that no one may lift. */
const UnprotectLevel = OneOf(30, 40, 60)

export const levelParams = {
  push_access_level: Optional(Level),
  merge_access_level: Optional(Level),
  unprotect_access_level: Optional(UnprotectLevel),
}

export const entryParams = {
  allowed_to_push: Optional(ListOf(Fields({ access_level: Optional(Level), ...targets }))),
  allowed_to_merge: Optional(ListOf(Fields({ access_level: Optional(Level), ...targets }))),
  allowed_to_unprotect: Optional(ListOf(Fields({ access_level: Optional(UnprotectLevel), ...targets }))),
}

const changes = { id: Optional(Id()), _destroy: Optional(Flag()), ...targets }

export const changeParams = {
  allowed_to_push: Optional(ListOf(Fields({ access_level: Optional(Level), ...changes }))),
  allowed_to_merge: Optional(ListOf(Fields({ access_level: Optional(Level), ...changes }))),
  allowed_to_unprotect: Optional(ListOf(Fields({ access_level: Optional(UnprotectLevel), ...changes }))),
}

/** Rules of groups name levels only. */
export const groupEntryParams = {
  allowed_to_push: Optional(ListOf(Fields({ access_level: Level }))),
  allowed_to_merge: Optional(ListOf(Fields({ access_level: Level }))),
  allowed_to_unprotect: Optional(ListOf(Fields({ access_level: UnprotectLevel }))),
}

const groupChanges = { id: Optional(Id()), _destroy: Optional(Flag()) }

export const groupChangeParams = {
  allowed_to_push: Optional(ListOf(Fields({ access_level: Optional(Level), ...groupChanges }))),
  allowed_to_merge: Optional(ListOf(Fields({ access_level: Optional(Level), ...groupChanges }))),
  allowed_to_unprotect: Optional(ListOf(Fields({ access_level: Optional(UnprotectLevel), ...groupChanges }))),
}

type Levels = Static<ReturnType<typeof Fields<typeof levelParams & typeof entryParams>>>
type Changes = Static<ReturnType<typeof Fields<typeof changeParams>>>
type Wanted = NonNullable<Changes['allowed_to_push']>[number]

const longestName = 255

/** Refuses names that an index could not hold, in the words of rules for branches and tags alike. */
export function checkName(name: string): void {
  if (isLonger(name, longestName))
    throw unprocessable([`Name is too long (maximum is ${longestName} characters)`])
}

const actions = ['push', 'merge', 'unprotect'] as const
const usualLevel = 40

/** The entries of a new rule: levels and lists are merged; a kind for which nothing is said has Maintainers. */
export function newEntries(params: Levels): NewEntry[] {
  return actions.flatMap((action) => {
    const level = params[`${action}_access_level`]
    const entries = (params[`allowed_to_${action}`] ?? []).map((wanted) => entryOf(action, wanted))
    if (level !== undefined) return [levelEntry(action, level), ...entries]
    return entries.length > 0 ? entries : [levelEntry(action, usualLevel)]
  })
}

export function levelEntry(action: Action, accessLevel: number): NewEntry {
  return { action, ...entryFor({ accessLevel }) }
}

export interface EntryChanges {
  readonly add: NewEntry[]
  readonly change: { readonly id: number; readonly entry: NewEntry }[]
  readonly remove: number[]
}

/** What a PATCH asks for. An element's `id` must be one of the rule's entries of that kind. */
export function entryChanges(params: Changes, existing: readonly Entry[]): EntryChanges {
  const result: EntryChanges = { add: [], change: [], remove: [] }
  for (const action of actions) {
    for (const wanted of params[`allowed_to_${action}`] ?? []) {
      if (wanted.id === undefined) {
        result.add.push(entryOf(action, wanted))
        continue
      }
      if (!existing.some((entry) => entry.id === wanted.id && entry.action === action)) throw recordNotFound()
      if (wanted._destroy === true) result.remove.push(wanted.id)
      else if (namesTarget(wanted)) result.change.push({ id: wanted.id, entry: entryOf(action, wanted) })
    }
  }
  return result
}

function namesTarget(wanted: Wanted): boolean {
  return Object.keys({ ...targets, access_level: 0 }).some((key) => wanted[key as keyof Wanted] !== undefined)
}

/** One entry names one target. Deploy keys only push. */
function entryOf(action: Action, wanted: Omit<Wanted, 'id' | '_destroy'>): NewEntry {
  const refuse = (text: string): never => {
    throw unprocessable([`${actionWords[action]} access levels ${text}`])
  }
  if (wanted.deploy_key_id !== undefined && action !== 'push') {
    return refuse('deploy key is not enabled for this project')
  }
  const target = targetOf(wanted)
  return target === undefined ? refuse("access level can't be blank") : { action, ...target }
}

/** Whom an element names: a group, a key, a user, or all from a level on; undefined when it says nothing. */
export function targetOf(wanted: {
  readonly access_level?: number | undefined
  readonly user_id?: number | undefined
  readonly deploy_key_id?: number | undefined
  readonly group_id?: number | undefined
}): AccessEntry | undefined {
  if (wanted.group_id !== undefined) return entryFor({ groupId: wanted.group_id })
  if (wanted.deploy_key_id !== undefined) return entryFor({ deployKeyId: wanted.deploy_key_id })
  if (wanted.user_id !== undefined) return entryFor({ userId: wanted.user_id })
  return wanted.access_level === undefined ? undefined : entryFor({ accessLevel: wanted.access_level })
}
