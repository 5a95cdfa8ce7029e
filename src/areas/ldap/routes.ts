import { endpoint, group, isAdministrator, type Actor } from '../../access/index.ts'
import { offers, type Plan, planOf } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden, notFound, refused } from '../../kernel/errors/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { findRole } from '../member-roles/index.ts'
import type { Directory } from './directory.ts'
import * as store from './link-store.ts'
import * as rules from './rules.ts'
import { previewGroup } from './sync/sync.ts'

export interface LdapServices {
  readonly db: Database
  readonly log: Logger
  readonly plan: Plan
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly directory: Directory
}

export const groupSync = 'ldap:sync-groups'

const LinkEntity = Fields({
  cn: Nullable(Text()),
  group_access: Int(),
  provider: Text(),
  filter: Nullable(Text()),
  member_role_id: Nullable(Id()),
})

const Planned = Fields({
  user_id: Id(),
  username: Nullable(Text()),
  action: OneOf('add', 'change', 'mark', 'remove', 'keep'),
  from: Nullable(Int({ description: 'Level before; null: no member' })),
  to: Nullable(Int({ description: 'Level afterwards; null: no member any more' })),
  because: Text(),
})

const levels = [5, 10, 15, 20, 30, 40, 50] as const

/** Links of groups to those of a directory, and their sync. */
export function linkEndpoints(services: LdapServices): Endpoint[] {
  const { db, settings, directory, plan, log } = services
  const about = { on: group, may: 'admin_ldap_group_links', plan: planOf.ldap_groups } as const
  const refuses = { 403: 'Without directories, or where only administrators manage links' }

  /** What neither role nor plan say. */
  const mustManage = (actor: Actor): void => {
    if (!directory.enabled) throw forbidden()
    if (!settings.values.allow_group_owners_to_manage_ldap && !isAdministrator(actor)) throw forbidden()
  }
  const removeLink = async (
    actor: Actor,
    groupId: number,
    which: Parameters<typeof store.remove>[2],
  ): Promise<void> => {
    mustManage(actor)
    if (!(await store.remove(db.writer, groupId, which))) throw refused(404, 'Linked LDAP group not found')
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/ldap_group_links',
      summary: 'List the links of a group to groups of a directory',
      paged: true,
      answers: ListOf(LinkEntity),
      refuses,
      read: ({ page }) => store.list(page),
      async handle({ actor, rows }) {
        mustManage(actor)
        return rows
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/groups/:id/ldap_group_links',
      summary: 'Give those who are in a group of a directory a membership',
      description: 'By `cn` or by `filter`, exactly one of them. Memberships change with the next sync.',
      params: Fields({
        group_access: OneOf(levels, { description: '5: only in top-level groups' }),
        provider: Text({ description: '`ldap` and the key of the server: `ldapmain`' }),
        cn: Optional(Nullable(Text())),
        filter: Optional(Nullable(Text({ description: 'RFC 4515' }))),
        member_role_id: Optional(
          Nullable(Id({ description: 'Top plan: a custom role, whose base is the level' })),
        ),
      }),
      answers: LinkEntity,
      refuses: { ...refuses, 404: 'No such role', 409: 'It is there, or is none' },
      async handle({ actor, group, params }) {
        mustManage(actor)
        const named = rules.named(params)
        rules.checkLevel(params.group_access, group.parentId === null)
        const link = { ...named, provider: params.provider }
        rules.checkLink(link)
        const roleId = offers(plan, 'member_roles') ? (params.member_role_id ?? null) : null
        const role = roleId === null ? undefined : await findRole(db.reader, roleId)
        if (
          roleId !== null &&
          (role === undefined || (role.group_id !== null && role.group_id !== group.line[0]))
        ) {
          throw notFound('Member Role')
        }
        return store.insert(db.writer, group.id, {
          ...link,
          group_access: role?.base_access_level ?? params.group_access,
          member_role_id: roleId,
        })
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/groups/:id/ldap_group_links',
      summary: 'End a link',
      params: Fields({ provider: Text(), cn: Optional(Text()), filter: Optional(Text()) }),
      answers: null,
      refuses: { ...refuses, 404: 'No such link' },
      async handle({ actor, group, params }) {
        const { cn, filter } = rules.named(params)
        await removeLink(actor, group.id, {
          provider: params.provider,
          ...(cn === null ? { filter: filter! } : { cn }),
        })
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/groups/:id/ldap_group_links/:cn',
      summary: 'End the first link to a group of this name (deprecated)',
      answers: null,
      refuses: { ...refuses, 404: 'No such link' },
      handle: ({ actor, group, params }) => removeLink(actor, group.id, { cn: params.cn }),
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/groups/:id/ldap_group_links/:provider/:cn',
      summary: 'End a link to a group of a directory (deprecated)',
      answers: null,
      refuses: { ...refuses, 404: 'No such link' },
      handle: ({ actor, group, params }) =>
        removeLink(actor, group.id, { provider: params.provider, cn: params.cn }),
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/groups/:id/ldap_sync',
      summary: 'Sync the members of a group with its directories now',
      description:
        'A sync that would remove very many stops and asks: then it is started again with `confirm`. It runs beside requests; its state tells how it went.',
      params: Fields({ confirm: Flag({ default: false, description: 'Also when it removes very many' }) }),
      status: 202,
      answers: Fields({ message: Text() }),
      refuses,
      async handle({ actor, group, params }) {
        mustManage(actor)
        await enqueue(db.writer, groupSync, { groupIds: [group.id], confirmed: params.confirm })
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/ldap_sync',
      summary: 'Tell how the last sync of a group went',
      answers: Fields({
        state: OneOf(['ready', 'started', 'pending', 'failed'], {
          description: '`pending`: it would remove very many, and waits for a word',
        }),
        error: Nullable(Text()),
        started_at: Nullable(Timestamp()),
        finished_at: Nullable(Timestamp()),
      }),
      refuses,
      async handle({ actor, group }) {
        mustManage(actor)
        return store.syncState(db.reader, group.id)
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/ldap_sync/preview',
      summary: 'Tell what a sync of a group would change now, and why',
      description: 'The directories are asked, and nothing is changed.',
      answers: Fields({
        state: OneOf(['ready', 'pending', 'failed'], { description: 'What would become of the sync' }),
        error: Nullable(Text()),
        changes: ListOf(Planned),
        unknown: Int({ description: 'People of the directory who have not signed in here yet' }),
      }),
      refuses,
      async handle({ actor, group }) {
        mustManage(actor)
        const {
          state,
          error,
          plan: planned,
        } = await previewGroup({ db, log, config: directory.config }, group.id)
        const { changes = [], kept = [], unknown = 0 } = planned ?? {}
        const names = await store.usernames(
          db.reader,
          [...changes, ...kept].map(({ userId }) => userId),
        )
        const shown = (userId: number) => ({ user_id: userId, username: names.get(userId) ?? null })
        return {
          state,
          error,
          changes: [
            ...changes.map(({ userId, action, from, to, because }) => ({
              ...shown(userId),
              action,
              from,
              to,
              because,
            })),
            ...kept.map(({ userId, level, because }) => ({
              ...shown(userId),
              action: 'keep',
              from: level,
              to: level,
              because,
            })),
          ],
          unknown,
        }
      },
    }),
  ]
}
