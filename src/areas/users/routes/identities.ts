import { endpoint, instance } from '../../../access/index.ts'
import { Fields, Id, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { forgetIdentity } from '../identities.ts'
import type { UserServices } from '../services.ts'
import * as store from '../store.ts'

/** Who users are elsewhere. */
export function identityEndpoints({ db }: UserServices): Endpoint[] {
  return [
    endpoint({
      method: 'DELETE',
      path: '/users/:id/identities/:provider',
      summary: 'Forget who a user is elsewhere',
      on: instance,
      may: 'admin_users',
      params: Fields({ id: Id() }),
      answers: null,
      refuses: { 404: 'No such user, or none known by this provider' },
      async handle({ params }) {
        if (!(await store.exists(db.reader, params.id))) throw notFound('User')
        const gone = await db.transaction((tx) => forgetIdentity(tx, params.id, params.provider))
        if (!gone) throw notFound('Identity')
      },
    }),
  ]
}
