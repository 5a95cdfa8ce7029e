import { endpoint, findGroup, require, userOf } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Answer,
  Fields,
  Flag,
  Int,
  ListOf,
  Nullable,
  Optional,
  requireUnmodified,
  Text,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { setSubscription, type Owner } from '../noteables/index.ts'
import { GroupLabel, label, ProjectLabel, type LabelRow } from './entities.ts'
import { projectPlace, type Place } from './places.ts'
import { checkLabel, missing } from './rules.ts'
import * as store from './store.ts'

const settable = {
  description: Optional(Nullable(Text())),
}
const priority = { priority: Optional(Nullable(Int({ minimum: 0, maximum: 2 ** 31 - 1 }))) }

/** The endpoints of projects or groups. */
export function labelEndpoints<Kind extends SubjectKind>(
  { db }: { db: Database },
  place: Place<Kind>,
): Endpoint[] {
  const { kind, on, path, called, reading, writing, owner } = place
  const answers = kind === 'project' ? ProjectLabel : GroupLabel
  // Parameters that are not declared are never there, as optional ones may be.
  const ranked = kind === 'project' ? priority : ({} as typeof priority)
  const refuses = { 404: 'No such label: `404 Label Not Found`' }
  const changes = { new_name: Optional(Text()), color: Optional(Text()), ...settable, ...ranked }
  const changeable = ['new_name', 'color', 'description', ...Object.keys(ranked)]

  /** Only what is of the place itself is changed there, but for the priority, which each project has for itself. */
  const changed = async (
    call: Parameters<typeof owner>[0] & { readonly actor: Parameters<typeof userOf>[0] },
    row: LabelRow,
    params: {
      readonly new_name?: string
      readonly color?: string
      readonly description?: string | null
      readonly priority?: number | null
    },
  ): Promise<unknown> => {
    const title = (params.new_name ?? row.name).trim()
    const color = checkLabel({ title, color: params.color ?? row.color })
    const description = params.description === undefined ? row.description : params.description
    const to = owner(call)
    return db.transaction(async (tx) => {
      if (title !== row.name || color !== row.color || description !== row.description) {
        await store.change(tx, row.id, { title, color, description })
      }
      if (params.priority !== undefined) await store.prioritize(tx, to.id, row.id, params.priority)
      return label(await store.find(tx, to, userOf(call.actor).id, row.id))
    })
  }
  const removed = async ({
    rows,
    request,
  }: {
    readonly rows: readonly LabelRow[]
    readonly request: Parameters<typeof requireUnmodified>[0]
  }): Promise<void> => {
    requireUnmodified(request, rows[0]!.updated_at)
    await db.transaction((tx) => store.remove(tx, rows[0]!.id))
  }
  const own = { include_ancestor_groups: false } as const

  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the labels of ${called}`,
      on,
      may: reading,
      anonymous: true,
      paged: true,
      params: Fields({
        with_counts: Flag({ default: false, description: 'With the numbers of what has the label' }),
        include_ancestor_groups: Flag({ default: true }),
        search: Optional(Text({ description: 'Part of the name or description' })),
        ...(kind === 'group' && {
          include_descendant_groups: Flag({ default: false }),
          only_group_labels: Flag({ default: true, description: 'Without those of projects' }),
        }),
      }),
      answers: ListOf(answers),
      read: ({ params, page }) => store.list(kind, params as store.LabelFilter, page),
      handle: async ({ rows }) => rows.map(label),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:label_id`,
      summary: `Get a label of ${called} by its id or name`,
      on,
      may: reading,
      anonymous: true,
      record: 'Label',
      params: Fields({ label_id: Text(), include_ancestor_groups: Flag({ default: true }) }),
      answers,
      read: ({ params }) => store.one(kind, params.label_id, params),
      handle: async ({ rows }) => label(rows[0]!),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a label of ${called}`,
      on,
      may: writing,
      params: Fields({ name: Text(), color: Text(), ...settable, ...ranked }),
      answers,
      refuses: { 409: 'There is a label of this name, here or in a group above' },
      async handle(call) {
        const { params, actor } = call
        const title = params.name.trim()
        const color = checkLabel({ title, color: params.color })
        const of: Owner = owner(call)
        return db.transaction(async (tx) => {
          const id = await store.create(tx, of, { title, color, description: params.description ?? null })
          if (params.priority !== undefined) await store.prioritize(tx, of.id, id, params.priority)
          return label(await store.find(tx, of, userOf(actor).id, id))
        })
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:label_id`,
      summary: `Change a label of ${called}`,
      on,
      may: writing,
      record: 'Label',
      params: Fields({ label_id: Text(), ...changes }),
      rules: { atLeastOneOf: [changeable] },
      answers,
      refuses,
      read: ({ params }) => store.one(kind, params.label_id, own),
      handle: (call) => changed(call, call.rows[0]!, call.params),
    }),

    endpoint({
      method: 'PUT',
      path,
      summary: `Change a label of ${called} that a parameter names`,
      on,
      may: writing,
      record: 'Label',
      params: Fields({ label_id: Optional(Text()), name: Optional(Text()), ...changes }),
      rules: { exactlyOneOf: [['label_id', 'name']], atLeastOneOf: [changeable] },
      answers,
      refuses,
      read: ({ params }) => store.one(kind, params.label_id ?? params.name ?? '', own),
      handle: (call) => changed(call, call.rows[0]!, call.params),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:label_id`,
      summary: `Delete a label of ${called}`,
      on,
      may: writing,
      record: 'Label',
      params: Fields({ label_id: Text() }),
      answers: null,
      refuses,
      read: ({ params }) => store.one(kind, params.label_id, own),
      handle: removed,
    }),

    endpoint({
      method: 'DELETE',
      path,
      summary: `Delete a label of ${called} that a parameter names`,
      on,
      may: writing,
      record: 'Label',
      params: Fields({ label_id: Optional(Text()), name: Optional(Text()) }),
      rules: { exactlyOneOf: [['label_id', 'name']] },
      answers: null,
      refuses,
      read: ({ params }) => store.one(kind, params.label_id ?? params.name ?? '', own),
      handle: removed,
    }),

    ...(['subscribe', 'unsubscribe'] as const).map((verb) =>
      endpoint({
        method: 'POST',
        path: `${path}/:label_id/${verb}`,
        whileArchived: true,
        summary: `${verb === 'subscribe' ? 'Subscribe to' : 'Unsubscribe from'} a label of ${called}`,
        on,
        may: reading,
        record: 'Label',
        params: Fields({ label_id: Text() }),
        answers,
        refuses: { ...refuses },
        read: ({ params }) => store.one(kind, params.label_id),
        async handle({ actor, rows }) {
          const row = rows[0]!
          const subscribed = verb === 'subscribe'
          if (row.subscribed === subscribed) return new Answer(304)
          await db.transaction((tx) =>
            setSubscription(tx, { type: 'Label', id: row.id }, userOf(actor).id, subscribed),
          )
          return label({ ...row, subscribed })
        },
      }),
    ),
  ]
}

export function promotionEndpoint({ db }: { db: Database }): Endpoint {
  const { on, path, writing } = projectPlace
  return endpoint({
    method: 'PUT',
    path: `${path}/:label_id/promote`,
    summary: 'Make a label of a project one of its group',
    description: 'Labels of the same name in other projects of the group become the same one.',
    on,
    may: writing,
    record: 'Label',
    params: Fields({ label_id: Text() }),
    answers: GroupLabel,
    refuses: { 400: 'The project is in no group', 404: 'No such label: `404 Label Not Found`' },
    read: ({ params }) => store.one('project', params.label_id, { include_ancestor_groups: false }),
    async handle({ actor, project, rows }) {
      if (project.namespaceKind !== 'group') {
        throw badRequest('Failed to promote project label to group label')
      }
      const parent = await findGroup(db.reader, actor, project.namespaceId)
      if (parent === undefined) throw missing()
      require(actor, 'admin_label', parent)
      return db.transaction(async (tx) => {
        const id = await store.promote(tx, rows[0]!.id, parent.id)
        const of = { kind: 'group', id: parent.id, line: parent.line } as const
        return label(await store.find(tx, of, userOf(actor).id, id))
      })
    },
  })
}
