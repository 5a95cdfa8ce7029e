import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'
import { mentionsIn } from '../noteables/index.ts'
import { keepersOf, type MembershipEvent } from '../members/index.ts'
import { pushedSha } from '../pipelines/index.ts'
import { peopleMentioned, type Subject } from './people.ts'
import { addTodos, askToAdmit, finishTodos } from './store.ts'

interface Change {
  readonly from: unknown
  readonly to: unknown
}

interface IssueNews {
  readonly action: string
  readonly issue_id: number
  readonly assignee_ids?: readonly number[]
  readonly assignees?: { readonly was: readonly number[]; readonly now: readonly number[] }
  readonly now?: Readonly<Record<string, unknown>>
}

interface RequestNews {
  readonly mergeRequestId: number
  readonly action: string
  readonly changes: Readonly<Record<string, Change>>
}

interface EpicNews {
  readonly action: string
  readonly epic_id: number
}

type Issuable = 'Issue' | 'MergeRequest' | 'Epic'

const tables = { Issue: 'issues', MergeRequest: 'merge_requests', Epic: 'epics' } as const

/** What ends a thing, or shows that somebody has looked at it. */
const dealtWith: ReadonlySet<string> = new Set(['close', 'merge', 'approved', 'push'])

/** Makes to-dos of what happens, each in a task of its own that may run again. */
export function followEvents({ db, events }: { readonly db: Database; readonly events: Events }): void {
  events.subscribe<IssueNews>('issue', 'todos:issue', async ({ payload, userId }) => {
    const { action, issue_id: id, assignee_ids, assignees, now = {} } = payload
    const texts = action === 'open' || 'title' in now || 'description' in now
    await onIssuable(db, 'Issue', id, {
      action,
      by: userId,
      texts,
      assigned: assignee_ids ?? added(assignees?.was, assignees?.now),
    })
  })
  events.subscribe<RequestNews>('merge_request', 'todos:merge-request', async ({ payload, userId }) => {
    const { action, changes, mergeRequestId: id } = payload
    const opened = action === 'open'
    const people = opened ? await peopleOf(db, id) : undefined
    await onIssuable(db, 'MergeRequest', id, {
      action,
      by: userId,
      texts: opened || 'title' in changes || 'description' in changes,
      assigned: people?.assignees ?? added(changes['assignees']?.from, changes['assignees']?.to),
      reviewers: people?.reviewers ?? added(changes['reviewers']?.from, changes['reviewers']?.to),
      approvers: people?.approvers ?? [],
    })
  })
  events.subscribe<EpicNews>('epic', 'todos:epic', ({ payload: { action, epic_id: id }, userId }) =>
    onIssuable(db, 'Epic', id, { action, by: userId, texts: action === 'open' || action === 'update' }),
  )
  events.subscribe<{ noteId: number }>('note', 'todos:note', (event) => onNote(db, event))
  events.subscribe<{ mergeRequestId: number }>('review', 'todos:review', ({ payload, userId }) =>
    onReview(db, payload.mergeRequestId, userId),
  )
  events.subscribe<MembershipEvent>('membership', 'todos:membership', async ({ payload }) => {
    if (payload.action !== 'request') return
    await db.transaction(async (tx) => {
      const keepers = await keepersOf(tx, payload)
      await askToAdmit(
        tx,
        payload,
        keepers.map(({ id }) => id),
      )
    })
  })
  events.subscribe<{ pipelineId: number; status: string }>(
    'pipeline',
    'todos:pipeline',
    ({ payload }) => onPipeline(db, payload),
    { when: sql`event.payload ->> 'status' in ('failed', 'success')` },
  )
}

function added(from: unknown, to: unknown): readonly number[] {
  const before = new Set(Array.isArray(from) ? from : [])
  return (Array.isArray(to) ? (to as number[]) : []).filter((id) => !before.has(id))
}

interface News {
  readonly action: string
  /** Who did it. */
  readonly by: number | null
  /** Title or description are new. */
  readonly texts: boolean
  readonly assigned?: readonly number[]
  readonly reviewers?: readonly number[]
  readonly approvers?: readonly number[]
}

async function onIssuable(db: Database, kind: Issuable, id: number, news: News): Promise<void> {
  const { action, by, texts, assigned = [], reviewers = [], approvers = [] } = news
  const concerns = texts || dealtWith.has(action) || assigned.length + reviewers.length > 0
  if (!concerns || action === 'delete') return
  await db.transaction(async (tx) => {
    const found = await find(tx, kind, id)
    if (found === undefined) return
    const { on, text } = found
    const tell = (what: 'assigned' | 'review_requested' | 'approval_required', userIds: readonly number[]) =>
      addTodos(tx, { on, action: what, userIds, authorId: by })
    await tell('assigned', assigned)
    await tell('review_requested', reviewers)
    await tell(
      'approval_required',
      approvers.filter((one) => one !== by),
    )
    if (texts && by !== null) await tellMentioned(tx, on, text, by)
    if (dealtWith.has(action) && by !== null) await finishTodos(tx, on, [by])
  })
}

/** Whom a text names gets a to-do; of one note one, of the descriptions of a thing one in all. */
async function tellMentioned(
  tx: Tx,
  on: Subject,
  text: string,
  authorId: number,
  noteId?: number,
): Promise<void> {
  const people = await peopleMentioned(tx, on, mentionsIn(text), authorId)
  for (const addressed of [true, false]) {
    await addTodos(tx, {
      on,
      action: addressed ? 'directly_addressed' : 'mentioned',
      userIds: people.filter((one) => one.addressed === addressed).map(({ id }) => id),
      authorId,
      ...(noteId === undefined ? { once: true } : { noteId }),
    })
  }
}

async function find(tx: Tx, kind: Issuable, id: number): Promise<{ on: Subject; text: string } | undefined> {
  const places =
    kind === 'Epic'
      ? sql`null::bigint as project, t.namespace_id as group`
      : sql`t.project_id as project, null::bigint as group`
  const { rows } = await sql<{
    title: string
    description: string | null
    project: number | null
    group: number | null
  }>`
    select t.title, t.description, ${places} from ${sql.table(tables[kind])} t where t.id = ${id}`.execute(tx)
  const [row] = rows
  return (
    row && {
      on: { kind, id, projectId: row.project, namespaceId: row.group },
      text: `${row.title}\n\n${row.description ?? ''}`,
    }
  )
}

/** Who has to do with a new request: approvers are those whom a rule names that asks for approvals. */
async function peopleOf(
  db: Database,
  id: number,
): Promise<{ assignees: number[]; reviewers: number[]; approvers: number[] } | undefined> {
  const { rows } = await sql<{ assignees: number[]; reviewers: number[]; approvers: number[] }>`
    select
      array(select a.user_id from merge_request_assignees a where a.merge_request_id = m.id) as assignees,
      array(select r.user_id from merge_request_reviewers r where r.merge_request_id = m.id) as reviewers,
      array(
        select distinct u.user_id from approval_rules r join approval_rule_users u on u.rule_id = r.id
        where r.project_id = m.project_id and r.approvals_required > 0 and (r.merge_request_id = m.id
          or (r.merge_request_id is null and not exists (
            select from approval_rules own where own.merge_request_id = m.id and own.source_rule_id = r.id)))) as approvers
    from merge_requests m where m.id = ${id}`.execute(db.reader)
  return rows[0]
}

interface NoteRow {
  readonly body: string
  readonly author_id: number | null
  readonly internal: boolean
  readonly kind: Subject['kind']
  readonly target_id: number | null
  readonly commit_sha: string | null
  readonly project_id: number | null
  readonly namespace_id: number | null
}

/** Who writes has looked at the thing; whom he names has to. */
async function onNote(db: Database, { payload, userId }: DomainEvent<{ noteId: number }>): Promise<void> {
  const { noteId } = payload
  await db.transaction(async (tx) => {
    const { rows } = await sql<NoteRow>`
      select n.body, n.author_id, d.internal, t.kind, t.target_id, t.commit_sha, t.project_id, t.namespace_id
      from notes n join discussions d on d.id = n.discussion_id join noteables t on t.id = n.noteable_id
      where n.id = ${noteId} and not n.system for key share of n`.execute(tx)
    const [note] = rows
    if (note === undefined || note.kind === 'Snippet' || note.author_id === null) return
    const on: Subject = {
      kind: note.kind,
      id: note.target_id,
      sha: note.commit_sha,
      projectId: note.project_id,
      namespaceId: note.namespace_id,
      internal: note.internal,
    }
    if (userId !== null && note.target_id !== null) await finishTodos(tx, on, [userId])
    await tellMentioned(tx, on, note.body, note.author_id, noteId)
  })
}

/** A failed pipeline of the newest commits of a merge request waits for who opened it and who wants it merged. */
async function onPipeline(
  db: Database,
  { pipelineId, status }: { readonly pipelineId: number; readonly status: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await sql<{ id: number; project_id: number; people: number[] }>`
      select m.id, m.project_id,
        array_remove(array[m.author_id, case when m.auto_merge then m.merge_user_id end], null) as people
      from ci_pipelines p join merge_requests m on m.head_sha = ${pushedSha('p')} and m.state = 'opened'
        and (m.id = p.merge_request_id or (p.merge_request_id is null and m.source_project_id = p.project_id
          and m.source_branch = p.ref and not p.tag))
      where p.id = ${pipelineId} and p.source <> 'parent_pipeline'`.execute(tx)
    for (const { id, project_id, people } of rows) {
      const on: Subject = { kind: 'MergeRequest', id, projectId: project_id, namespaceId: null }
      if (status === 'success') await finishTodos(tx, on, people, ['build_failed'])
      else await addTodos(tx, { on, action: 'build_failed', userIds: people, authorId: null })
    }
  })
}

/** A published review waits for who opened the request. */
async function onReview(db: Database, id: number, by: number | null): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await sql<{ project_id: number; author_id: number }>`
      select m.project_id, m.author_id from merge_requests m
      where m.id = ${id} and m.author_id <> coalesce(${by}::bigint, 0)`.execute(tx)
    const [row] = rows
    if (row === undefined) return
    const on: Subject = { kind: 'MergeRequest', id, projectId: row.project_id, namespaceId: null }
    await addTodos(tx, { on, action: 'review_submitted', userIds: [row.author_id], authorId: by })
  })
}
