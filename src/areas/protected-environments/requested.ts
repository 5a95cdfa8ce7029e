import { Fields, Flag, Id, Int, ListOf, OneOf, Optional, type Static } from '../../kernel/endpoint/index.ts'
import { recordNotFound, unprocessable } from '../../kernel/errors/index.ts'
import type { Action, EntryRow } from './entities.ts'

/** Each says whom, in one of three ways. */
const target = {
  access_level: Optional(OneOf(30, 40, 60)),
  user_id: Optional(Id()),
  group_id: Optional(Id()),
  group_inheritance_type: Optional(OneOf(0, 1)),
}
const mostApprovals = 5
const required = { required_approvals: Optional(Int({ minimum: 1, maximum: mostApprovals })) }
const changes = { id: Optional(Id()), _destroy: Optional(Flag({ description: 'Takes it away' })) }

export const approvalCount = Optional(Int({ minimum: 0, maximum: mostApprovals }))

export const newParams = {
  deploy_access_levels: ListOf(Fields(target)),
  approval_rules: Optional(ListOf(Fields({ ...target, ...required }))),
}

export const changeParams = {
  deploy_access_levels: Optional(ListOf(Fields({ ...changes, ...target }))),
  approval_rules: Optional(ListOf(Fields({ ...changes, ...target, ...required }))),
}

type Declared = Static<ReturnType<typeof Fields<typeof changes & typeof target & typeof required>>>
type Wanted = { readonly [Key in keyof Declared]?: Declared[Key] | undefined }
interface Asked {
  readonly deploy_access_levels?: readonly Wanted[] | undefined
  readonly approval_rules?: readonly Wanted[] | undefined
}

/** An entry as it is kept. */
export interface Entry {
  readonly action: Action
  readonly access_level: number | null
  readonly user_id: number | null
  readonly group_id: number | null
  readonly group_inheritance_type: number
  readonly required_approvals: number | null
}

const lists = { deploy: 'deploy_access_levels', approve: 'approval_rules' } as const
const words = { deploy: 'Deploy access levels', approve: 'Approval rules' } as const
const actions = ['deploy', 'approve'] as const

export function newEntries(asked: Asked): Entry[] {
  if (asked.deploy_access_levels?.length === 0) throw unprocessable(["Deploy access levels can't be blank"])
  return actions.flatMap((action) => (asked[lists[action]] ?? []).map((wanted) => entryOf(action, wanted)))
}

export interface EntryChanges {
  readonly add: Entry[]
  readonly change: { readonly id: number; readonly entry: Entry }[]
  readonly remove: number[]
}

/** What a PUT asks for. The `id` of an element must be one of the rule's entries of that kind. */
export function entryChanges(asked: Asked, existing: readonly EntryRow[]): EntryChanges {
  const result: EntryChanges = { add: [], change: [], remove: [] }
  for (const action of actions) {
    for (const wanted of asked[lists[action]] ?? []) {
      if (wanted.id === undefined) {
        result.add.push(entryOf(action, wanted))
        continue
      }
      const before = existing.find((entry) => entry.id === wanted.id && entry.action === action)
      if (before === undefined) throw recordNotFound()
      if (wanted._destroy === true) result.remove.push(before.id)
      else result.change.push({ id: before.id, entry: changed(before, wanted) })
    }
  }
  return result
}

/** A group or user goes before a level: clients say both. */
function entryOf(action: Action, wanted: Wanted): Entry {
  const { group_id = null, user_id = null, access_level = null } = wanted
  if (group_id === null && user_id === null && access_level === null) {
    throw unprocessable([`${words[action]} access level can't be blank`])
  }
  return {
    action,
    group_id,
    user_id: group_id === null ? user_id : null,
    access_level: group_id === null && user_id === null ? access_level : null,
    group_inheritance_type: wanted.group_inheritance_type ?? 0,
    required_approvals: action === 'approve' ? (wanted.required_approvals ?? 1) : null,
  }
}

function changed(before: EntryRow, wanted: Wanted): Entry {
  const { user_id, group_id, access_level } = wanted
  const named = [user_id, group_id, access_level].some((value) => value !== undefined)
  const { required_approvals, group_inheritance_type } = before
  return entryOf(before.action, {
    ...(named
      ? { user_id, group_id, access_level }
      : {
          user_id: before.user_id ?? undefined,
          group_id: before.group_id ?? undefined,
          access_level: (before.access_level ?? undefined) as Wanted['access_level'],
        }),
    group_inheritance_type:
      wanted.group_inheritance_type ?? (group_inheritance_type as Wanted['group_inheritance_type']),
    required_approvals: wanted.required_approvals ?? required_approvals ?? undefined,
  })
}

export { words as actionWords }
