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

export const userScenarios: Scenarios = {
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
  'POST /users/:id/unblock': { '': (stage) => userAfter(stage, 'block') },
  'POST /users/:id/deactivate': { '': newUser },
  'POST /users/:id/activate': { '': (stage) => userAfter(stage, 'deactivate') },
  'POST /users/:id/ban': { '': newUser },
  'POST /users/:id/unban': { '': (stage) => userAfter(stage, 'ban') },
  'GET /users/:id/memberships': { '': stranger },
  'GET /projects/user/:user_id': { '': (stage) => ({ path: { user_id: stage.cast.stranger.id } }) },
  'GET /users/:user_id/projects': { '': (stage) => ({ path: { user_id: stage.cast.stranger.id } }) },
  'GET /namespaces': { '': plain },
  'GET /namespaces/:id': {
    "the caller's own": {
      forEach: true,
      prepare: async (stage, caller) => ({
        path: { id: caller.userId === 0 ? idOf(stage.group) : caller.userId },
      }),
    },
  },
}
