import { may, userOf, type Actor, type GroupSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { invalid, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import type { Events } from '../../tasks/index.ts'
import { checkTexts, tell } from '../issues/index.ts'
import { changeLabels, labelsNamed, parseColor, type LabelChange } from '../labels/index.ts'
import { recordState } from '../noteables/index.ts'
import * as store from './store.ts'
import { epicTarget, tellOfParent, toldOfChange } from './system-notes.ts'

export interface EpicWriting {
  readonly events: Events
}

/** Who changes an epic, and the group that it is in. */
export interface Writing {
  readonly actor: Actor
  readonly group: GroupSubject
}

export interface EpicFields {
  readonly description?: string | null | undefined
  readonly confidential?: boolean | undefined
  readonly color?: string | undefined
  readonly labels?: readonly string[] | null | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
  /** 0 or null: none. */
  readonly parent_id?: number | null | undefined
  readonly start_date_is_fixed?: boolean | undefined
  readonly start_date_fixed?: string | null | undefined
  readonly due_date_is_fixed?: boolean | undefined
  readonly due_date_fixed?: string | null | undefined
}

export interface NewEpic extends EpicFields {
  readonly title: string
  readonly created_at?: Date | undefined
}

export interface EpicChange extends EpicFields {
  readonly title?: string | undefined
  readonly state_event?: 'close' | 'reopen' | undefined
}

function announce(
  { events }: EpicWriting,
  tx: Tx,
  actor: Actor,
  epic: { readonly id: number; readonly groupId: number },
  news: { readonly action: string; readonly was?: object; readonly now?: object },
): Promise<void> {
  return events.announce(tx, 'epic', {
    userId: userOf(actor).id,
    payload: { ...news, epic_id: epic.id, group_id: epic.groupId },
  })
}

export async function createEpic(
  services: EpicWriting,
  tx: Tx,
  writing: Writing,
  given: NewEpic,
): Promise<number> {
  const { actor, group } = writing
  checkTexts(given)
  const color = colorOf(given.color)
  const parentId = given.parent_id ? await parentOf(tx, actor, null, given.parent_id) : null
  const author = userOf(actor).id
  const made = await store.create(tx, {
    groupId: group.id,
    authorId: author,
    title: given.title,
    description: given.description ?? null,
    confidential: given.confidential ?? false,
    color: color ?? null,
    parentId,
    createdAt: may(actor, 'admin_group', group) ? (given.created_at ?? null) : null,
  })
  const { start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed } = given
  await store.update(tx, made, { start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed })
  await label(tx, writing, made, given)
  await tellOfParent(tx, author, made, { from: null, to: parentId })
  await announce(services, tx, actor, { id: made, groupId: group.id }, { action: 'open' })
  return made
}

/** Changes an epic. The caller may. */
export async function changeEpic(
  services: EpicWriting,
  tx: Tx,
  writing: Writing,
  id: number,
  given: EpicChange,
): Promise<void> {
  const { actor } = writing
  checkTexts(given)
  const color = colorOf(given.color)
  const before = await store.lock(tx, id)
  if (before === undefined) throw recordNotFound()
  const user = userOf(actor).id
  const { state_event: event } = given
  const now = differing(before, {
    title: given.title,
    description: given.description,
    confidential: given.confidential,
    color,
    start_date_is_fixed: given.start_date_is_fixed,
    start_date_fixed: given.start_date_fixed,
    due_date_is_fixed: given.due_date_is_fixed,
    due_date_fixed: given.due_date_fixed,
    parent_id: given.parent_id ? await parentOf(tx, actor, id, given.parent_id) : given.parent_id,
    state: event === undefined ? undefined : event === 'close' ? 'closed' : 'opened',
  })
  await store.update(tx, id, {
    ...now,
    ...(now.state !== undefined && { closed_by_id: now.state === 'closed' ? user : null }),
  })
  await label(tx, writing, id, given)
  if (now.state !== undefined) {
    await recordState(tx, { type: 'Epic', id }, user, {
      state: now.state === 'closed' ? 'closed' : 'reopened',
    })
  }
  await tell(tx, epicTarget(id, before.namespace_id), user, toldOfChange(before, now))
  if (now.parent_id !== undefined) {
    await tellOfParent(tx, user, id, { from: before.parent_id, to: now.parent_id })
  }
  const was = Object.fromEntries(
    Object.keys(now).map((key) => [key, before[key as keyof store.StoredEpic & keyof store.EpicColumns]]),
  )
  const action = event !== undefined && now.state !== undefined ? event : 'update'
  await announce(services, tx, actor, { id, groupId: before.namespace_id }, { action, was, now })
}

export async function removeEpic(
  services: EpicWriting,
  tx: Tx,
  { actor, group }: Writing,
  id: number,
): Promise<void> {
  await store.remove(tx, id)
  await announce(services, tx, actor, { id, groupId: group.id }, { action: 'delete' })
}

/** What a change would write that is not there already. 0 stands for no parent. */
function differing(before: store.StoredEpic, wanted: store.EpicColumns): store.EpicColumns {
  const given = { ...wanted, ...(wanted.parent_id === 0 && { parent_id: null }) }
  return Object.fromEntries(
    Object.entries(given).filter(
      ([key, value]) => value !== undefined && value !== before[key as keyof store.StoredEpic],
    ),
  )
}

function colorOf(text: string | undefined): string | undefined {
  const parsed = text === undefined ? undefined : parseColor(text)
  if (text !== undefined && parsed === undefined) throw invalid({ color: ['must be a valid color code'] })
  return parsed
}

/** Labels of the groups; new ones become labels of the epic's own. */
async function label(
  tx: Tx,
  { actor, group }: Writing,
  id: number,
  { labels, add_labels: add = [], remove_labels: remove = [] }: EpicFields,
): Promise<void> {
  if (labels === undefined && add.length === 0 && remove.length === 0) return
  const place = { projectId: null, line: group.line }
  const create = may(actor, 'admin_label', group)
  const change: LabelChange =
    labels === undefined
      ? {
          add: await labelsNamed(tx, place, add, create),
          remove: await labelsNamed(tx, place, remove, false),
        }
      : { set: await labelsNamed(tx, place, [...(labels ?? []), ...add], create) }
  await changeLabels(tx, { type: 'Epic', id }, change, userOf(actor).id)
}

/** The epic that another one is to come below: one that the caller sees, and with room for it. */
export async function parentOf(tx: Tx, actor: Actor, id: number | null, parentId: number): Promise<number> {
  const row = await store.find(tx, actor, parentId)
  if (row === undefined) throw notFound('Epic')
  if (!(await store.fitsBelow(tx, id, parentId))) {
    throw invalid({ parent: ["can't be added as it is below the epic, or the tree would become too deep"] })
  }
  return row.id
}
