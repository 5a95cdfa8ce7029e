import {
  abilities,
  endpoint,
  enterById,
  group,
  project,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { memberRole, MemberRole } from '../member-roles/index.ts'
import { explain, keptByPolicyServer, reasons } from './explain.ts'
import * as store from './store.ts'

const Explanation = Fields({
  user_id: Id(),
  ability: Text(),
  allowed: Flag(),
  decided_by: OneOf(reasons, { description: 'What lets the user in, or what keeps him out' }),
  reason: Text({ description: 'The rule that decided, in words' }),
  visible: Flag({ description: 'Whether the user may know that there is such a thing' }),
  read_only: Flag({
    description:
      'Archived or marked for deletion: what writes is refused all the same, but for what ends that',
  }),
  access_level: Int({ description: 'The highest level of all memberships; 0 without any' }),
  permissions: ListOf(Text({ description: 'What custom roles give besides' })),
  memberships: ListOf(
    Fields({
      id: Id(),
      source_type: OneOf('group', 'project'),
      source_id: Id(),
      source_full_path: Text(),
      access_level: Int({ description: 'As it counts here' }),
      given_access_level: Int({ description: 'As it was given; a share may lower it' }),
      expires_at: Nullable(DateOnly()),
      member_role: Nullable(MemberRole),
      shared_through: ListOf(Text({ description: 'Full path of a group that was let in on the way' })),
      decisive: Flag({ description: 'The decision stands on it' }),
    }),
  ),
})

const abilityNames = (kind: 'group' | 'project') => Object.keys(abilities[kind])

export function explanationEndpoint(kind: 'group' | 'project', { db }: { readonly db: Database }): Endpoint {
  const on = kind === 'group' ? group : project
  return endpoint({
    method: 'GET',
    path: `/${kind}s/:id/access/explain`,
    summary: `Explain why a user may do something with a ${kind}, or may not`,
    description:
      'The decision that requests of the user would meet, and the memberships, shares and roles that it hangs on.',
    on,
    may: 'explain_access',
    params: Fields({
      user_id: Id(),
      ability: OneOf(abilityNames(kind), { description: 'One of those in the manual of abilities' }),
    }),
    answers: Explanation,
    refuses: { 404: 'No such user' },
    read: ({ params }) => store.memberships(kind, params.user_id),
    async handle(call) {
      const { id } = kind === 'group' ? call.group : call.project
      const { user_id: userId, ability } = call.params
      const entrance = await enterById<GroupSubject | ProjectSubject>(db, on, userId, {
        id: String(id),
        secretDigest: undefined,
      })
      const { actor, subject, visible } = entrance
      if (actor === undefined) throw notFound('User')
      // Found already, so it is only there that it is kept from the user.
      const told =
        subject === undefined
          ? keptByPolicyServer
          : explain(actor, subject, { ability, visible, memberships: call.rows })
      return {
        user_id: userId,
        ability,
        allowed: told.allowed,
        decided_by: told.by,
        reason: told.because,
        visible,
        read_only: subject !== undefined && (subject.archived || subject.deleting),
        access_level: subject?.role ?? 0,
        permissions: subject?.permissions ?? [],
        memberships: call.rows.map(({ via, member_role: role, ...row }, at) => ({
          ...row,
          member_role: role && memberRole(role),
          shared_through: via ?? [],
          decisive: told.decisive.has(call.rows[at]!),
        })),
      }
    },
  })
}
