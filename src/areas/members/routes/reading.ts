import { endpoint, group, project } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import type { Settings } from '../../../settings/index.ts'
import { Member, memberEntity } from '../entities.ts'
import * as lists from '../lists.ts'
import type { Place } from '../place.ts'

const filters = {
  query: Optional(Text({ description: 'Part of the name or username, or a whole public e-mail address' })),
  user_ids: Optional(ListOf(Id(), { commaSeparated: true, description: 'Only these users' })),
  show_seat_info: Flag({ default: false, description: 'Paid plans: with `is_using_seat`' }),
}

const with_saml_identity = Optional(
  Flag({ description: 'Only who is known at the sign-in of the group; for its owners' }),
)

export function readingEndpoints(
  kind: Place['kind'],
  services: {
    externalUrl: () => string
    settings: Pick<Settings, 'flags'>
    paid: boolean
    freeUpTo: number
  },
): Endpoint[] {
  const on = kind === 'group' ? group : project
  const may = kind === 'group' ? 'read_group_member' : 'read_project_member'
  const member = memberEntity(services)
  const invitedToMembers = () => services.settings.flags.webui_members_inherited_users
  const seats = (params: { show_seat_info: boolean }) =>
    services.paid && params.show_seat_info ? { seatsAbove: services.freeUpTo } : {}

  return [
    endpoint({
      method: 'GET',
      path: `/${kind}s/:id/members`,
      summary: `List the direct members of a ${kind}`,
      on,
      may,
      paged: true,
      params: Fields({
        ...filters,
        skip_users: Optional(ListOf(Id(), { commaSeparated: true, description: 'All but these users' })),
        ...((kind === 'group' ? { with_saml_identity } : {}) as {
          with_saml_identity: typeof with_saml_identity
        }),
      }),
      answers: ListOf(Member),
      read: ({ params, page }) => lists.direct(kind, { ...params, ...seats(params) }, page),
      handle: async ({ rows }) => rows.map(member),
    }),

    endpoint({
      method: 'GET',
      path: `/${kind}s/:id/members/all`,
      summary: `List all members of a ${kind}, inherited ones too`,
      description: 'Each user once, with the highest access level.',
      on,
      may,
      paged: true,
      params: Fields({
        ...filters,
        state: Optional(OneOf(['awaiting', 'active'], { description: 'State of the membership' })),
      }),
      answers: ListOf(Member),
      read: ({ params, page }) =>
        lists.all(kind, { ...params, ...seats(params), invitedToMembers: invitedToMembers() }, page),
      handle: async ({ rows }) => rows.map(member),
    }),

    endpoint({
      method: 'GET',
      path: `/${kind}s/:id/members/:user_id`,
      summary: `Get a direct member of a ${kind}`,
      on,
      may,
      params: Fields({ user_id: Id() }),
      answers: Member,
      record: true,
      refuses: { 404: 'No direct member' },
      read: ({ params }) => lists.oneDirect(kind, params.user_id),
      handle: async ({ rows }) => member(rows[0]!),
    }),

    endpoint({
      method: 'GET',
      path: `/${kind}s/:id/members/all/:user_id`,
      summary: `Get a member of a ${kind}, an inherited one too`,
      on,
      may,
      params: Fields({ user_id: Id() }),
      answers: Member,
      record: true,
      refuses: { 404: 'No member' },
      read: ({ params }) => lists.oneOfAll(kind, params.user_id, invitedToMembers()),
      handle: async ({ rows }) => member(rows[0]!),
    }),
  ]
}
