import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { Fields, Id, Int, ListOf, Nullable, Text } from '../../kernel/endpoint/index.ts'

export const entryFields = {
  id: Id(),
  user_id: Nullable(Id()),
  group_id: Nullable(Id()),
  access_level: Nullable(Int()),
  access_level_description: Text(),
  group_inheritance_type: Int({ description: '1: inherited members of the group count, too' }),
}

export const ProtectedEnvironment = Fields({
  name: Text({ description: 'Of the environment; for rules of groups the tier' }),
  deploy_access_levels: ListOf(Fields(entryFields)),
  required_approval_count: Int({ description: 'Where no approval rules say whose' }),
  approval_rules: ListOf(Fields({ ...entryFields, required_approvals: Int() })),
})

export type Action = 'deploy' | 'approve'

/** An entry of a rule, as it is read: one of three says whom it names. */
export interface EntryRow {
  readonly id: number
  readonly action: Action
  readonly access_level: number | null
  readonly user_id: number | null
  readonly group_id: number | null
  readonly group_inheritance_type: number
  readonly required_approvals: number | null
  /** Of the user or group. */
  readonly name: string | null
}

export interface ProtectionRow {
  readonly id: number
  readonly name: string
  readonly required_approval_count: number
  readonly entries: readonly EntryRow[]
}

/** What the API says of entries that name a user or group. */
const usualLevel = 40

const levels: Readonly<Record<number, string>> = {
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
}

export function levelDescription({ name, access_level }: Pick<EntryRow, 'name' | 'access_level'>): string {
  return name ?? levels[access_level ?? usualLevel] ?? ''
}

/** The entries of a rule as the API tells them, by what they are for. */
export function shownEntries(entries: readonly EntryRow[]): Record<string, unknown> {
  const of = (action: Action) =>
    entries
      .filter((one) => one.action === action)
      .map((one) => ({ ...one, access_level_description: levelDescription(one) }))
  return {
    deploy_access_levels: of('deploy').map((one) => ({
      ...one,
      access_level: one.access_level ?? usualLevel,
    })),
    approval_rules: of('approve'),
  }
}

export function protectedEnvironment(row: ProtectionRow): Record<string, unknown> {
  return { ...row, ...shownEntries(row.entries) }
}

/** An approval rule with what was said by it of one deployment. */
export interface ApprovalRuleRow extends Omit<EntryRow, 'action' | 'group_inheritance_type'> {
  readonly approvals: readonly number[]
}

/** The approval rules for a deployment `d` to environment `de`, each with the ids of approvals given by it. */
export const approvalRulesJson: RawBuilder<readonly ApprovalRuleRow[]> = sql`coalesce((
  select json_agg(json_build_object('id', l.id, 'user_id', l.user_id, 'group_id', l.group_id,
    'access_level', l.access_level, 'required_approvals', l.required_approvals, 'name', coalesce(lu.name, lg.name),
    'approvals', coalesce((
      select json_agg(a.id order by a.id) from deployment_approvals a
      where a.deployment_id = d.id and a.entry_id = l.id), '[]')) order by l.id)
  from environment_protections(de.project_id, de.name, de.tier) x
    join protected_environment_entries l on l.protected_environment_id = x and l.action = 'approve'
    left join users lu on lu.id = l.user_id left join namespaces lg on lg.id = l.group_id), '[]')`
