import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'

/** A milestone, also as what is planned for it shows it. */
export const Milestone = Fields({
  id: Id(),
  iid: Int(),
  project_id: Optional(Id()),
  group_id: Optional(Id()),
  title: Text(),
  description: Nullable(Text()),
  state: Text({ description: 'active or closed' }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  due_date: Nullable(DateOnly()),
  start_date: Nullable(DateOnly()),
  expired: Flag(),
  web_url: Text(),
})

export interface MilestoneRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number | null
  readonly namespace_id: number | null
  /** Of the project or group. */
  readonly full_path: string
  readonly title: string
  readonly description: string | null
  readonly state: 'active' | 'closed'
  readonly start_date: string | null
  readonly due_date: string | null
  readonly created_at: Date | string
  readonly updated_at: Date | string
}

export const milestoneColumns = sql`
  m.id, m.iid, m.project_id, m.namespace_id, coalesce(mp.full_path, mn.full_path) as full_path, m.title, m.description,
  m.state, m.start_date, m.due_date, m.created_at, m.updated_at`

export const milestoneSource = sql`
  milestones m left join projects mp on mp.id = m.project_id left join namespaces mn on mn.id = m.namespace_id`

/** The milestone with this id as JSON of a `MilestoneRow`, or null: `milestoneJson(sql`i.milestone_id`)`. */
export function milestoneJson(id: RawBuilder<unknown>): RawBuilder<MilestoneRow | null> {
  return sql`(
    select to_json(found) from (select ${milestoneColumns} from ${milestoneSource} where m.id = ${id}) found)`
}

export function milestone(row: MilestoneRow, externalUrl: string, now = new Date()) {
  const ofProject = row.project_id !== null
  const place = ofProject ? row.full_path : `groups/${row.full_path}`
  return {
    id: row.id,
    iid: row.iid,
    ...(ofProject ? { project_id: row.project_id } : { group_id: row.namespace_id! }),
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    due_date: row.due_date,
    start_date: row.start_date,
    expired: row.due_date !== null && row.due_date < now.toISOString().slice(0, 10),
    web_url: `${externalUrl}/${place}/-/milestones/${row.iid}`,
  }
}
