import { sql } from '../../kernel/db/index.ts'
import { endpoint, group, instance, memberGroups, Role } from '../../access/index.ts'
import { offers, planOf } from '../../kernel/config/index.ts'
import { Fields, Flag, Id, ListOf, Optional, rows, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { forbidden, notFound, recordNotFound, refused } from '../../kernel/errors/index.ts'
import { Member, memberEntity, memberRow, placeOf } from '../members/index.ts'
import type { LdapServer } from './config.ts'
import * as store from './link-store.ts'
import type { LdapServices } from './routes.ts'
import { Connection, DirectoryError } from './server/connection.ts'
import { DirectoryGroups } from './server/groups.ts'

/** Most names that a list of a directory's groups has. */
const mostGroups = 20

const params = { search: Optional(Text({ description: 'Part of the name' })) }

/** Groups of directories, to choose from. */
export function directoryEndpoints({ directory }: LdapServices): Endpoint[] {
  const about = {
    on: instance,
    may: 'read_instance',
    plan: planOf.ldap_groups,
    // For administrators, and for those who own a group that could be linked.
    read: () => rows(sql`select 1 as one where actor.admin or exists (${memberGroups(Role.owner)})`),
    answers: ListOf(Fields({ cn: Text() })),
    refuses: { 403: 'Without directories', 404: 'No such directory', 422: 'The directory does not answer' },
  } as const

  const groupsOf = async (allowed: boolean, server: LdapServer | undefined, search: string) => {
    if (!directory.enabled || !allowed) throw forbidden()
    if (server === undefined) throw notFound()
    try {
      await using connection = await Connection.open(server)
      const names = await new DirectoryGroups(connection).named(search, mostGroups)
      return names.map((cn) => ({ cn }))
    } catch (error) {
      throw error instanceof DirectoryError ? refused(422, error.message) : error
    }
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/ldap/groups',
      summary: 'List groups of the first directory, at most 20',
      params: Fields(params),
      handle: ({ rows, params }) =>
        groupsOf(rows.length > 0, directory.config.servers[0], params.search ?? ''),
    }),
    endpoint({
      ...about,
      method: 'GET',
      path: '/ldap/:provider/groups',
      summary: 'List groups of a directory, at most 20',
      params: Fields(params),
      handle: ({ rows, params }) =>
        groupsOf(rows.length > 0, directory.server(params.provider), params.search ?? ''),
    }),
  ]
}

const WithOverride = Fields({ ...Member.properties, override: Flag() })

/** The word of a hand against the directory: the level of a membership that it keeps. */
export function overrideEndpoints({ db, externalUrl, plan }: LdapServices): Endpoint[] {
  const entity = memberEntity({ externalUrl, paid: offers(plan, 'member_fields') })
  const about = {
    on: group,
    may: 'override_group_member',
    plan: planOf.ldap_groups,
    params: Fields({ user_id: Id() }),
    answers: WithOverride,
    refuses: { 403: 'No directory keeps this membership', 404: 'No direct member' },
  } as const
  const set = async (subject: Parameters<typeof placeOf>[0], userId: number, override: boolean) => {
    const outcome = await store.setOverride(db.writer, subject.id, userId, override)
    if (outcome === undefined) throw recordNotFound()
    if (outcome !== 'done') throw forbidden()
    return { ...entity((await memberRow(db.reader, placeOf(subject), userId))!), override }
  }

  return [
    endpoint({
      ...about,
      method: 'POST',
      path: '/groups/:id/members/:user_id/override',
      summary: 'Let the level of a membership be changed that a directory keeps',
      handle: ({ group, params }) => set(group, params.user_id, true),
    }),
    endpoint({
      ...about,
      method: 'DELETE',
      path: '/groups/:id/members/:user_id/override',
      summary: 'Leave the level of a membership to the directory again',
      description: 'The next sync sets it.',
      status: 200,
      handle: ({ group, params }) => set(group, params.user_id, false),
    }),
    endpoint({
      ...about,
      method: 'PUT',
      path: '/groups/:id/members/:user_id/override',
      summary: 'The same as `DELETE`, for clients that know this form',
      handle: ({ group, params }) => set(group, params.user_id, false),
    }),
  ]
}
