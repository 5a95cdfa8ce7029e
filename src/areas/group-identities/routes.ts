import { endpoint, group, isAdministrator, type GroupSubject } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Fields, Id, ListOf, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { badRequest, forbidden, invalid, notFound } from '../../kernel/errors/index.ts'
import * as store from './store.ts'

const Identity = Fields({ extern_uid: Text(), user_id: Id() })
const Domains = Fields({ domains: ListOf(Text()) })

const about = { on: group, may: 'admin_group', plan: planOf.group_identities } as const
const topOnly = 'It is no top-level group'

function requireTop({ parentId }: GroupSubject): void {
  if (parentId !== null) throw badRequest('Invalid group provided, must be top-level')
}

/** Who members are at the sign-in of a group, and the domains whose accounts are the group's. */
export function groupIdentityEndpoints({ db }: { readonly db: Database }): Endpoint[] {
  return [...samlEndpoints(db), ...domainEndpoints(db)]
}

function samlEndpoints(db: Database): Endpoint[] {
  const single = {
    ...about,
    path: '/groups/:id/saml/:uid',
    record: 'Identity',
    refuses: { 400: 'The name is taken', 404: 'Nobody is known by this name' },
    read: ({ params }: { params: { uid: string } }) => store.one(params.uid),
  } as const
  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/saml/identities',
      summary: 'List who members are at the SAML sign-in of a group',
      paged: true,
      answers: ListOf(Identity),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/groups/:id/saml/identities',
      summary: 'Say who a member is at the SAML sign-in of a group',
      params: Fields({ user_id: Id(), extern_uid: Text({ blank: false }) }),
      answers: Identity,
      refuses: { 400: `${topOnly}, or the name or the user is taken`, 404: 'No such member' },
      async handle({ group: place, params }) {
        requireTop(place)
        const identity = { user_id: params.user_id, extern_uid: params.extern_uid.trim() }
        if (!(await store.belongs(db.reader, place.id, params.user_id))) throw notFound('User')
        await db.transaction((tx) => store.add(tx, place.id, identity))
        return identity
      },
    }),

    endpoint({
      ...single,
      method: 'GET',
      summary: 'Get who somebody is at the SAML sign-in of a group',
      answers: Identity,
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      ...single,
      method: 'PATCH',
      summary: 'Change the name of a member at the SAML sign-in of a group',
      params: Fields({ extern_uid: Text({ blank: false }) }),
      answers: Identity,
      async handle({ rows: [row], params }) {
        const uid = params.extern_uid.trim()
        await store.rename(db.writer, row!.id, uid)
        return { ...row!, extern_uid: uid }
      },
    }),

    endpoint({
      ...single,
      method: 'DELETE',
      summary: 'Forget who a member is at the SAML sign-in of a group',
      answers: null,
      handle: ({ rows }) => store.remove(db.writer, rows[0]!.id),
    }),
  ]
}

function domainEndpoints(db: Database): Endpoint[] {
  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/verified_domains',
      summary: 'List the domains that a group answers for',
      description: 'Accounts with a first address there are enterprise users of the group.',
      answers: Domains,
      read: () => store.domains(),
      handle: async ({ rows }) => ({ domains: rows.map(({ domain }) => domain) }),
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: '/groups/:id/verified_domains',
      summary: 'Say which domains a group answers for',
      description: 'For administrators, who have verified it.',
      params: Fields({ domains: ListOf(Text(), { commaSeparated: true }) }),
      answers: Domains,
      refuses: { 400: `${topOnly}, or another group has one of them` },
      async handle({ actor, group: place, params }) {
        if (!isAdministrator(actor)) throw forbidden()
        requireTop(place)
        const wanted = [...new Set(params.domains.map((domain) => domain.trim().toLowerCase()))].sort()
        if (wanted.some((domain) => !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(domain))) {
          throw invalid({ domains: ['is invalid'] })
        }
        await db.transaction((tx) => store.setDomains(tx, place.id, wanted))
        return { domains: wanted }
      },
    }),
  ]
}
