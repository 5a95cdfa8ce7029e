import { endpoint, findUser, instance, userOf } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  DateTime,
  Either,
  Fields,
  Id,
  ListOf,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { keyWithUser, SshKey, SshKeyWithUser } from './entities.ts'
import { checkKey } from './rules.ts'
import * as store from './store.ts'

export interface KeyServices {
  readonly db: Database
  readonly settings: Settings
  readonly externalUrl: () => string
}

const about = {
  title: Text({ blank: false, maxLength: 255 }),
  key: Text({ blank: false, description: 'The public key, in one line' }),
  expires_at: Optional(DateTime()),
  usage_type: OneOf(['auth', 'signing', 'auth_and_signing'], { default: 'auth_and_signing' }),
}
const refuses = { 404: 'No such user or key' }
const record = 'Key'

export function keyEndpoints(services: KeyServices): Endpoint[] {
  return [...ownEndpoints(services), ...userEndpoints(services), ...lookingUp(services)]
}

function ownEndpoints({ db, settings }: KeyServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/user/keys',
      summary: 'List your SSH keys',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      paged: true,
      answers: ListOf(SshKey),
      read: ({ page }) => store.list({ caller: true }, page),
      handle: async ({ rows }) => rows,
    }),
    endpoint({
      method: 'GET',
      path: '/user/keys/:key_id',
      summary: 'Get one of your SSH keys',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      params: Fields({ key_id: Id() }),
      record,
      answers: SshKey,
      read: ({ params }) => store.one({ caller: true }, params.key_id),
      handle: async ({ rows }) => rows[0],
    }),
    endpoint({
      method: 'POST',
      path: '/user/keys',
      summary: 'Add an SSH key of yours',
      on: instance,
      may: 'read_instance',
      params: Fields(about),
      answers: SshKey,
      refuses: { 400: 'It is no key, is not allowed here, or somebody has it already' },
      handle: async ({ actor, params }) => {
        const key = checkKey(settings, { ...params, expiresAt: params.expires_at })
        return db.transaction((tx) => store.create(tx, userOf(actor).id, key, params.usage_type))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/user/keys/:key_id',
      summary: 'Delete one of your SSH keys',
      on: instance,
      may: 'read_instance',
      params: Fields({ key_id: Id() }),
      record,
      answers: null,
      refuses: whenChanged,
      read: ({ params }) => store.one({ caller: true }, params.key_id),
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await db.transaction((tx) => store.remove(tx, rows[0]!.id))
      },
    }),
  ]
}

function userEndpoints({ db, settings }: KeyServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/users/:id/keys',
      summary: 'List the SSH keys of a user',
      description: 'By id or username. Public keys are public.',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params: Fields({ id: Either(Id(), Text()) }),
      answers: ListOf(SshKey),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => store.list(params.id, page),
      async handle({ params, rows }) {
        if (rows.length === 0 && (await findUser(db.reader, params.id)) === undefined) throw notFound('User')
        return rows
      },
    }),
    endpoint({
      method: 'GET',
      path: '/users/:id/keys/:key_id',
      summary: 'Get an SSH key of a user',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      params: Fields({ id: Id(), key_id: Id() }),
      record,
      answers: SshKey,
      refuses,
      read: ({ params }) => store.one(params.id, params.key_id),
      handle: async ({ rows }) => rows[0],
    }),
    endpoint({
      method: 'POST',
      path: '/users/:id/keys',
      summary: 'Add an SSH key of a user',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id(), ...about }),
      answers: SshKey,
      refuses: { ...refuses, 400: 'It is no key, is not allowed here, or somebody has it already' },
      async handle({ params }) {
        if ((await findUser(db.reader, params.id)) === undefined) throw notFound('User')
        const key = checkKey(settings, { ...params, expiresAt: params.expires_at })
        return db.transaction((tx) => store.create(tx, params.id, key, params.usage_type))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/users/:id/keys/:key_id',
      summary: 'Delete an SSH key of a user',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id(), key_id: Id() }),
      record,
      answers: null,
      refuses: { ...refuses, ...whenChanged },
      read: ({ params }) => store.one(params.id, params.key_id),
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await db.transaction((tx) => store.remove(tx, rows[0]!.id))
      },
    }),
  ]
}

function lookingUp({ externalUrl }: KeyServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/keys/:id',
      summary: 'Get any SSH key with its user',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id() }),
      record,
      answers: SshKeyWithUser,
      read: ({ params }) => store.any(params.id),
      handle: async ({ rows }) => keyWithUser(rows[0]!, externalUrl()),
    }),
    endpoint({
      method: 'GET',
      path: '/keys',
      summary: 'Find an SSH key or deploy key by its fingerprint',
      on: instance,
      may: 'admin_users',
      params: Fields({ fingerprint: Text({ blank: false, description: '`SHA256:...` or `MD5:...`' }) }),
      record,
      answers: SshKeyWithUser,
      read: ({ params }) => store.byFingerprint(params.fingerprint),
      handle: async ({ rows }) => keyWithUser(rows[0]!, externalUrl()),
    }),
  ]
}
