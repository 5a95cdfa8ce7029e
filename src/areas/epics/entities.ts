import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { relativePath } from '../issues/index.ts'
import { labelDetails, type LabelDetailsRow } from '../labels/index.ts'
import { basicUser, BasicUser, type BasicUserRow } from '../users/index.ts'

const fields = {
  id: Id(),
  iid: Int(),
  group_id: Id(),
  parent_id: Nullable(Id()),
  parent_iid: Nullable(Int()),
  title: Text(),
  description: Nullable(Text()),
  state: Text({ description: 'opened or closed' }),
  imported: Flag(),
  imported_from: Text(),
  confidential: Flag(),
  web_url: Text(),
  reference: Text({ deprecated: true }),
  references: Fields({ short: Text(), relative: Text(), full: Text() }),
  author: Nullable(BasicUser),
  start_date: Nullable(DateOnly()),
  start_date_is_fixed: Flag(),
  start_date_fixed: Nullable(DateOnly()),
  start_date_from_inherited_source: Nullable(DateOnly()),
  start_date_from_milestones: Nullable(DateOnly()),
  end_date: Nullable(DateOnly({ deprecated: true })),
  due_date: Nullable(DateOnly()),
  due_date_is_fixed: Flag(),
  due_date_fixed: Nullable(DateOnly()),
  due_date_from_inherited_source: Nullable(DateOnly()),
  due_date_from_milestones: Nullable(DateOnly()),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  closed_at: Nullable(Timestamp()),
  labels: ListOf(Json(), { description: 'Names; with `with_labels_details` objects' }),
  upvotes: Int(),
  downvotes: Int(),
  color: Text(),
  subscribed: Optional(Flag()),
  _links: Fields({ self: Text(), epic_issues: Text(), group: Text(), parent: Nullable(Text()) }),
}

export const Epic = Fields(fields)

export interface EpicRow {
  readonly id: number
  readonly iid: number
  readonly group_id: number
  readonly full_path: string
  readonly parent: { readonly id: number; readonly iid: number; readonly group_id: number } | null
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly author: BasicUserRow | null
  readonly start_date_is_fixed: boolean
  readonly start_date_fixed: string | null
  readonly due_date_is_fixed: boolean
  readonly due_date_fixed: string | null
  /** Of what is planned below: the first start, the last end. */
  readonly inherited: { readonly start: string | null; readonly due: string | null }
  readonly milestones: { readonly start: string | null; readonly due: string | null }
  readonly created_at: string
  readonly updated_at: string
  readonly closed_at: string | null
  readonly labels: readonly string[] | readonly LabelDetailsRow[]
  readonly upvotes: number
  readonly downvotes: number
  readonly color: string
  readonly subscribed?: boolean
}

export function epic(
  row: EpicRow,
  { externalUrl, from }: { readonly externalUrl: string; readonly from: string },
) {
  const groups = `${externalUrl}/api/v4/groups`
  const self = `${groups}/${row.group_id}/epics/${row.iid}`
  const start = row.start_date_is_fixed ? row.start_date_fixed : row.inherited.start
  const due = row.due_date_is_fixed ? row.due_date_fixed : row.inherited.due
  const { parent } = row
  return {
    ...row,
    parent_id: parent?.id ?? null,
    parent_iid: parent?.iid ?? null,
    imported: false,
    imported_from: 'none',
    web_url: `${externalUrl}/groups/${row.full_path}/-/epics/${row.iid}`,
    reference: `&${row.iid}`,
    references: {
      short: `&${row.iid}`,
      relative: `${relativePath(row.full_path, from)}&${row.iid}`,
      full: `${row.full_path}&${row.iid}`,
    },
    author: row.author === null ? null : basicUser(row.author, externalUrl),
    start_date: start,
    start_date_from_inherited_source: row.inherited.start,
    start_date_from_milestones: row.milestones.start,
    end_date: due,
    due_date: due,
    due_date_from_inherited_source: row.inherited.due,
    due_date_from_milestones: row.milestones.due,
    labels: row.labels.map((label) => (typeof label === 'string' ? label : labelDetails(label))),
    _links: {
      self,
      epic_issues: `${self}/issues`,
      group: `${groups}/${row.group_id}`,
      parent: parent === null ? null : `${groups}/${parent.group_id}/epics/${parent.iid}`,
    },
  }
}
