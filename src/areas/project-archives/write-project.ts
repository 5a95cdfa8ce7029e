import { chosenIid, sql, type Tx } from '../../kernel/db/index.ts'
import type { IssueRecord, LabelRecord, MilestoneRecord, ProtectedBranchRecord } from './format.ts'
import { signed, userNamed, type Target } from './target.ts'
import { spentIn } from './check-history.ts'
import { madeOf, writeDiscussions } from './write-discussions.ts'
import { writeHistory } from './write-history.ts'

export async function writeLabels(
  tx: Tx,
  { projectId }: Target,
  records: readonly LabelRecord[],
): Promise<void> {
  await sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(records)})
        g (title text, description text, color text, priority integer)
    ), made as (
      insert into labels (project_id, title, description, color)
      select distinct on (g.title) ${projectId}::bigint, g.title, g.description, g.color from given g
      on conflict (project_id, title) do nothing returning id, title
    )
    insert into label_priorities (project_id, label_id, priority)
    select distinct on (m.id) ${projectId}::bigint, m.id, g.priority from made m join given g on g.title = m.title
    where g.priority is not null`.execute(tx)
}

export async function writeMilestones(
  tx: Tx,
  target: Target,
  records: readonly MilestoneRecord[],
): Promise<void> {
  const { projectId } = target
  await sql`
    insert into milestones (iid, project_id, title, description, state, start_date, due_date, created_at, updated_at)
    select distinct on (g.iid) g.iid, ${projectId}::bigint, g.title, g.description, g.state, g.start_date, g.due_date,
      g.created_at, g.updated_at
    from jsonb_to_recordset(${JSON.stringify(records)}) g (iid bigint, title text, description text, state text,
      start_date date, due_date date, created_at timestamptz, updated_at timestamptz)
    order by g.iid
    on conflict (project_id, iid) do nothing`.execute(tx)
  await raise(tx, target, 'milestone', records)
}

export async function writeIssues(tx: Tx, target: Target, records: readonly IssueRecord[]): Promise<void> {
  const { projectId, importerId, asOthers } = target
  const rows = records.map(({ discussions: _, history, ...issue }) => ({
    ...issue,
    time_spent: spentIn(history),
    description: asOthers ? issue.description : signed(issue.description, issue.author),
  }))
  const made = await sql<{ id: number; iid: number }>`
    with given as (
      select distinct on (g.iid) g.* from jsonb_to_recordset(${JSON.stringify(rows)}) g (iid bigint, title text,
        description text, state text, issue_type text, confidential boolean, due_date date, weight integer,
        time_estimate integer, time_spent integer, created_at timestamptz, updated_at timestamptz,
        closed_at timestamptz, author text, milestone bigint, labels jsonb, assignees jsonb)
      order by g.iid
    ), made as (
      insert into issues (iid, project_id, author_id, milestone_id, title, description, state, issue_type, confidential,
        due_date, weight, time_estimate, total_time_spent, created_at, updated_at, closed_at, relative_position)
      select g.iid, ${projectId}::bigint, ${userNamed(target, sql`g.author`)},
        (select m.id from milestones m where m.project_id = ${projectId} and m.iid = g.milestone),
        g.title, g.description, g.state, g.issue_type, g.confidential, g.due_date, g.weight, g.time_estimate,
        g.time_spent, g.created_at, g.updated_at, g.closed_at, g.iid * 1000
      from given g order by g.iid
      on conflict (project_id, iid) do nothing returning id, iid
    ), labelled as (
      insert into noteable_labels (noteable_type, noteable_id, label_id)
      select distinct 'Issue', m.id, l.id from made m join given g on g.iid = m.iid,
        jsonb_array_elements_text(g.labels) as named (label)
        join labels l on l.project_id = ${projectId} and l.title = named.label
    ), assigned as (
      insert into issue_assignees (issue_id, user_id)
      select distinct m.id, u.id from made m join given g on g.iid = m.iid,
        jsonb_array_elements_text(g.assignees) as named (username)
        join users u on lower(u.username) = lower(named.username)
      where ${asOthers} or u.id = ${importerId}
    )
    select m.id, m.iid from made m`.execute(tx)
  const things = madeOf(made.rows, records)
  await writeHistory(
    tx,
    target,
    'Issue',
    things.map(({ id, history }) => ({ id, history })),
  )
  await writeDiscussions(tx, target, 'Issue', things)
  await sql`
    update issues i set user_notes_count = x.user_notes from noteables x
    where x.kind = 'Issue' and x.target_id = i.id and i.project_id = ${projectId}
      and i.iid = any (${records.map(({ iid }) => iid)}::bigint[])`.execute(tx)
  await raise(tx, target, 'issue', records)
}

/** Numbers to come are higher. */
export async function raise(
  tx: Tx,
  { projectId }: Target,
  kind: 'issue' | 'merge_request' | 'milestone',
  records: readonly { readonly iid: number }[],
): Promise<void> {
  const highest = Math.max(...records.map(({ iid }) => iid))
  await chosenIid({ projectId }, kind, highest).execute(tx)
}

/** Those that the first push has made. */
export async function forgetProtectedBranches(tx: Tx, { projectId }: Target): Promise<void> {
  await sql`delete from protected_branches b where b.project_id = ${projectId}`.execute(tx)
}

export async function writeProtectedBranches(
  tx: Tx,
  { projectId }: Target,
  records: readonly ProtectedBranchRecord[],
): Promise<void> {
  await sql`
    with given as (
      select distinct on (g.name) g.* from jsonb_to_recordset(${JSON.stringify(records)})
        g (name text, allow_force_push boolean, code_owner_approval_required boolean, levels jsonb)
    ), made as (
      insert into protected_branches (project_id, name, allow_force_push, code_owner_approval_required)
      select ${projectId}::bigint, g.name, g.allow_force_push, g.code_owner_approval_required from given g
      returning id, name
    )
    insert into protected_branch_access_levels (project_id, protected_branch_id, action, access_level)
    select distinct ${projectId}::bigint, m.id, l ->> 'action', (l ->> 'access_level')::smallint
    from made m join given g on g.name = m.name, jsonb_array_elements(g.levels) l`.execute(tx)
}
