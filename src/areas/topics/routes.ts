import { endpoint, instance } from '../../access/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { avatarParam, setAvatar, takeAvatar } from '../avatars/index.ts'
import { topic, Topic, type TopicRow } from './entities.ts'
import type { TopicServices } from './index.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const path = '/topics'
const everybody = { on: instance, may: 'use_instance', anonymous: true } as const
const administrators = { on: instance, may: 'admin_instance', answers: Topic } as const
const missing = { 404: 'There is no such topic' }
const more = {
  description: Optional(Nullable(Text({ description: 'At most 1,024 characters' }))),
  ...avatarParam,
}

export function topicEndpoints({ db, externalUrl }: TopicServices): Endpoint[] {
  async function found(reader: Reader, id: number): Promise<TopicRow> {
    const row = await store.find(reader, id)
    if (row === undefined) throw notFound('Topic')
    return row
  }

  return [
    endpoint({
      ...everybody,
      method: 'GET',
      path,
      summary: 'List the topics of projects, those of most projects first',
      paged: true,
      params: Fields({
        search: Optional(Text({ description: 'Part of the name' })),
        without_projects: Optional(Flag({ description: 'Those that no project has' })),
      }),
      answers: ListOf(Topic),
      read: ({ params, page }) => store.list(params, page),
      handle: async ({ rows }) => rows.map((row) => topic(row, externalUrl())),
    }),

    endpoint({
      ...everybody,
      method: 'GET',
      path: `${path}/:id`,
      summary: 'Get a topic',
      params: Fields({ id: Id() }),
      answers: Topic,
      record: 'Topic',
      read: ({ params }) => store.one(params.id),
      handle: async ({ rows: [row] }) => topic(row!, externalUrl()),
    }),

    endpoint({
      ...administrators,
      method: 'POST',
      path,
      summary: 'Create a topic',
      takeFile: takeAvatar,
      params: Fields({ name: Text(), title: Text(), ...more }),
      refuses: { 400: 'The name is in use, or a rule is broken' },
      async handle({ params: { avatar, name, title, description = null } }) {
        const values = { name: name.trim(), title: title.trim(), description }
        rules.check(values)
        return db.transaction(async (tx) => {
          const id = await store.insert(tx, values)
          await setAvatar(tx, 'topic', id, avatar)
          return topic(await found(tx, id), externalUrl())
        })
      },
    }),

    endpoint({
      ...administrators,
      method: 'PUT',
      path: `${path}/:id`,
      summary: 'Change a topic',
      description: 'Projects follow another name.',
      takeFile: takeAvatar,
      params: Fields({ id: Id(), name: Optional(Text()), title: Optional(Text()), ...more }),
      refuses: { 400: 'The name is in use, or a rule is broken', ...missing },
      handle: ({ params }) =>
        db.transaction(async (tx) => {
          if (params.name !== undefined) await store.lockAll(tx)
          const before = await found(tx, params.id)
          const values = {
            name: params.name?.trim() ?? before.name,
            title: params.title?.trim() ?? before.title,
            description: params.description === undefined ? before.description : params.description,
          }
          rules.check(values)
          await store.change(tx, before, values)
          await setAvatar(tx, 'topic', before.id, params.avatar)
          return topic(await found(tx, before.id), externalUrl())
        }),
    }),

    endpoint({
      ...administrators,
      method: 'DELETE',
      path: `${path}/:id`,
      summary: 'Delete a topic, and take it from all projects',
      params: Fields({ id: Id() }),
      answers: null,
      refuses: missing,
      handle: ({ params }) =>
        db.transaction(async (tx) => {
          await store.lockAll(tx)
          const { id, name } = await found(tx, params.id)
          await store.removeFromProjects(tx, name)
          await store.remove(tx, id)
        }),
    }),

    endpoint({
      ...administrators,
      method: 'POST',
      path: `${path}/merge`,
      summary: 'Give the projects of one topic another one, and delete the first',
      params: Fields({ source_topic_id: Id(), target_topic_id: Id() }),
      refuses: { 400: 'Both are the same', ...missing },
      handle: ({ params }) =>
        db.transaction(async (tx) => {
          await store.lockAll(tx)
          const source = await found(tx, params.source_topic_id)
          const target = await found(tx, params.target_topic_id)
          if (source.id === target.id) throw rules.identical()
          await store.replaceInProjects(tx, source.name, target.name)
          await store.remove(tx, source.id)
          return topic(await found(tx, target.id), externalUrl())
        }),
    }),
  ]
}
