import { endpoint, group, may, userOf, type Actor, type GroupSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import {
  DateOnly,
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { invalid, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import { checkTexts } from '../issues/index.ts'
import { changeLabels, labelsNamed, parseColor, type LabelChange } from '../labels/index.ts'
import { recordState } from '../noteables/index.ts'
import { epic, Epic } from './entities.ts'
import type { EpicServices } from './index.ts'
import * as store from './store.ts'

const titles = () => ListOf(Text(), { commaSeparated: true, single: true })

const settable = {
  description: Optional(Nullable(Text())),
  labels: Optional(Nullable(titles())),
  color: Optional(Text()),
  confidential: Optional(Flag()),
  parent_id: Optional(Nullable(Id({ description: '0 for none' }))),
  start_date_is_fixed: Optional(Flag()),
  start_date_fixed: Optional(Nullable(DateOnly())),
  due_date_is_fixed: Optional(Flag()),
  due_date_fixed: Optional(Nullable(DateOnly())),
}
const changing = {
  title: Optional(Text({ blank: false })),
  ...settable,
  add_labels: Optional(titles()),
  remove_labels: Optional(titles()),
  state_event: Optional(OneOf('close', 'reopen')),
}
type Settable = {
  readonly labels?: readonly string[] | null
  readonly add_labels?: readonly string[]
  readonly remove_labels?: readonly string[]
}

const negated = Fields({
  labels: Optional(titles()),
  author_id: Optional(Id()),
  author_username: Optional(Text()),
  my_reaction_emoji: Optional(Text()),
})

function colorOf(text: string | undefined): string | undefined {
  const parsed = text === undefined ? undefined : parseColor(text)
  if (text !== undefined && parsed === undefined) throw invalid({ color: ['must be a valid color code'] })
  return parsed
}

/** Labels of the groups; new ones become labels of the epic's own. */
async function label(
  tx: Tx,
  actor: Actor,
  of: GroupSubject,
  id: number,
  { labels, add_labels: add = [], remove_labels: remove = [] }: Settable,
): Promise<void> {
  if (labels === undefined && add.length === 0 && remove.length === 0) return
  const place = { projectId: null, line: of.line }
  const create = may(actor, 'admin_label', of)
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
export async function parentOf(
  { db }: EpicServices,
  tx: Tx,
  actor: Actor,
  id: number | null,
  parentId: number,
): Promise<number> {
  const row = await store.find(db.reader, actor, parentId)
  if (row === undefined) throw notFound('Epic')
  if (!(await store.fitsBelow(tx, id, parentId))) {
    throw invalid({ parent: ["can't be added as it is below the epic, or the tree would become too deep"] })
  }
  return row.id
}

export function epicEndpoints(services: EpicServices): Endpoint[] {
  const { db, externalUrl, events } = services
  const path = '/groups/:id/epics'
  const epic_iid = Id()
  const about = { on: group, plan: 'ultimate' } as const
  const one = {
    ...about,
    record: true,
    read: ({ params }: { params: { epic_iid: number } }) => store.one(params.epic_iid),
  } as const
  const shown = async (actor: Actor, id: number, from: string): Promise<unknown> => {
    const row = await store.find(db.reader, actor, id)
    if (row === undefined) throw recordNotFound()
    return epic(row, { externalUrl: externalUrl(), from })
  }
  const announce = (tx: Tx, actor: Actor, groupId: number, epicId: number, action: string): Promise<void> =>
    events.announce(tx, 'epic', {
      userId: userOf(actor).id,
      payload: { action, epic_id: epicId, group_id: groupId },
    })

  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: 'List the epics of a group and its subgroups',
      may: 'read_epic',
      anonymous: true,
      paged: true,
      params: Fields({
        state: OneOf(['opened', 'closed', 'all'], { default: 'all' }),
        author_id: Optional(Id()),
        author_username: Optional(Text()),
        labels: Optional(titles()),
        search: Optional(Text({ description: 'Words that the title or the description has' })),
        confidential: Optional(Flag()),
        my_reaction_emoji: Optional(Text({ description: 'Name; also `None`, `Any`' })),
        created_after: Optional(DateTime()),
        created_before: Optional(DateTime()),
        updated_after: Optional(DateTime()),
        updated_before: Optional(DateTime()),
        include_ancestor_groups: Flag({ default: false }),
        include_descendant_groups: Flag({ default: true }),
        order_by: OneOf(['created_at', 'updated_at', 'title'], { default: 'created_at' }),
        sort: OneOf(['asc', 'desc'], { default: 'desc' }),
        with_labels_details: Flag({ default: false }),
        not: Optional(negated),
      }),
      rules: { mutuallyExclusive: [['author_id', 'author_username']] },
      answers: ListOf(Epic),
      read: ({ params, page }) => store.list(params, page),
      handle: async ({ rows, group: { fullPath } }) =>
        rows.map((row) => epic(row, { externalUrl: externalUrl(), from: fullPath })),
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:epic_iid`,
      summary: 'Get an epic of a group',
      may: 'read_epic',
      anonymous: true,
      params: Fields({ epic_iid }),
      answers: Epic,
      handle: async ({ rows, group: { fullPath } }) =>
        epic(rows[0]!, { externalUrl: externalUrl(), from: fullPath }),
    }),

    endpoint({
      ...about,
      method: 'POST',
      path,
      summary: 'Create an epic',
      may: 'admin_epic',
      params: Fields({
        title: Text({ blank: false }),
        ...settable,
        created_at: Optional(DateTime({ description: 'For Owners and administrators' })),
      }),
      answers: Epic,
      refuses: { 404: 'No such parent: `404 Epic Not Found`' },
      async handle({ actor, group: of, params }) {
        const { title, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed } =
          params
        checkTexts(params)
        const color = colorOf(params.color)
        const id = await db.transaction(async (tx) => {
          const made = await store.create(tx, {
            groupId: of.id,
            authorId: userOf(actor).id,
            title: title.trim(),
            description: params.description ?? null,
            confidential: params.confidential ?? false,
            color: color ?? null,
            parentId: parent_id ? await parentOf(services, tx, actor, null, parent_id) : null,
            createdAt: may(actor, 'admin_group', of) ? (params.created_at ?? null) : null,
          })
          await store.update(tx, made, {
            start_date_is_fixed,
            start_date_fixed,
            due_date_is_fixed,
            due_date_fixed,
          })
          await label(tx, actor, of, made, params)
          await announce(tx, actor, of.id, made, 'open')
          return made
        })
        return shown(actor, id, of.fullPath)
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:epic_iid`,
      summary: 'Change an epic',
      may: 'admin_epic',
      params: Fields({ epic_iid, ...changing }),
      rules: { atLeastOneOf: [Object.keys(changing)] },
      answers: Epic,
      refuses: { 404: 'No such epic, or no such parent' },
      async handle({ actor, group: of, params, rows }) {
        const { id } = rows[0]!
        const { labels, add_labels, remove_labels, state_event, parent_id } = params
        checkTexts(params)
        const color = colorOf(params.color)
        await db.transaction(async (tx) => {
          const before = await store.lock(tx, id)
          if (before === undefined) throw recordNotFound()
          const wanted =
            state_event === undefined ? before.state : state_event === 'close' ? 'closed' : 'opened'
          const state = wanted === before.state ? undefined : wanted
          const user = userOf(actor).id
          await store.update(tx, id, {
            title: params.title?.trim(),
            description: params.description,
            confidential: params.confidential,
            color,
            start_date_is_fixed: params.start_date_is_fixed,
            start_date_fixed: params.start_date_fixed,
            due_date_is_fixed: params.due_date_is_fixed,
            due_date_fixed: params.due_date_fixed,
            parent_id: parent_id
              ? await parentOf(services, tx, actor, id, parent_id)
              : parent_id === undefined
                ? undefined
                : null,
            state,
            closed_by_id: state === undefined ? undefined : state === 'closed' ? user : null,
          })
          await label(tx, actor, of, id, {
            ...(labels !== undefined && { labels }),
            ...(add_labels !== undefined && { add_labels }),
            ...(remove_labels !== undefined && { remove_labels }),
          })
          if (state !== undefined) {
            await recordState(tx, { type: 'Epic', id }, user, {
              state: state === 'closed' ? 'closed' : 'reopened',
            })
          }
          await announce(tx, actor, of.id, id, state === undefined ? 'update' : state_event!)
        })
        return shown(actor, id, of.fullPath)
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:epic_iid`,
      summary: 'Delete an epic',
      description: 'What is below it stays, below nothing.',
      may: 'destroy_epic',
      params: Fields({ epic_iid }),
      answers: null,
      async handle({ actor, group: of, rows, request }) {
        const { id, updated_at } = rows[0]!
        requireUnmodified(request, new Date(updated_at))
        await db.transaction(async (tx) => {
          await store.remove(tx, id)
          await announce(tx, actor, of.id, id, 'delete')
        })
      },
    }),
  ]
}
