import { may, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { changeLabels, labelsNamed, type LabelChange } from '../labels/index.ts'
import { recordMilestone } from '../noteables/index.ts'

export interface Plan {
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
  /** 0 or null: none. */
  readonly milestone_id?: number | null | undefined
}

type Changes = Record<string, { readonly from: unknown; readonly to: unknown }>

/** Labels and milestone of a request, whose row is locked or new; tells what became of them. */
export async function planRequest(
  tx: Tx,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  before: { readonly id: number; readonly milestone_id: number | null; readonly state: string },
  plan: Plan,
): Promise<Changes> {
  const changes: Changes = {}
  const noteable = { type: 'MergeRequest', id: before.id } as const
  const user = userOf(actor).id
  const change = await labelChange(tx, actor, project, plan)
  if (change !== undefined) {
    const { added, removed } = await changeLabels(tx, noteable, change, user)
    const titles = (labels: readonly { title: string }[]): string[] => labels.map(({ title }) => title)
    if (added.length + removed.length > 0) changes['labels'] = { from: titles(removed), to: titles(added) }
  }
  if (plan.milestone_id !== undefined) {
    const to = await milestoneFor(tx, project, plan.milestone_id ?? 0)
    const from = before.milestone_id
    await sql`update merge_requests set milestone_id = ${to} where id = ${before.id}`.execute(tx)
    await recordMilestone(tx, noteable, user, { from, to, state: before.state })
    if (from !== to) changes['milestone_id'] = { from, to }
  }
  return changes
}

/** Titles that there are not become labels of the project where the caller may make them. */
async function labelChange(
  tx: Tx,
  actor: Actor,
  project: ProjectSubject,
  { labels, add_labels: add = [], remove_labels: remove = [] }: Plan,
): Promise<LabelChange | undefined> {
  if (labels === undefined && add.length === 0 && remove.length === 0) return undefined
  const place = { projectId: project.id, line: project.line }
  const create = may(actor, 'admin_label', project)
  if (labels === undefined) {
    return {
      add: await labelsNamed(tx, place, add, create),
      remove: await labelsNamed(tx, place, remove, false),
    }
  }
  const wanted = [...labels, ...add].filter((title) => !remove.includes(title))
  return { set: await labelsNamed(tx, place, wanted, create) }
}

/** A milestone of the project or a group above it; null for any other. */
async function milestoneFor(
  tx: Tx,
  { id, line }: ProjectSubject,
  milestoneId: number,
): Promise<number | null> {
  if (milestoneId === 0) return null
  const { rows } = await sql<{ id: number }>`
    select plan.id from milestones plan
    where plan.id = ${milestoneId} and (plan.project_id = ${id} or plan.namespace_id = any (${[...line]}::bigint[]))
    for key share`.execute(tx)
  return rows[0]?.id ?? null
}
