import { endpoint, instance, userOf } from '../../../access/index.ts'
import { Fields, Flag, Id, Nullable, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { conflict, notFound } from '../../../kernel/errors/index.ts'
import { deactivated } from '../deactivation-mail.ts'
import { removeUser } from '../remove.ts'
import { nextState, type StateAct } from '../rules.ts'
import type { UserServices } from '../services.ts'
import * as store from '../store.ts'

const acts: Readonly<Record<StateAct, string>> = {
  block: 'Block a user: no sign-in, no use of tokens',
  unblock: 'Unblock a user',
  ban: 'Ban a user',
  unban: 'Take back the ban of a user',
  activate: 'Activate a user who was deactivated',
  deactivate: 'Deactivate a user who was long inactive',
}

/** What an act answers that finds the user in the very state which it leads to; clients tell the two by this. */
const unchanged: Partial<Record<StateAct, null | false>> = { block: null, unblock: false }

const Success = Fields({ message: Text() })

export function stateEndpoints(services: UserServices): Endpoint[] {
  const { db, settings, mail } = services
  const changing = (act: StateAct): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/users/:id/${act}`,
      summary: acts[act],
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id() }),
      answers: Nullable(Flag({ description: 'Not true: nothing has changed' })),
      refuses: { 403: 'Not from the state the user is in', 404: 'No such user' },
      async handle({ actor, params }) {
        return db.transaction(async (tx) => {
          const user = await store.lock(tx, params.id)
          if (user === undefined) throw notFound('User')
          const state = nextState(
            act,
            {
              state: user.state,
              kind: user.kind,
              self: user.id === userOf(actor).id,
              lastActivityOn: user.last_activity_on,
            },
            { days: settings.values.deactivate_dormant_users_period, today: new Date() },
          )
          if (state === user.state) return act in unchanged ? unchanged[act]! : true
          await store.setState(tx, user.id, state)
          if (user.admin && state !== 'active') await store.requireAdministrator(tx)
          if (state === 'deactivated' && settings.values.user_deactivation_emails_enabled)
            await mail.queue(tx, deactivated(user))
          return true
        })
      },
    })

  return [
    ...(Object.keys(acts) as StateAct[]).map(changing),

    endpoint({
      method: 'POST',
      path: '/users/:id/approve',
      summary: 'Approve a user who waits for it',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id() }),
      answers: Success,
      refuses: { 404: 'No such user', 409: 'The user does not wait for approval' },
      async handle({ params }) {
        return db.transaction(async (tx) => {
          const user = await store.lock(tx, params.id)
          if (user === undefined) throw notFound('User')
          if (user.state !== 'blocked_pending_approval') {
            throw conflict('The user you are trying to approve is not pending approval')
          }
          await store.setState(tx, user.id, 'active')
          return { message: 'Success' }
        })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/users/:id/reject',
      summary: 'Reject a user who waits for approval; the account is deleted',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id() }),
      answers: Success,
      refuses: { 404: 'No such user', 409: 'The user does not wait for approval' },
      async handle({ params }) {
        return db.transaction(async (tx) => {
          const user = await store.lock(tx, params.id)
          if (user === undefined) throw notFound('User')
          if (user.state !== 'blocked_pending_approval')
            throw conflict('User does not have a pending request')
          await removeUser(tx, user, services, { hard: true })
          return { message: 'Success' }
        })
      },
    }),
  ]
}
