import { endpoint, instance, isAdministrator, privateHost, userOf } from '../../../access/index.ts'
import {
  DateTime,
  Either,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../../kernel/errors/index.ts'
import { attributeParams, withAttributesParam } from '../../custom-attributes/index.ts'
import { basicUser, BasicUser } from '../basic.ts'
import * as entities from '../entities.ts'
import { AdminUser, AdminUserDetail, OwnUser, ProfileUser } from '../entities.ts'
import type { UserServices } from '../services.ts'
import * as store from '../store.ts'

const forAdministrators = 'For administrators; of other callers it is ignored'

const filters = {
  username: Optional(Text({ description: 'Exact name, in any letter case' })),
  search: Optional(Text({ description: 'Part of the name or username, or a whole public e-mail address' })),
  public_email: Optional(Text()),
  active: Optional(Flag()),
  blocked: Optional(Flag()),
  external: Optional(Flag()),
  humans: Optional(Flag({ description: 'No bots, service accounts or internal users' })),
  exclude_active: Optional(Flag()),
  exclude_external: Optional(Flag()),
  exclude_humans: Optional(Flag()),
  exclude_internal: Optional(Flag()),
  without_project_bots: Optional(Flag()),
  admins: Optional(Flag({ description: forAdministrators })),
  two_factor: Optional(OneOf(['enabled', 'disabled'], { description: forAdministrators })),
  without_projects: Optional(Flag({ description: forAdministrators })),
  extern_uid: Optional(Text({ description: `Name elsewhere, with \`provider\`. ${forAdministrators}` })),
  provider: Optional(Text({ description: forAdministrators })),
  ...attributeParams,
  created_after: Optional(DateTime({ description: forAdministrators })),
  created_before: Optional(DateTime({ description: forAdministrators })),
  order_by: OneOf(['id', 'name', 'username', 'created_at', 'updated_at'], { default: 'id' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
  pagination: OneOf(['legacy', 'keyset'], { default: 'legacy', description: 'keyset: by id only' }),
  id_after: Optional(Id({ description: 'Keyset pagination: where the next page begins, from the link' })),
}

const Membership = Fields({
  source_id: Id(),
  source_name: Text(),
  source_type: OneOf('Project', 'Namespace'),
  access_level: Int(),
})

export function readingEndpoints(services: UserServices): Endpoint[] {
  const { db, externalUrl } = services
  return [
    endpoint({
      method: 'GET',
      path: '/users',
      summary: 'List users',
      description: 'Without credentials only with `username`.',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params: Fields(filters),
      answers: ListOf(Either(AdminUser, BasicUser)),
      refuses: {
        403: 'No credentials and no username',
        405: 'Keyset pagination in an order that has none',
      },
      read: ({ params, page }) => store.list(params, page),
      async handle({ actor, params, rows }) {
        if (actor.user === null && params.username === undefined) {
          throw forbidden('Not authorized to access /api/v4/users')
        }
        const show = isAdministrator(actor) ? entities.adminUser : basicUser
        const answer = rows.map((row) => show(row, externalUrl(), privateHost(services)))
        if (params.pagination !== 'keyset') return answer
        const last = rows.at(-1)
        const next = last?.more === true ? { id_after: last.id } : undefined
        return new Page(answer, { keyset: true, next })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/users/:id',
      summary: 'Get a user',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      params: Fields({ id: Id(), ...withAttributesParam }),
      answers: Either(AdminUserDetail, ProfileUser),
      refuses: { 403: 'No credentials', 404: 'No such user' },
      read: ({ params }) => store.one(params.id, params.with_custom_attributes),
      async handle({ actor, rows: [row] }) {
        if (actor.user === null) throw forbidden('Not authorized!')
        if (row === undefined) throw notFound('User')
        return isAdministrator(actor)
          ? entities.adminUserDetail(row, externalUrl(), privateHost(services), services.plan)
          : entities.profileUser(row, externalUrl(), {
              hidden: row.private_profile && row.id !== actor.user.id,
            })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/user',
      summary: 'Get the user of the presented token',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      answers: Either(AdminUser, OwnUser),
      read: () => store.own(),
      async handle({ actor, rows }) {
        const row =
          rows.find(({ id }) => id === userOf(actor).id) ?? (await store.find(db.reader, userOf(actor).id))
        const show = isAdministrator(actor) ? entities.adminUser : entities.ownUser
        return show(row!, externalUrl(), privateHost(services))
      },
    }),

    endpoint({
      method: 'GET',
      path: '/users/:id/memberships',
      summary: 'List the direct memberships of a user',
      on: instance,
      may: 'admin_users',
      scopes: ['read_user'],
      paged: true,
      params: Fields({ id: Id(), type: Optional(OneOf('Project', 'Namespace')) }),
      answers: ListOf(Membership),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => store.memberships(params.id, params.type, page),
      async handle({ params, rows }) {
        if (rows.length === 0 && !(await store.exists(db.reader, params.id))) throw notFound('User')
        return rows
      },
    }),
  ]
}
