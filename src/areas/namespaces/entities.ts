import { offers, type Plan } from '../../kernel/config/index.ts'
import { Fields, Flag, Id, Int, Nullable, OneOf, Optional, Text } from '../../kernel/endpoint/index.ts'
import { avatarUrl } from '../avatars/index.ts'

export const Namespace = Fields({
  id: Id(),
  name: Text(),
  path: Text(),
  kind: OneOf('user', 'group'),
  full_path: Text(),
  parent_id: Nullable(Id()),
  avatar_url: Nullable(Text()),
  web_url: Text(),
  members_count_with_descendants: Optional(Int({ description: 'Of groups, for their Owners' })),
  plan: Optional(Text({ description: 'With a paid plan' })),
  trial: Optional(Flag()),
  trial_ends_on: Optional(Nullable(Text())),
  projects_count: Optional(Int({ description: 'For administrators' })),
})

export interface NamespaceRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly kind: 'user' | 'group'
  readonly full_path: string
  readonly parent_id: number | null
  readonly avatar: string | null
  /** Null: not for this caller. */
  readonly members_count_with_descendants: number | null
  readonly projects_count: number | null
}

export function namespace(row: NamespaceRow, externalUrl: string, plan: Plan): Record<string, unknown> {
  return {
    ...row,
    avatar_url: avatarUrl(row.avatar, externalUrl),
    web_url: `${externalUrl}/${row.kind === 'group' ? 'groups/' : ''}${row.full_path}`,
    members_count_with_descendants: row.members_count_with_descendants ?? undefined,
    projects_count: row.projects_count ?? undefined,
    ...(offers(plan, 'plan_of_namespaces') && { plan, trial: false, trial_ends_on: null }),
  }
}
