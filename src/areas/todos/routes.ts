import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  endpoint,
  epicVisible,
  group,
  instance,
  issueVisible,
  project,
  subjectRequestsReadable,
  userOf,
  type Actor,
} from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import {
  Answer,
  Fields,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  rows,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { Todo, todo } from './entities.ts'
import type { TodoServices } from './index.ts'
import { targetsOf } from './targets.ts'
import * as store from './store.ts'
import type { TodoRow } from './store.ts'

/** What the caller has to look at. */
export function todoEndpoints(services: TodoServices): Endpoint[] {
  const { db, externalUrl } = services
  const show = async (actor: Actor, found: readonly TodoRow[]) => {
    const targets = await targetsOf(services, actor, found)
    return found.flatMap((row) => {
      const target = targets(row)
      return target === undefined ? [] : [todo(row, target, externalUrl())]
    })
  }
  const showOne = async (actor: Actor, row: TodoRow | undefined) => {
    const [shown] = row === undefined ? [] : await show(actor, [row])
    if (shown === undefined) throw recordNotFound()
    return shown
  }

  return [
    endpoint({
      method: 'GET',
      path: '/todos',
      summary: "List the caller's to-dos",
      description: 'Those of what the caller can no longer read are left out.',
      on: instance,
      may: 'read_instance',
      paged: true,
      params: Fields({
        action: Optional(OneOf(store.actions, {})),
        author_id: Optional(Id()),
        project_id: Optional(Id()),
        group_id: Optional(Id({ description: 'Of the group and those below it' })),
        state: OneOf(['pending', 'done'], { default: 'pending' }),
        type: Optional(Text({ description: 'Issue, MergeRequest, Epic, Commit, Project or Namespace' })),
      }),
      answers: ListOf(Todo),
      async handle({ actor, params, page }) {
        const { rows: found, total } = await store.list(db.reader, actor, params, page)
        return new Page(await show(actor, found), { total, hasMore: total > page.offset + page.limit })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/todos/:id/mark_as_done',
      summary: "Mark one of the caller's to-dos as done",
      on: instance,
      may: 'read_instance',
      params: Fields({ id: Id() }),
      answers: Todo,
      refuses: { 404: 'No such to-do of the caller' },
      async handle({ actor, params }) {
        await db.transaction((tx) => store.markDone(tx, userOf(actor).id, params.id))
        return showOne(actor, await store.findTodo(db.writer, actor, params.id))
      },
    }),

    endpoint({
      method: 'POST',
      path: '/todos/mark_as_done',
      summary: "Mark all of the caller's to-dos as done",
      on: instance,
      may: 'read_instance',
      params: Fields({}),
      status: 204,
      answers: null,
      handle: ({ actor }) => db.transaction((tx) => store.markDone(tx, userOf(actor).id)),
    }),

    ...marking({
      kind: 'Issue',
      called: 'an issue',
      about: { on: project, may: 'read_issue' },
      path: '/projects/:id/issues/:issue_iid',
      find: (iid) => sql`
        select i.id from issues i where i.project_id = subject.id and i.iid = ${iid} and ${issueVisible}`,
    }),
    ...marking({
      kind: 'MergeRequest',
      called: 'a merge request',
      about: { on: project, may: 'read_project' },
      path: '/projects/:id/merge_requests/:merge_request_iid',
      find: (iid) => sql`
        select m.id from merge_requests m
        where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`,
    }),
    ...marking({
      kind: 'Epic',
      called: 'an epic',
      about: { on: group, may: 'read_epic', plan: planOf.epics },
      path: '/groups/:id/epics/:epic_iid',
      find: (iid) => sql`
        select e.id from epics e where e.namespace_id = subject.id and e.iid = ${iid} and ${epicVisible}`,
    }),
  ]

  /** The caller's own reminder of a thing. */
  function marking({ kind, called, about, path, find }: Markable): Endpoint[] {
    const param = path.slice(path.lastIndexOf(':') + 1)
    return [
      endpoint({
        ...(about as { on: typeof project; may: 'read_issue' }),
        method: 'POST',
        path: `${path}/todo`,
        whileArchived: true,
        summary: `Make a to-do of ${called}`,
        description: 'Answers 304 where one is waiting.',
        record: true,
        params: Fields({ [param]: Id() }),
        answers: Todo,
        read: ({ params }) => rows<{ id: number }>(find((params as Record<string, number>)[param]!)),
        async handle(call) {
          const {
            actor,
            rows: found,
            project: place,
            group: above,
          } = call as typeof call & { group?: { id: number } }
          const [made] = await db.transaction((tx) =>
            store.addTodos(tx, {
              on: {
                kind,
                id: found[0]!.id,
                projectId: (place as { id: number } | undefined)?.id ?? null,
                namespaceId: above?.id ?? null,
              },
              action: 'marked',
              userIds: [userOf(actor).id],
              authorId: userOf(actor).id,
            }),
          )
          if (made === undefined) return new Answer(304)
          return showOne(actor, await store.findTodo(db.writer, actor, made.id))
        },
      }),
    ]
  }
}

interface Markable {
  readonly kind: 'Issue' | 'MergeRequest' | 'Epic'
  readonly called: string
  readonly about: object
  readonly path: string
  readonly find: (iid: number) => RawBuilder<unknown>
}
