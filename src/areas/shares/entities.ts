import { DateOnly, Fields, Id, Int, Nullable, Text } from '../../kernel/endpoint/index.ts'

/** A group that something is shared with, inside the answer about that. */
export const SharedWith = Fields({
  group_id: Id(),
  group_name: Text(),
  group_full_path: Text(),
  group_access_level: Int(),
  expires_at: Nullable(DateOnly()),
  member_role_id: Nullable(Id({ description: 'Role of those whom the share lowers' })),
})

export interface SharedWithRow {
  readonly group_id: number
  readonly group_name: string
  readonly group_full_path: string
  readonly group_access_level: number
  readonly expires_at: string | null
  readonly member_role_id: number | null
}

/** The link between a project and a group that was let in. */
export const ProjectShare = Fields({
  id: Id(),
  project_id: Id(),
  group_id: Id(),
  group_access: Int(),
  expires_at: Nullable(DateOnly({ description: 'The group has no access from 00:00 UTC of this day on' })),
  member_role_id: Nullable(Id({ description: 'Role of those whom the share lowers' })),
})

export interface ShareRow {
  readonly id: number
  readonly group_id: number
  readonly group_access: number
  readonly expires_at: string | null
  readonly member_role_id: number | null
}
