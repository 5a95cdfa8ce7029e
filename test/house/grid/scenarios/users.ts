import { sql, type RawBuilder } from 'kysely'
import { idOf } from '../actors.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

async function newUser(stage: Stage): Promise<{ path: { id: number } }> {
  return { path: { id: (await stage.world.user()).id } }
}

const stranger = (stage: Stage) => ({ path: { id: stage.cast.stranger.id } })

/** A user that some acts of administrators have led to a state. */
async function userAfter(stage: Stage, ...acts: string[]): Promise<{ path: { id: number } }> {
  const user = await newUser(stage)
  for (const act of acts) await stage.make(`/users/${user.path.id}/${act}`)
  return user
}

/** A user in a state that no call of the API leads to. */
async function userWith(stage: Stage, change: RawBuilder<unknown>): Promise<{ path: { id: number } }> {
  const user = await newUser(stage)
  await sql`update users set ${change} where id = ${user.path.id}`.execute(
    stage.world.service.services.db.writer,
  )
  return user
}

const pending = sql`state = 'blocked_pending_approval'`
const longAgo = sql`created_at = now() - interval '1 year', last_activity_on = null`

export const userScenarios: Scenarios = {
  'GET /user_counts': { '': plain },
  'GET /user/activities': { '': plain },
  'GET /user/preferences': { '': plain },
  'PUT /user/preferences': { '': () => ({ body: { show_whitespace_in_diffs: true } }) },
  'GET /users/:id/associations_count': {
    'another user': (stage) => ({ path: { id: stage.world.root.id } }),
  },
  'GET /user': { '': plain },
  'GET /users': { '': plain },
  'GET /users/:id': { '': stranger },
  'POST /users': {
    '': (stage) => {
      const username = stage.unique('made')
      const email = `${username}@example.com`
      return { body: { username, name: username, email, force_random_password: true } }
    },
  },
  'PUT /users/:id': { '': (stage) => ({ ...stranger(stage), body: { note: 'x' } }) },
  'DELETE /users/:id': { '': newUser },
  'POST /users/:id/block': { '': newUser },
  'POST /users/:id/unblock': { 'blocked user': (stage) => userAfter(stage, 'block') },
  'POST /users/:id/deactivate': { 'user long without activity': (stage) => userWith(stage, longAgo) },
  'POST /users/:id/activate': {
    'deactivated user': (stage) => userWith(stage, sql`state = 'deactivated'`),
  },
  'POST /users/:id/ban': { 'active user': newUser },
  'POST /users/:id/unban': { 'banned user': (stage) => userAfter(stage, 'ban') },
  'POST /users/:id/approve': { 'user pending approval': (stage) => userWith(stage, pending) },
  'POST /users/:id/reject': { 'user pending approval': (stage) => userWith(stage, pending) },
  'GET /users/:id/memberships': { '': stranger },
  'POST /projects/user/:user_id': {
    '': (stage) => ({ path: { user_id: stage.cast.stranger.id }, body: { name: stage.unique('made') } }),
  },
  'GET /users/:user_id/projects': { '': (stage) => ({ path: { user_id: stage.cast.stranger.id } }) },
  'GET /namespaces': { '': plain },
  'GET /namespaces/:id': {
    'namespace of a group': { about: 'group', prepare: (stage) => ({ path: { id: idOf(stage.group) } }) },
  },
  'GET /namespaces/:namespace/exists': { '': () => ({ path: { namespace: 'nobody-has-this' } }) },
}
