import { endpoint, instance } from '../../access/index.ts'
import { Fields, Flag, Id, ListOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { applicationFaults, newSecret, newUid, type Application } from './applications.ts'
import { urisIn } from './redirects.ts'
import { scopesIn } from './scopes.ts'
import type { OAuthServices } from './services.ts'
import * as store from './store.ts'

const shown = {
  id: Id(),
  application_id: Text({ description: 'By which it is known in `/oauth/authorize` and `/oauth/token`' }),
  application_name: Text(),
  callback_url: Text({ description: 'Where its users are sent back to, one address a line' }),
  confidential: Flag({ description: 'It can keep its secret' }),
}
const ShownApplication = Fields(shown)
const NewApplication = Fields({ ...shown, secret: Text({ description: 'Shown this once' }) })

function entity({ id, uid, name, redirect_uris, confidential }: Application) {
  return {
    id,
    application_id: uid,
    application_name: name,
    callback_url: redirect_uris.join('\n'),
    confidential,
  }
}

/** The applications of the instance. */
export function applicationEndpoints({ db }: Pick<OAuthServices, 'db'>): Endpoint[] {
  const about = { on: instance, may: 'admin_instance' } as const
  const one = { params: Fields({ id: Id() }), refuses: { 404: 'There is no such application' } }
  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/applications',
      summary: 'List the applications that may act for users',
      paged: true,
      answers: ListOf(ShownApplication),
      read: ({ page }) => store.listApplications(page),
      handle: async ({ rows }) => rows.map(entity),
    }),

    endpoint({
      ...about,
      ...one,
      method: 'GET',
      path: '/applications/:id',
      summary: 'Get an application that may act for users',
      record: 'Application',
      answers: ShownApplication,
      read: ({ params }) => store.readApplication(params.id),
      handle: async ({ rows: [row] }) => entity(row!),
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/applications',
      summary: 'Register an application of the instance',
      params: Fields({
        name: Text({ blank: false }),
        redirect_uri: Text({ blank: false, description: 'Several: one a line' }),
        scopes: ListOf(Text(), { single: true, description: 'Or one text with blanks between' }),
        confidential: Flag({ default: true, description: 'It can keep a secret; programs of users cannot' }),
        trusted: Optional(Flag({ description: 'Nobody is asked before it acts for him' })),
      }),
      answers: NewApplication,
      refuses: { 400: 'A scope or an address is no good' },
      async handle({ params }) {
        const { name, redirect_uri, confidential, trusted } = params
        const scopes = params.scopes.join(' ')
        const faults = applicationFaults({ name, redirectUri: redirect_uri, scopes })
        if (Object.keys(faults).length > 0) throw invalid(faults)
        const { secret, digest } = newSecret()
        const made = await db.transaction((tx) =>
          store.add(tx, {
            uid: newUid(),
            secret_digest: digest,
            name: name.trim(),
            redirect_uris: urisIn(redirect_uri),
            scopes: scopesIn(scopes),
            confidential,
            trusted: trusted ?? false,
            owner_id: null,
          }),
        )
        return { ...entity(made), secret }
      },
    }),

    endpoint({
      ...about,
      ...one,
      method: 'POST',
      path: '/applications/:id/renew-secret',
      summary: 'Give an application another secret; the old one ends at once',
      answers: NewApplication,
      async handle({ params }) {
        const { secret, digest } = newSecret()
        const changed = await db.transaction((tx) => store.setSecret(tx, params.id, digest))
        if (changed === undefined) throw notFound('Application')
        return { ...entity(changed), secret }
      },
    }),

    endpoint({
      ...about,
      ...one,
      method: 'DELETE',
      path: '/applications/:id',
      summary: 'Remove an application and all its tokens',
      answers: null,
      async handle({ params }) {
        if (!(await db.transaction((tx) => store.remove(tx, params.id)))) {
          throw notFound('Application')
        }
      },
    }),
  ]
}
