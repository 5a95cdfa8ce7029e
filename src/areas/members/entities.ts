import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { memberRole, MemberRole, type MemberRoleRow } from '../member-roles/index.ts'
import { basicUser, type BasicUserRow } from '../users/index.ts'

const creator = {
  id: Id(),
  username: Text(),
  name: Text(),
  state: Text(),
  avatar_url: Nullable(Text()),
  web_url: Text(),
}

export const Member = Fields({
  id: Id({ description: 'Id of the user' }),
  username: Text(),
  name: Text(),
  state: Text({ description: 'State of the user' }),
  locked: Flag(),
  avatar_url: Nullable(Text()),
  web_url: Text(),
  access_level: Int(),
  created_at: Timestamp(),
  created_by: Nullable(Fields(creator)),
  expires_at: Nullable(DateOnly({ description: 'The membership ends at 00:00 UTC of this day' })),
  email: Optional(Text({ description: 'Of enterprise users, for owners of the top-level group' })),
  group_saml_identity: Optional(
    Nullable(
      Fields(
        { extern_uid: Text(), provider: Text(), saml_provider_id: Id() },
        { description: 'Of groups with a sign-in of their own, for their owners' },
      ),
    ),
  ),
  is_using_seat: Optional(Flag({ description: 'Paid plans, with `show_seat_info`' })),
  membership_state: Optional(OneOf(['active', 'awaiting'], { description: 'Paid plans' })),
  member_role: Optional(MemberRole),
  override: Optional(
    Flag({ description: 'Of members of groups that a directory keeps: whether a hand has the last word' }),
  ),
})

/** The outcome of adding several users at once. */
export const Outcome = Fields({
  status: OneOf('success', 'error'),
  message: Optional(Text()),
  reason: Optional(Text()),
})

interface SamlIdentity {
  readonly extern_uid: string
  readonly provider: string
  readonly saml_provider_id: number
}

export interface MemberRow extends BasicUserRow {
  readonly access_level: number
  readonly created_at: Date | string
  readonly expires_at: string | null
  readonly membership_state: string
  readonly created_by: BasicUserRow | null
  readonly member_role: MemberRoleRow | null
  /** Null: not for this caller. Left out after a write. */
  readonly email?: string | null
  readonly shows_saml?: boolean
  readonly saml_identity?: SamlIdentity | null
  /** Only where it is wanted. */
  readonly is_using_seat?: boolean
  /** Null where no directory keeps the membership. */
  readonly override?: boolean | null
}

/** The column `override` of a membership. */
export function overrideOf(alias: string): RawBuilder<boolean | null> {
  const member = (column: string) => sql.ref(`${alias}.${column}`)
  return sql`case when ${member('ldap')} and ${member('namespace_id')} is not null then ${member('override')} end as override`
}

/** What a member looks like here; `paid` shows whether the membership waits for a seat. */
export function memberEntity({ externalUrl, paid }: { externalUrl: () => string; paid: boolean }) {
  return (row: MemberRow) => ({
    ...basicUser(row, externalUrl()),
    access_level: row.access_level,
    created_at: row.created_at,
    created_by: row.created_by && basicUser(row.created_by, externalUrl()),
    expires_at: row.expires_at,
    ...(row.email != null && { email: row.email }),
    ...(row.shows_saml === true && { group_saml_identity: row.saml_identity ?? null }),
    ...(paid && row.is_using_seat !== undefined && { is_using_seat: row.is_using_seat }),
    ...(paid && { membership_state: row.membership_state }),
    ...(row.member_role !== null && { member_role: memberRole(row.member_role) }),
    ...(row.override != null && { override: row.override }),
  })
}
