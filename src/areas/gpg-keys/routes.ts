import { endpoint, instance, userOf } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  requireUnmodified,
  Text,
  Timestamp,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { readPublicKey, type PublicKey } from './public-key.ts'
import * as store from './store.ts'

export interface GpgKeyServices {
  readonly db: Database
}

const GpgKey = Fields({ id: Id(), key: Text(), created_at: Timestamp() })
const record = 'GPG Key'
const byId = { key_id: Id() }
const about = { key: Text({ blank: false, description: 'The public key, in its armor' }) }
const refuses = { 400: 'It is no key, or somebody has it already', 404: 'No such user or key' }
const revoking = 'What was signed with it counts as unverified, as when it is deleted.'

export function gpgKeyEndpoints(services: GpgKeyServices): Endpoint[] {
  return [...ownKeys(services), ...keysOfUsers(services)]
}

function checked(text: string): PublicKey {
  const key = readPublicKey(text)
  if (key === undefined) {
    throw invalid({
      key: [
        "is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' and ends with '-----END PGP PUBLIC KEY BLOCK-----'",
      ],
    })
  }
  return key
}

function ownKeys({ db }: GpgKeyServices): Endpoint[] {
  const own = { on: instance, may: 'read_instance' } as const
  const single = {
    ...own,
    params: Fields(byId),
    record,
    refuses,
    read: ({ params }: { params: { key_id: number } }) => store.one('caller', params.key_id),
  } as const
  return [
    endpoint({
      ...own,
      method: 'GET',
      path: '/user/gpg_keys',
      summary: 'List your GPG keys',
      scopes: ['read_user'],
      paged: true,
      answers: ListOf(GpgKey),
      read: ({ page }) => store.list('caller', page),
      handle: async ({ rows }) => rows,
    }),
    endpoint({
      ...single,
      method: 'GET',
      path: '/user/gpg_keys/:key_id',
      summary: 'Get one of your GPG keys',
      scopes: ['read_user'],
      answers: GpgKey,
      handle: async ({ rows }) => rows[0],
    }),
    endpoint({
      ...own,
      method: 'POST',
      path: '/user/gpg_keys',
      summary: 'Add a GPG key of yours',
      params: Fields(about),
      answers: GpgKey,
      refuses,
      handle: ({ actor, params }) => store.create(db.writer, userOf(actor).id, checked(params.key)),
    }),
    endpoint({
      ...single,
      method: 'POST',
      path: '/user/gpg_keys/:key_id/revoke',
      summary: 'Revoke one of your GPG keys',
      description: revoking,
      status: 202,
      answers: GpgKey,
      async handle({ rows }) {
        await store.remove(db.writer, rows[0]!.id)
        return rows[0]
      },
    }),
    endpoint({
      ...single,
      method: 'DELETE',
      path: '/user/gpg_keys/:key_id',
      summary: 'Delete one of your GPG keys',
      answers: null,
      refuses: whenChanged,
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await store.remove(db.writer, rows[0]!.id)
      },
    }),
  ]
}

function keysOfUsers({ db }: GpgKeyServices): Endpoint[] {
  const userExists = async (id: number): Promise<boolean> => {
    const { rows } = await sql`select from users u where u.id = ${id}`.execute(db.reader)
    return rows.length > 0
  }
  const single = {
    on: instance,
    params: Fields({ id: Id(), ...byId }),
    record,
    refuses,
    read: ({ params }: { params: { id: number; key_id: number } }) => store.one(params.id, params.key_id),
  } as const
  return [
    endpoint({
      method: 'GET',
      path: '/users/:id/gpg_keys',
      summary: 'List the GPG keys of a user',
      description: 'Public keys are public.',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params: Fields({ id: Id() }),
      answers: ListOf(GpgKey),
      refuses,
      read: ({ params, page }) => store.list(params.id, page),
      async handle({ params, rows }) {
        if (rows.length === 0 && !(await userExists(params.id))) throw notFound('User')
        return rows
      },
    }),
    endpoint({
      ...single,
      method: 'GET',
      path: '/users/:id/gpg_keys/:key_id',
      summary: 'Get a GPG key of a user',
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      answers: GpgKey,
      handle: async ({ rows }) => rows[0],
    }),
    endpoint({
      method: 'POST',
      path: '/users/:id/gpg_keys',
      summary: 'Add a GPG key of a user',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id(), ...about }),
      answers: GpgKey,
      refuses,
      async handle({ params }) {
        if (!(await userExists(params.id))) throw notFound('User')
        return store.create(db.writer, params.id, checked(params.key))
      },
    }),
    endpoint({
      ...single,
      method: 'POST',
      path: '/users/:id/gpg_keys/:key_id/revoke',
      summary: 'Revoke a GPG key of a user',
      description: revoking,
      may: 'admin_users',
      status: 202,
      answers: GpgKey,
      async handle({ rows }) {
        await store.remove(db.writer, rows[0]!.id)
        return rows[0]
      },
    }),
    endpoint({
      ...single,
      method: 'DELETE',
      path: '/users/:id/gpg_keys/:key_id',
      summary: 'Delete a GPG key of a user',
      may: 'admin_users',
      answers: null,
      refuses: { ...refuses, ...whenChanged },
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await store.remove(db.writer, rows[0]!.id)
      },
    }),
  ]
}
