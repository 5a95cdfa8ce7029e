import { sql, type Database } from '../../kernel/db/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'
import type { MergeRequestEvent } from '../merge-requests/index.ts'
import type { MilestoneEvent } from '../milestones/index.ts'
import type { NoteEvent } from '../notes/index.ts'
import type { PushEvent } from '../repository/index.ts'
import type { WikiPageEvent } from '../wikis/index.ts'
import type { Action } from './entities.ts'
import type { ActivityServices } from './index.ts'
import { pushesOf } from './pushes.ts'
import { add, type NewActivity } from './store.ts'

/** By what news call them. */
const done: Readonly<Record<string, Action>> = {
  open: 'created',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  approved: 'approved',
}
const doneToMilestones = {
  create: 'created',
  close: 'closed',
  reopen: 'reopened',
  delete: 'destroyed',
} as const
const doneToPages = { create: 'created', update: 'updated', delete: 'destroyed' } as const

/** Lists what people did, each in a task of its own that may run again. */
export function followEvents(services: ActivityServices & { readonly events: Events }): void {
  const { db, events } = services
  const list = (event: DomainEvent, what: Pick<NewActivity, 'action' | 'kind'> & Partial<NewActivity>) =>
    add(db.writer, {
      key: `event:${event.id}`,
      authorId: event.userId,
      projectId: event.projectId,
      createdAt: event.createdAt,
      ...what,
    })
  events.subscribe<{ action: string; issue_id: number }>('issue', 'activities:issue', async (event) => {
    const action = done[event.payload.action]
    if (action !== undefined) await list(event, { action, kind: 'Issue', targetId: event.payload.issue_id })
  })
  events.subscribe<MergeRequestEvent>('merge_request', 'activities:merge-request', async (event) => {
    const { mergeRequestId: targetId, action: name } = event.payload
    const action = done[name]
    if (action !== undefined) await list(event, { action, kind: 'MergeRequest', targetId })
  })
  events.subscribe<MilestoneEvent>('milestone', 'activities:milestone', async (event) => {
    const { action, milestone } = event.payload
    const { id: targetId, iid, title } = milestone
    await list(event, {
      action: doneToMilestones[action],
      kind: 'Milestone',
      targetId,
      details: { iid, title },
    })
  })
  events.subscribe<NoteEvent>('note', 'activities:note', async (event) => {
    const { noteId, action } = event.payload
    const about = action === 'create' ? await aboutOf(db, noteId) : undefined
    if (about !== undefined)
      await list(event, { action: 'commented', kind: about.kind, targetId: about.target_id, noteId })
  })
  events.subscribe<WikiPageEvent>('wiki_page', 'activities:wiki-page', async (event) => {
    const { action, pageId, format, slug, title } = event.payload
    const details = { format, slug, title }
    await list(event, { action: doneToPages[action], kind: 'WikiPage', targetId: pageId, details })
  })
  events.subscribe<PushEvent>('push', 'activities:push', async (event) => {
    for (const [place, details] of (await pushesOf(services, event)).entries())
      await list(event, { key: `event:${event.id}:${place}`, action: 'pushed', kind: 'Push', details })
  })
}

async function aboutOf(
  db: Database,
  noteId: number,
): Promise<{ kind: string; target_id: number | null } | undefined> {
  const { rows } = await sql<{ kind: string; target_id: number | null }>`
    select b.kind, b.target_id from notes n join noteables b on b.id = n.noteable_id
    where n.id = ${noteId} and not n.system and b.project_id is not null`.execute(db.reader)
  return rows[0]
}
