import type { Json } from '../../../world/world.ts'
import { idOf, type Caller } from '../actors.ts'
import { plain, type Scenario, type Scenarios, type Stage } from '../stage.ts'

/** A further token of a user; nobody's is the stranger's. */
function token(stage: Stage, userId: number, scopes: readonly string[] = ['api']): Promise<Json> {
  const owner = userId === 0 ? stage.cast.stranger.id : userId
  return stage.make(`/users/${owner}/personal_access_tokens`, { name: stage.unique('token'), scopes })
}

/** A further token of the caller. */
const own: Scenario = {
  forEach: true,
  prepare: async (stage, { userId }) => ({ path: { id: idOf(await token(stage, userId)) } }),
}

const other = async (stage: Stage) => ({
  path: { id: idOf(await token(stage, (await stage.world.user()).id)) },
})

const stillUseful = new Set(['anonymous', 'blocked_user', 'expired_token'])

/** Whoever presents a token here loses it, so it is one made for that. */
const presented: Scenario = {
  forEach: true,
  async prepare(stage, { name, userId }: Caller) {
    if (stillUseful.has(name)) return {}
    const scopes = name === 'token_scope_read_api_only' ? ['read_api'] : ['api']
    const made = await token(stage, userId, scopes)
    return { headers: { 'private-token': made['token'] as string } }
  },
}

async function impersonation(stage: Stage): Promise<{ path: Record<string, number> }> {
  const user_id = stage.cast.stranger.id
  const made = await stage.make(`/users/${user_id}/impersonation_tokens`, {
    name: stage.unique('token'),
    scopes: ['api'],
    expires_at: inAWeek(),
  })
  return { path: { user_id, impersonation_token_id: idOf(made) } }
}

const ofStranger = (stage: Stage) => ({ path: { user_id: stage.cast.stranger.id } })
const inAWeek = () => new Date(Date.now() + 86_400_000 * 7).toISOString().slice(0, 10)

async function ofPlace(stage: Stage, place: string): Promise<{ path: { token_id: number } }> {
  const made = await stage.make(`${place}/access_tokens`, bot(stage))
  return { path: { token_id: idOf(made) } }
}

const bot = (stage: Stage) => ({
  name: stage.unique('token'),
  scopes: ['read_api'],
  access_level: 10,
  expires_at: inAWeek(),
})

/** A token of the place that is presented; who has none is nobody's bot. */
const selfRotation = (placeOf: (stage: Stage) => string): Scenario => ({
  forEach: true,
  async prepare(stage, { name }) {
    if (name !== 'developer') return {}
    const made = await stage.make(`${placeOf(stage)}/access_tokens`, {
      ...bot(stage),
      scopes: ['self_rotate'],
    })
    return { headers: { 'private-token': made['token'] as string } }
  },
})

async function deployToken(stage: Stage, place: string): Promise<{ path: { token_id: number } }> {
  return { path: { token_id: idOf(await stage.make(`${place}/deploy_tokens`, deploy(stage))) } }
}

const deploy = (stage: Stage) => ({ name: stage.unique('deploy'), scopes: ['read_repository'] })

function scenariosOf(kind: 'project' | 'group'): Scenarios {
  const at = (stage: Stage): string => (kind === 'project' ? stage.projectPath : stage.groupPath)
  const path = `/${kind}s/:id`
  const shared = (stage: Stage) => stage.once(`token of ${kind}`, () => ofPlace(stage, at(stage)))
  return {
    [`GET ${path}/access_tokens`]: { '': plain },
    [`POST ${path}/access_tokens`]: { '': (stage) => ({ body: bot(stage) }) },
    [`GET ${path}/access_tokens/:token_id`]: { '': shared },
    [`DELETE ${path}/access_tokens/:token_id`]: { '': (stage) => ofPlace(stage, at(stage)) },
    [`POST ${path}/access_tokens/:token_id/rotate`]: { '': (stage) => ofPlace(stage, at(stage)) },
    [`POST ${path}/access_tokens/self/rotate`]: { 'the presented token of a developer': selfRotation(at) },
    [`GET ${path}/deploy_tokens`]: { '': plain },
    [`POST ${path}/deploy_tokens`]: { '': (stage) => ({ body: deploy(stage) }) },
    [`GET ${path}/deploy_tokens/:token_id`]: {
      '': (stage) => stage.once(`deploy token of ${kind}`, () => deployToken(stage, at(stage))),
    },
    [`DELETE ${path}/deploy_tokens/:token_id`]: { '': (stage) => deployToken(stage, at(stage)) },
  }
}

export const tokenScenarios: Scenarios = {
  ...scenariosOf('project'),
  ...scenariosOf('group'),
  'GET /deploy_tokens': { '': plain },
  'GET /personal_access_tokens': { '': plain },
  'GET /personal_access_tokens/self': { '': plain },
  'GET /personal_access_tokens/self/associations': { '': plain },
  'GET /personal_access_tokens/:id': { 'own token': own, 'token of another user': other },
  'DELETE /personal_access_tokens/self': { 'the presented token': presented },
  'DELETE /personal_access_tokens/:id': { 'own token': own, 'token of another user': other },
  'POST /personal_access_tokens/self/rotate': { 'the presented token': presented },
  'POST /personal_access_tokens/:id/rotate': { 'own token': own, 'token of another user': other },
  'POST /user/personal_access_tokens': {
    'scopes within self_rotate': (stage) => ({
      body: { name: stage.unique('token'), scopes: ['self_rotate'] },
    }),
  },
  'POST /users/:user_id/personal_access_tokens': {
    '': (stage) => ({ ...ofStranger(stage), body: { name: stage.unique('token'), scopes: ['api'] } }),
  },
  'GET /users/:user_id/impersonation_tokens': { '': ofStranger },
  'GET /users/:user_id/impersonation_tokens/:impersonation_token_id': {
    '': (stage) => stage.once('impersonation', () => impersonation(stage)),
  },
  'POST /users/:user_id/impersonation_tokens': {
    '': (stage) => ({
      ...ofStranger(stage),
      body: { name: stage.unique('token'), scopes: ['api'], expires_at: inAWeek() },
    }),
  },
  'DELETE /users/:user_id/impersonation_tokens/:impersonation_token_id': { '': impersonation },
}
