import { Fields, Flag, Id, Int, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import { escapeHtml } from '../../kernel/lib/html.ts'
import { textColor } from './colors.ts'

const ofAll = {
  id: Id(),
  name: Text(),
  description: Nullable(Text()),
  description_html: Text(),
  text_color: Text(),
  color: Text(),
}

/** A label as a noteable shows it with `with_labels_details`. */
export const LabelDetails = Fields(ofAll)

const ofGroup = {
  ...ofAll,
  open_issues_count: Optional(Int({ description: 'With `with_counts`' })),
  closed_issues_count: Optional(Int({ description: 'With `with_counts`' })),
  open_merge_requests_count: Optional(Int({ description: 'With `with_counts`' })),
  subscribed: Flag(),
}

export const GroupLabel = Fields(ofGroup)

export const ProjectLabel = Fields({
  ...ofGroup,
  priority: Nullable(Int({ description: 'In this project; the lower the more important' })),
  is_project_label: Flag({ description: 'Of the project itself, not of a group above it' }),
})

export interface LabelDetailsRow {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly color: string
}

export interface LabelRow extends LabelDetailsRow {
  readonly updated_at: Date | string
  readonly subscribed: boolean
  readonly priority: number | null
  readonly is_project_label: boolean
  /** With counts only. */
  readonly counts: {
    readonly open_issues_count: number
    readonly closed_issues_count: number
    readonly open_merge_requests_count: number
  } | null
}

export function labelDetails(row: LabelDetailsRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    description_html: escapeHtml(row.description ?? ''),
    text_color: textColor(row.color),
    color: row.color,
  }
}

/** Of a project or a group: the answer's shape takes what it knows. */
export function label(row: LabelRow) {
  return {
    ...labelDetails(row),
    ...row.counts,
    subscribed: row.subscribed,
    priority: row.priority,
    is_project_label: row.is_project_label,
  }
}
