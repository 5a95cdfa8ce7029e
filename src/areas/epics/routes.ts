import { endpoint, type Actor } from '../../access/index.ts'
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
import { recordNotFound } from '../../kernel/errors/index.ts'
import { aboutEpic, aboutEpics, epic_iid, epicsPath } from './about.ts'
import { epic, Epic } from './entities.ts'
import type { EpicServices } from './index.ts'
import * as store from './store.ts'
import { changeEpic, createEpic, removeEpic } from './write.ts'

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
const negated = Fields({
  labels: Optional(titles()),
  author_id: Optional(Id()),
  author_username: Optional(Text()),
  my_reaction_emoji: Optional(Text()),
})

export function epicEndpoints(services: EpicServices): Endpoint[] {
  const { db, externalUrl } = services
  const shown = async (actor: Actor, id: number, from: string): Promise<unknown> => {
    const row = await store.find(db.reader, actor, id)
    if (row === undefined) throw recordNotFound()
    return epic(row, { externalUrl: externalUrl(), from })
  }
  return [
    endpoint({
      ...aboutEpics,
      method: 'GET',
      path: epicsPath,
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
      ...aboutEpic,
      method: 'GET',
      path: `${epicsPath}/:epic_iid`,
      summary: 'Get an epic of a group',
      may: 'read_epic',
      anonymous: true,
      params: Fields({ epic_iid }),
      answers: Epic,
      handle: async ({ rows, group: { fullPath } }) =>
        epic(rows[0]!, { externalUrl: externalUrl(), from: fullPath }),
    }),

    endpoint({
      ...aboutEpics,
      method: 'POST',
      path: epicsPath,
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
        const id = await db.transaction((tx) =>
          createEpic(services, tx, { actor, group: of }, { ...params, title: params.title.trim() }),
        )
        return shown(actor, id, of.fullPath)
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'PUT',
      path: `${epicsPath}/:epic_iid`,
      summary: 'Change an epic',
      may: 'admin_epic',
      params: Fields({ epic_iid, ...changing }),
      rules: { atLeastOneOf: [Object.keys(changing)] },
      answers: Epic,
      refuses: { 404: 'No such epic, or no such parent' },
      async handle({ actor, group: of, params, rows }) {
        const { id } = rows[0]!
        const change = { ...params, title: params.title?.trim() }
        await db.transaction((tx) => changeEpic(services, tx, { actor, group: of }, id, change))
        return shown(actor, id, of.fullPath)
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'DELETE',
      path: `${epicsPath}/:epic_iid`,
      summary: 'Delete an epic',
      description: 'What is below it stays, below nothing.',
      may: 'destroy_epic',
      params: Fields({ epic_iid }),
      answers: null,
      async handle({ actor, group: of, rows, request }) {
        const { id, updated_at } = rows[0]!
        requireUnmodified(request, updated_at)
        await db.transaction((tx) => removeEpic(services, tx, { actor, group: of }, id))
      },
    }),
  ]
}
