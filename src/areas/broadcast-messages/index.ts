import { endpoint, instance, type ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { matchesWildcard } from '../../kernel/lib/wildcard.ts'
import * as store from './store.ts'

const levels = [10, 15, 20, 30, 40, 50] as const
const types = ['banner', 'notification'] as const
const themes = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const
const hour = 3_600_000

const BroadcastMessage = Fields({
  id: Id(),
  message: Text(),
  starts_at: Timestamp(),
  ends_at: Timestamp(),
  color: Nullable(Text()),
  font: Nullable(Text()),
  target_access_levels: ListOf(Int()),
  target_path: Nullable(Text()),
  broadcast_type: Text(),
  dismissable: Flag(),
  active: Flag({ description: 'It is shown now' }),
  theme: Text(),
})

const colour = Optional(Nullable(Text({ pattern: '^#[0-9A-Fa-f]{3,6}$', description: 'As `#E75E40`' })))
const fields = {
  starts_at: Optional(DateTime({ description: 'By default now' })),
  ends_at: Optional(DateTime({ description: 'By default an hour from now' })),
  color: colour,
  font: colour,
  target_access_levels: Optional(
    ListOf(OneOf(levels, {}), { commaSeparated: true, description: 'Roles of those it is for' }),
  ),
  target_path: Optional(
    Nullable(Text({ maxLength: 255, description: 'Paths of projects it is for, with `*`' })),
  ),
  broadcast_type: Optional(OneOf(types, {})),
  dismissable: Optional(Flag()),
  theme: Optional(OneOf(themes, {})),
}
const text = (options: object = {}) => Text({ blank: false, maxLength: 10_000, ...options })

/** What an administrator has to say to everybody for a while; banners are told to who pushes, too. */
export function broadcastMessages({ db }: { db: Database }): { endpoints: Endpoint[] } {
  const path = '/broadcast_messages'
  const anybody = { on: instance, may: 'use_instance', anonymous: true } as const
  const administrators = { on: instance, may: 'admin_instance' } as const
  const missing = { 404: 'There is no such message' }
  return {
    endpoints: [
      endpoint({
        ...anybody,
        method: 'GET',
        path,
        summary: 'List the messages to everybody',
        paged: true,
        answers: ListOf(BroadcastMessage),
        read: ({ page }) => store.list(page),
        handle: async ({ rows }) => rows,
      }),
      endpoint({
        ...anybody,
        method: 'GET',
        path: `${path}/:id`,
        summary: 'Get a message to everybody',
        params: Fields({ id: Id() }),
        record: 'Broadcast Message',
        answers: BroadcastMessage,
        read: ({ params }) => store.one(params.id),
        handle: async ({ rows: [row] }) => row!,
      }),
      endpoint({
        ...administrators,
        method: 'POST',
        path,
        summary: 'Say something to everybody',
        params: Fields({ message: text(), ...fields }),
        answers: BroadcastMessage,
        handle: ({ params }) => {
          const now = Date.now()
          return db.transaction((tx) =>
            store.add(tx, {
              message: params.message,
              starts_at: params.starts_at ?? new Date(now),
              ends_at: params.ends_at ?? new Date(now + hour),
              color: params.color ?? null,
              font: params.font ?? null,
              target_access_levels: params.target_access_levels ?? [],
              target_path: params.target_path ?? null,
              broadcast_type: params.broadcast_type ?? 'banner',
              dismissable: params.dismissable ?? false,
              theme: params.theme ?? 'indigo',
            }),
          )
        },
      }),
      endpoint({
        ...administrators,
        method: 'PUT',
        path: `${path}/:id`,
        summary: 'Change what is said to everybody',
        params: Fields({ id: Id(), message: Optional(text()), ...fields }),
        answers: BroadcastMessage,
        refuses: missing,
        async handle({ params: { id, ...given } }) {
          const changed = await db.transaction((tx) => store.change(tx, id, given))
          if (changed === undefined) throw notFound('Broadcast Message')
          return changed
        },
      }),
      endpoint({
        ...administrators,
        method: 'DELETE',
        path: `${path}/:id`,
        summary: 'Say it no longer',
        params: Fields({ id: Id() }),
        answers: null,
        refuses: missing,
        async handle({ params }) {
          if (!(await db.transaction((tx) => store.remove(tx, params.id))))
            throw notFound('Broadcast Message')
        },
      }),
    ],
  }
}

/** What who pushes to a project is told. */
export async function bannersFor(
  { db }: { db: Database },
  { fullPath, role }: Pick<ProjectSubject, 'fullPath' | 'role'>,
): Promise<string[]> {
  const banners = await store.currentBanners(db.reader)
  return banners
    .filter(
      ({ target_access_levels: roles, target_path: path }) =>
        (roles.length === 0 || roles.includes(role)) &&
        (path === null || path === '' || matchesWildcard(path.replace(/^\//, ''), fullPath)),
    )
    .flatMap(({ message }) => ['', ...message.split(/\r?\n/), ''])
}
