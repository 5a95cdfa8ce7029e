import { sql } from 'kysely'
import { newSshKey } from '../../../world/ssh-key.ts'
import { expectStatus } from '../../../world/world.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

const key = () => ({ title: 'x', key: newSshKey().publicKey })

/** A key of a user who plays no part, or of the caller. */
async function keyOf(stage: Stage, userId: number): Promise<{ id: number; key_id: number }> {
  const made = await stage.make(`/users/${userId}/keys`, key())
  return { id: userId, key_id: made['id'] as number }
}

async function deployKey(stage: Stage): Promise<{ path: { key_id: number } }> {
  const made = await stage.make(`${stage.projectPath}/deploy_keys`, key())
  return { path: { key_id: made['id'] as number } }
}

/** A key to sign with, of a user who plays no part. */
async function gpgKeyOf(stage: Stage): Promise<{ path: { id: number; key_id: number } }> {
  const id = stage.cast.stranger.id
  const { rows } = await sql<{ id: number }>`
    insert into gpg_keys (user_id, key, fingerprint) values (${id}, 'key', ${stage.unique('fingerprint')})
    returning id`.execute(stage.world.service.services.db.writer)
  return { path: { id, key_id: rows[0]!.id } }
}

/** A key that is nobody's. */
const foreign = () => ({ path: { key_id: 999_999_999 } })

export const keyScenarios: Scenarios = {
  'GET /user/gpg_keys': { '': plain },
  'GET /user/gpg_keys/:key_id': { 'key of another user': foreign },
  'POST /user/gpg_keys': { 'not a key': () => ({ body: { key: 'x' } }) },
  'POST /user/gpg_keys/:key_id/revoke': { 'key of another user': foreign },
  'DELETE /user/gpg_keys/:key_id': { 'key of another user': foreign },
  'GET /users/:id/gpg_keys': { '': (stage) => ({ path: { id: stage.cast.stranger.id } }) },
  'GET /users/:id/gpg_keys/:key_id': { 'key exists': gpgKeyOf },
  'POST /users/:id/gpg_keys': {
    'not a key': (stage) => ({ path: { id: stage.cast.stranger.id }, body: { key: 'x' } }),
  },
  'POST /users/:id/gpg_keys/:key_id/revoke': { 'key exists': gpgKeyOf },
  'DELETE /users/:id/gpg_keys/:key_id': { 'key exists': gpgKeyOf },
  'GET /user/keys': { '': plain },
  'GET /user/keys/:key_id': {
    '': {
      forEach: true,
      prepare: async (stage, { userId }) => ({
        path: { key_id: (await keyOf(stage, userId === 0 ? 1 : userId)).key_id },
      }),
    },
  },
  'POST /user/keys': { '': () => ({ body: key() }) },
  'DELETE /user/keys/:key_id': {
    '': {
      forEach: true,
      prepare: async (stage, { userId }) => ({
        path: { key_id: (await keyOf(stage, userId === 0 ? 1 : userId)).key_id },
      }),
    },
  },
  'GET /users/:id/keys': { '': (stage) => ({ path: { id: stage.cast.stranger.id } }) },
  'GET /users/:id/keys/:key_id': {
    '': async (stage) => ({ path: await keyOf(stage, stage.cast.stranger.id) }),
  },
  'POST /users/:id/keys': { '': (stage) => ({ path: { id: stage.cast.stranger.id }, body: key() }) },
  'DELETE /users/:id/keys/:key_id': {
    '': async (stage) => ({ path: await keyOf(stage, stage.cast.stranger.id) }),
  },
  'GET /keys/:id': {
    '': async (stage) => ({ path: { id: (await keyOf(stage, stage.cast.stranger.id)).key_id } }),
  },
  'GET /keys': {
    'fingerprint given': async (stage) => {
      const made = await stage.make(`${stage.projectPath}/deploy_keys`, key())
      return { query: `fingerprint=${encodeURIComponent(made['fingerprint_sha256'] as string)}` }
    },
  },
  'GET /users/:id/project_deploy_keys': {
    'the caller': {
      forEach: true,
      prepare: (_stage, { userId }) => ({ path: { id: userId === 0 ? 'root' : userId } }),
    },
  },
  'GET /projects/:id/deploy_keys': { '': plain },
  'GET /projects/:id/deploy_keys/:key_id': { '': deployKey },
  'POST /projects/:id/deploy_keys': { '': () => ({ body: key() }) },
  'PUT /projects/:id/deploy_keys/:key_id': {
    'key used only here': async (stage) => ({ ...(await deployKey(stage)), body: { title: 'new' } }),
  },
  'DELETE /projects/:id/deploy_keys/:key_id': { '': deployKey },
  'POST /projects/:id/deploy_keys/:key_id/enable': {
    'public key': async (stage) => {
      const made = await stage.world.root.post('/deploy_keys', key())
      return { path: { key_id: expectStatus(made, 201)['id'] as number } }
    },
  },
  'GET /deploy_keys': { '': plain },
  'POST /deploy_keys': { '': () => ({ body: key() }) },
}
