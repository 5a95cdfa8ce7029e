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

export const keyScenarios: Scenarios = {
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
      prepare: (_stage, { userId }) => ({ path: { id: userId === 0 ? 1 : userId } }),
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
