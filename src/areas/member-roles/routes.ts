import { endpoint, flaggedPermission, permissions, type Permission } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
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
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { eachPermission, memberRole, MemberRole } from './entities.ts'
import type { Place } from './places.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

interface Services {
  readonly db: Database
  readonly settings: Settings
}

const member_role_id = Id({ description: 'The custom role' })
const flags = {
  ...eachPermission(() => Optional(Flag())),
  [flaggedPermission]: Optional(
    Flag({ description: 'Counts only while the flag custom_ability_admin_security_testing is on' }),
  ),
}
const lowestBase = 10
const every: readonly Permission[] = [...permissions, flaggedPermission]
const description = Optional(Nullable(Text()))

/** Custom roles of one kind of place. */
export function memberRoleEndpoints<Kind extends SubjectKind>(
  { db, settings }: Services,
  { kind, on, may, path, called, placeOf }: Place<Kind>,
): Endpoint[] {
  const guarded = { on, may, plan: planOf.member_roles } as const
  const base = { description: 'The role that it adds to' }

  /** What a call wants of the permissions; what it says nothing of stays. */
  const chosen = (
    params: Partial<Record<Permission, boolean>>,
    before: readonly Permission[] = [],
  ): Permission[] => {
    const counts = (permission: Permission): boolean =>
      permission !== flaggedPermission || settings.flags.custom_ability_admin_security_testing
    return every.filter(
      (permission) => (counts(permission) ? params[permission] : undefined) ?? before.includes(permission),
    )
  }

  const changing = (method: 'PUT' | 'PATCH'): Endpoint =>
    endpoint({
      ...guarded,
      method,
      path: `${path}/:member_role_id`,
      summary: `Change a custom role of ${called}${method === 'PUT' ? '' : ', as with PUT'}`,
      description: 'What is not named stays. All who have the role feel the change at once.',
      params: Fields({
        member_role_id,
        name: Optional(Text()),
        description,
        base_access_level: Optional(Int({ description: 'Cannot be changed' })),
        ...flags,
      }),
      rules: { atLeastOneOf: [['name', 'description', ...permissions]] },
      answers: MemberRole,
      refuses: { 404: 'No such role here' },
      async handle(call) {
        const { params } = call
        const place = placeOf(call)
        return db.transaction(async (tx) => {
          const before = await store.lock(tx, place.groupId, params.member_role_id)
          if (before === undefined) throw notFound('Member Role')
          if ((params.base_access_level ?? before.base_access_level) !== before.base_access_level) {
            throw rules.baseIsFixed()
          }
          const state = {
            name: params.name?.trim() ?? before.name,
            description: params.description === undefined ? before.description : params.description,
            baseAccessLevel: before.base_access_level,
            permissions: chosen(params, before.permissions),
          }
          rules.refuseFaults(state, place, await store.others(tx, place.groupId, state.name, before.id))
          return memberRole(await store.change(tx, before.id, state))
        })
      },
    })

  return [
    endpoint({
      ...guarded,
      method: 'GET',
      path,
      summary: `List the custom roles of ${called}`,
      paged: true,
      answers: ListOf(MemberRole),
      read: ({ page }) => store.list(kind, page),
      handle: async ({ rows }) => rows.map(memberRole),
    }),

    endpoint({
      ...guarded,
      method: 'POST',
      path,
      summary: `Create a custom role of ${called}`,
      params: Fields({
        name: Text(),
        description,
        // The call of a group is not told to name one (part 2).
        base_access_level: OneOf(
          [10, 15, 20, 30, 40, 50],
          kind === 'group' ? { ...base, default: lowestBase } : base,
        ),
        ...flags,
      }),
      answers: MemberRole,
      refuses: { 400: 'No top-level group, too many roles, or a permission without the one that it needs' },
      async handle(call) {
        const { params } = call
        const place = placeOf(call)
        const state = {
          name: params.name.trim(),
          description: params.description ?? null,
          baseAccessLevel: params.base_access_level,
          permissions: chosen(params),
        }
        return db.transaction(async (tx) => {
          if (place.groupId !== null) await store.lockGroup(tx, place.groupId)
          rules.refuseFaults(state, place, await store.others(tx, place.groupId, state.name))
          return memberRole(await store.insert(tx, place.groupId, state))
        })
      },
    }),

    changing('PUT'),
    changing('PATCH'),

    endpoint({
      ...guarded,
      method: 'DELETE',
      path: `${path}/:member_role_id`,
      summary: `Delete a custom role of ${called}`,
      description: 'Invitations and shares lose it; a role that members have stays.',
      params: Fields({ member_role_id }),
      answers: null,
      refuses: { 400: 'Members have it', 404: 'No such role here' },
      async handle(call) {
        const { groupId } = placeOf(call)
        await db.transaction(async (tx) => {
          const role = await store.lock(tx, groupId, call.params.member_role_id)
          if (role === undefined) throw notFound('Member Role')
          if (await store.isHeld(tx, role.id)) throw rules.inUse()
          await store.remove(tx, role.id)
        })
      },
    }),
  ]
}
