import type { Reader } from '../../kernel/db/index.ts'
import { DateTime, Id, Int, Nullable, Optional } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { findRole } from '../member-roles/index.ts'
import type { Wish } from './rules.ts'

export const accessLevel = Int({
  description: '10, 15, 20, 30, 40 or 50; on paid plans 5 in top-level groups',
})

/** Parameters of a membership besides its level. */
export const membershipOptions = {
  expires_at: Optional(Nullable(DateTime({ description: 'Day on which the membership ends, at 00:00 UTC' }))),
  member_role_id: Optional(
    Nullable(Id({ description: 'Top plan: a custom role whose base is this level; empty: none' })),
  ),
}

export interface Asked {
  readonly access_level?: number | undefined
  readonly expires_at?: Date | null | undefined
  readonly member_role_id?: number | null | undefined
}

/** What is asked for a membership; what nothing is said of stays as it was. `customRoles`: the plan has them. */
export async function wishOf(
  db: Reader,
  { access_level: level, expires_at: end, member_role_id: roleId }: Asked,
  customRoles: boolean,
  before?: { readonly access_level: number; readonly expires_at: string | null },
): Promise<Wish> {
  const wish = {
    accessLevel: level ?? before?.access_level ?? 0,
    expiresAt: end === undefined ? (before?.expires_at ?? null) : day(end),
  }
  if (!customRoles || roleId === undefined) return wish
  const memberRole = roleId === null ? null : await findRole(db, roleId)
  if (memberRole === undefined) throw notFound('Member Role')
  return { ...wish, memberRole }
}

function day(date: Date | null): string | null {
  return date?.toISOString().slice(0, 10) ?? null
}
