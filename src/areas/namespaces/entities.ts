import { offers, type Plan } from '../../kernel/config/index.ts'
import { Fields, Flag, Id, Int, Nullable, OneOf, Optional, Text } from '../../kernel/endpoint/index.ts'
import { avatarUrl } from '../avatars/index.ts'

const briefFields = {
  id: Id(),
  name: Text(),
  path: Text(),
  kind: OneOf('user', 'group'),
  full_path: Text(),
  parent_id: Nullable(Id()),
  avatar_url: Nullable(Text()),
  web_url: Text(),
}

/** What everything that lies in a namespace says of it. */
export const BriefNamespace = Fields(briefFields)

export const Namespace = Fields({
  ...briefFields,
  members_count_with_descendants: Optional(Int({ description: 'Of groups, for their Owners' })),
  billable_members_count: Optional(
    Int({ description: 'Who takes a seat; of one namespace, with a paid plan, for its Owners' }),
  ),
  max_seats_used: Optional(Int({ description: 'The most that were in use, as counted each day and now' })),
  seats_in_use: Optional(Int({ description: 'The same, of what lies at the top' })),
  plan: Optional(Text({ description: 'With a paid plan' })),
  trial: Optional(Flag()),
  trial_ends_on: Optional(Nullable(Text())),
  root_repository_size: Optional(
    Nullable(Int({ description: 'In bytes, as measured last; of what lies at the top. For administrators' })),
  ),
  projects_count: Optional(Int({ description: 'For administrators' })),
})

export interface BriefNamespaceRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly kind: 'user' | 'group'
  readonly full_path: string
  readonly parent_id: number | null
  readonly avatar: string | null
}

export interface NamespaceRow extends BriefNamespaceRow {
  /** Null: not for this caller. */
  readonly members_count_with_descendants: number | null
  readonly projects_count: number | null
  readonly root_repository_size?: number | null
  readonly billable_members_count?: number | null
  /** Null: never counted yet. */
  readonly most_seats?: number | null
}

export function briefNamespace(row: BriefNamespaceRow, externalUrl: string): Record<string, unknown> {
  const { id, name, path, kind, full_path, parent_id, avatar } = row
  return {
    ...{ id, name, path, kind, full_path, parent_id },
    avatar_url: avatarUrl(avatar, externalUrl),
    web_url: `${externalUrl}/${kind === 'group' ? 'groups/' : ''}${full_path}`,
  }
}

export function namespace(row: NamespaceRow, externalUrl: string, plan: Plan): Record<string, unknown> {
  const billable = row.billable_members_count ?? undefined
  const seats = row.parent_id === null ? billable : undefined
  return {
    ...briefNamespace(row, externalUrl),
    members_count_with_descendants: row.members_count_with_descendants ?? undefined,
    billable_members_count: billable,
    max_seats_used: seats === undefined ? undefined : Math.max(seats, row.most_seats ?? 0),
    seats_in_use: seats,
    root_repository_size: row.projects_count === null ? undefined : row.root_repository_size,
    projects_count: row.projects_count ?? undefined,
    ...(offers(plan, 'plan_of_namespaces') && { plan, trial: false, trial_ends_on: null }),
  }
}
