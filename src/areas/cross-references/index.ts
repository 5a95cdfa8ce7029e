import {
  enterAs,
  group as groupKind,
  project as projectKind,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { MergeRequestEvent } from '../merge-requests/index.ts'
import type { NoteEvent } from '../notes/index.ts'
import type { PushEvent } from '../repository/index.ts'
import { readCommits, type CommitServices } from './commits.ts'
import { mention } from './mention.ts'
import { noteableSource, noteSource, type Source } from './sources.ts'

/** What is looked at of the news of issues and epics. */
interface PlanEvent {
  readonly action: string
  readonly issue_id: number
  readonly epic_id: number
  readonly now?: Readonly<Record<string, unknown>>
}

/** Issues, merge requests, epics and snippets hear where they are named; commits close issues. */
export function crossReferences(services: CommitServices): { readonly tasks: readonly [] } {
  const { db, events } = services

  const tell = async (userId: number | null, source: Source | undefined): Promise<void> => {
    if (source === undefined || userId === null) return
    const { projectId, namespaceId } = source.on
    const entered =
      projectId === null
        ? await enterAs<GroupSubject>(db, groupKind, userId, namespaceId!)
        : await enterAs<ProjectSubject>(db, projectKind, userId, projectId)
    if (entered !== undefined) await mention(services, entered.actor, entered.subject, source)
  }
  const hasNewText = ({ action, now = {} }: PlanEvent): boolean =>
    action === 'open' || now['title'] !== undefined || now['description'] !== undefined

  events.subscribe<PlanEvent>('issue', 'cross-references:issue', async ({ payload, userId }) => {
    if (hasNewText(payload)) await tell(userId, await noteableSource(db.reader, 'Issue', payload.issue_id))
  })
  events.subscribe<PlanEvent>('epic', 'cross-references:epic', async ({ payload, userId }) => {
    if (hasNewText(payload)) await tell(userId, await noteableSource(db.reader, 'Epic', payload.epic_id))
  })
  events.subscribe<MergeRequestEvent>(
    'merge_request',
    'cross-references:merge-request',
    async ({ payload: { action, changes, mergeRequestId }, userId }) => {
      if (action !== 'open' && changes['title'] === undefined && changes['description'] === undefined) return
      await tell(userId, await noteableSource(db.reader, 'MergeRequest', mergeRequestId))
    },
  )
  events.subscribe<NoteEvent>('note', 'cross-references:note', async ({ payload, userId }) =>
    tell(userId, await noteSource(db.reader, payload.noteId)),
  )
  events.subscribe<PushEvent>('push', 'cross-references:push', (event) => readCommits(services, event))
  return { tasks: [] }
}
