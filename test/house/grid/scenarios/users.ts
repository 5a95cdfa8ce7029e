import { sql, type RawBuilder } from 'kysely'
import { idOf, type Caller } from '../actors.ts'
import { plain, type Request, type Scenarios, type Stage } from '../stage.ts'

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

async function emailOf(stage: Stage, userId: number): Promise<{ id: number; email_id: number }> {
  const made = await stage.make(`/users/${userId}/emails`, { email: `${stage.unique('more')}@example.com` })
  return { id: userId, email_id: made['id'] as number }
}

async function ownEmail(stage: Stage, { userId }: Caller): Promise<Request> {
  return { path: { email_id: (await emailOf(stage, userId === 0 ? 1 : userId)).email_id } }
}

async function accountDeletion(stage: Stage, allowed: boolean): Promise<Request> {
  await stage.world.root.put('/application/settings', { allow_account_deletion: allowed })
  return {}
}

export const userScenarios: Scenarios = {
  'GET /user_counts': { '': plain },
  'GET /user/activities': { '': plain },
  'GET /user/preferences': { '': plain },
  'PUT /user/preferences': { '': () => ({ body: { show_whitespace_in_diffs: true } }) },
  'GET /users/:id/associations_count': {
    'another user': (stage) => ({ path: { id: stage.world.root.id } }),
  },
  'GET /user': { '': plain },
  'GET /user/feed_token': { '': plain },
  'POST /user/feed_token/rotate': { '': plain },
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
  'PUT /user': { '': () => ({ body: { pronouns: 'they' } }) },
  'DELETE /user': {
    'allow_account_deletion off': {
      prepare: (stage) => accountDeletion(stage, false),
      after: async (stage) => {
        await accountDeletion(stage, true)
      },
    },
  },
  'GET /user/emails': { '': plain },
  'GET /user/emails/:email_id': { 'own address': { forEach: true, prepare: ownEmail } },
  'POST /user/emails': { '': (stage) => ({ body: { email: `${stage.unique('second')}@example.com` } }) },
  'DELETE /user/emails/:email_id': { 'own address': { forEach: true, prepare: ownEmail } },
  'GET /users/:id/emails': { '': stranger },
  'POST /users/:id/emails': {
    '': (stage) => ({ ...stranger(stage), body: { email: `${stage.unique('second')}@example.com` } }),
  },
  'DELETE /users/:id/emails/:email_id': {
    '': async (stage) => ({ path: await emailOf(stage, stage.cast.stranger.id) }),
  },
  'GET /users/:user_id/status': { '': (stage) => ({ path: { user_id: stage.cast.stranger.id } }) },
  'GET /user/status': { '': plain },
  'PUT /user/status': { '': () => ({ body: { message: 'at work' } }) },
  'PATCH /user/status': { '': () => ({ body: { message: 'at work' } }) },
  'POST /users/:id/follow': { 'a new user': newUser },
  'POST /users/:id/unfollow': {
    'whom the caller follows': {
      forEach: true,
      async prepare(stage, { userId }) {
        const user = await newUser(stage)
        if (userId !== 0) {
          await sql`
            insert into user_follows (follower_id, followee_id) values (${userId}, ${user.path.id})`.execute(
            stage.world.service.services.db.writer,
          )
        }
        return user
      },
    },
  },
  'GET /users/:id/followers': { '': stranger },
  'GET /users/:id/following': { '': stranger },
  'DELETE /users/:id/identities/:provider': {
    '': async (stage) => {
      const user = await stage.world.user({ provider: 'saml', extern_uid: stage.unique('elsewhere') })
      return { path: { id: user.id, provider: 'saml' } }
    },
  },
  'GET /users/:user_id/contributed_projects': {
    '': (stage) => ({ path: { user_id: stage.cast.stranger.id } }),
  },
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
