import { Fields, Flag, Id, ListOf, OneOf, Optional, type Static } from '../../kernel/endpoint/index.ts'
import { recordNotFound, unprocessable } from '../../kernel/errors/index.ts'
import type { Action, Entry } from './rules.ts'
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

type Levels = Static<ReturnType<typeof Fields<typeof levelParams & typeof entryParams>>>
type Changes = Static<ReturnType<typeof Fields<typeof changeParams>>>
type Wanted = NonNullable<Changes['allowed_to_push']>[number]

const actions = ['push', 'merge', 'unprotect'] as const
const usualLevel = 40

/** The entries of a new rule: levels and lists are merged; a kind for which nothing is said has Maintainers. */
export function newEntries(params: Levels): NewEntry[] {
  return actions.flatMap((action) => {
    const level = params[`${action}_access_level`]
    const listed = params[`allowed_to_${action}`] ?? []
    const entries = listed.map((wanted) => entryOf(action, wanted))
    if (level !== undefined)
      return [{ action, accessLevel: level, userId: null, deployKeyId: null }, ...entries]
    return entries.length > 0
      ? entries
      : [{ action, accessLevel: usualLevel, userId: null, deployKeyId: null }]
  })
}

export interface EntryChanges {
  readonly add: NewEntry[]
  readonly change: { id: number; entry: NewEntry }[]
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
      else result.change.push({ id: wanted.id, entry: entryOf(action, wanted) })
    }
  }
  return result
}

const kinds: Readonly<Record<Action, string>> = { push: 'Push', merge: 'Merge', unprotect: 'Unprotect' }

/** One entry names one target. Groups have no access to any project yet, and deploy keys only push. */
function entryOf(action: Action, wanted: Omit<Wanted, 'id' | '_destroy'>): NewEntry {
  const refuse = (text: string): never => {
    throw unprocessable([`${kinds[action]} access levels ${text}`])
  }
  if (wanted.group_id !== undefined) return refuse('group does not have access to the project')
  if (wanted.deploy_key_id !== undefined) {
    if (action !== 'push') return refuse('deploy key is not enabled for this project')
    return { action, accessLevel: null, userId: null, deployKeyId: wanted.deploy_key_id }
  }
  if (wanted.user_id !== undefined) {
    return { action, accessLevel: null, userId: wanted.user_id, deployKeyId: null }
  }
  if (wanted.access_level === undefined) return refuse("access level can't be blank")
  return { action, accessLevel: wanted.access_level, userId: null, deployKeyId: null }
}

/** Every user of an entry must be a member of the project. */
export function requireMembers(entries: readonly NewEntry[], members: ReadonlySet<number>): void {
  const stranger = entries.find(({ userId }) => userId !== null && !members.has(userId))
  if (stranger !== undefined) {
    throw unprocessable([`${kinds[stranger.action]} access levels user is not a member of the project`])
  }
}

/** Every deploy key of an entry must be enabled in the project with write access, by somebody who is a member. */
export function requirePushingKeys(
  entries: readonly NewEntry[],
  keys: ReadonlyMap<number, { readonly ownerIsMember: boolean }>,
): void {
  for (const { deployKeyId } of entries) {
    if (deployKeyId === null) continue
    const key = keys.get(deployKeyId)
    const problem =
      key === undefined
        ? 'is not enabled for this project'
        : key.ownerIsMember
          ? undefined
          : 'owner is not a project member'
    if (problem !== undefined) throw unprocessable([`Push access levels deploy key ${problem}`])
  }
}
