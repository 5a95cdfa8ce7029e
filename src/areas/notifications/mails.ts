import { sql, type Tx } from '../../kernel/db/index.ts'
import { letter, type Mail } from '../../mail/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import { mentionsIn } from '../noteables/index.ts'
import { peopleMentioned } from '../todos/index.ts'
import type { NotificationServices } from './index.ts'
import type { EventName } from './levels.ts'
import { recipientsOf, type Occasion, type Recipient } from './recipients.ts'
import { unsubscribePath } from './unsubscribing.ts'

type Kind = Occasion['on']['kind']

/** By what an area calls its news, what the settings call them and how a mail begins. */
const told: Readonly<Record<Kind, Readonly<Record<string, { event: EventName; says: string }>>>> = {
  Issue: {
    open: { event: 'new_issue', says: 'opened this issue' },
    close: { event: 'close_issue', says: 'closed this issue' },
    reopen: { event: 'reopen_issue', says: 'reopened this issue' },
    reassign: { event: 'reassign_issue', says: 'changed who is assigned to this issue' },
  },
  MergeRequest: {
    open: { event: 'new_merge_request', says: 'opened this merge request' },
    close: { event: 'close_merge_request', says: 'closed this merge request' },
    reopen: { event: 'reopen_merge_request', says: 'reopened this merge request' },
    merge: { event: 'merge_merge_request', says: 'merged this merge request' },
    push: { event: 'push_to_merge_request', says: 'pushed new commits to this merge request' },
    reassign: { event: 'reassign_merge_request', says: 'changed who is assigned to this merge request' },
    review: { event: 'change_reviewer_merge_request', says: 'changed who reviews this merge request' },
  },
  Epic: { open: { event: 'new_epic', says: 'opened this epic' } },
}

interface Thing {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly path: string
  readonly project_id: number | null
  readonly namespace_id: number | null
}

interface News {
  readonly kind: Kind
  readonly id: number
  readonly event: EventName
  readonly by: number | null
  readonly paragraphs: (author: string) => readonly string[]
  /** In which people are named. */
  readonly text: string | null | undefined
  readonly internal?: boolean
  readonly anchor?: string
}

/** Mails to those who want to be told, one of each event; nothing is put together where no mail is sent. */
export function followEvents(services: NotificationServices): void {
  const { events } = services
  events.subscribe<{ action: string; issue_id: number; assignees?: unknown }>(
    'issue',
    'mails:issue',
    (event) => {
      const { action, issue_id, assignees } = event.payload
      return onChange(
        services,
        event,
        'Issue',
        issue_id,
        action === 'update' && assignees ? 'reassign' : action,
      )
    },
  )
  events.subscribe<{ action: string; mergeRequestId: number; changes: Record<string, unknown> }>(
    'merge_request',
    'mails:merge-request',
    (event) => {
      const { action, mergeRequestId, changes } = event.payload
      const changed = changes['assignees'] ? 'reassign' : changes['reviewers'] ? 'review' : action
      return onChange(services, event, 'MergeRequest', mergeRequestId, action === 'update' ? changed : action)
    },
  )
  events.subscribe<{ action: string; epic_id: number }>('epic', 'mails:epic', (event) =>
    onChange(services, event, 'Epic', event.payload.epic_id, event.payload.action),
  )
  events.subscribe<{ noteId: number; action: string; inReview?: boolean }>(
    'note',
    'mails:note',
    async (event) => {
      const { noteId, action, inReview } = event.payload
      if (action === 'create' && inReview !== true) await onNotes(services, event, [noteId])
    },
  )
  events.subscribe<{ noteIds: number[] }>('review', 'mails:review', (event) =>
    onNotes(services, event, event.payload.noteIds),
  )
}

async function onChange(
  services: NotificationServices,
  event: DomainEvent,
  kind: Kind,
  id: number,
  action: string,
): Promise<void> {
  const known = told[kind][action]
  if (known === undefined) return
  await services.db.transaction(async (tx) => {
    const thing = await find(tx, kind, id)
    if (thing === undefined) return
    const described = action === 'open' ? thing.description : null
    await send(services, tx, event, thing, {
      kind,
      id,
      event: known.event,
      by: event.userId,
      paragraphs: (author) => [`${author} ${known.says}.`, ...(described ? [described] : [])],
      text: action === 'open' ? `${thing.title}\n\n${described ?? ''}` : null,
    })
  })
}

async function onNotes(
  services: NotificationServices,
  event: DomainEvent,
  ids: readonly number[],
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const { rows } = await sql<{
      id: number
      body: string
      internal: boolean
      kind: string
      target_id: number | null
    }>`
      select n.id, n.body, d.internal, b.kind, b.target_id
      from notes n join discussions d on d.id = n.discussion_id join noteables b on b.id = n.noteable_id
      where n.id = any (${[...ids]}::bigint[]) and not n.system order by n.id`.execute(tx)
    const [first] = rows
    if (first?.target_id == null || !(first.kind in told)) return
    const [kind, id] = [first.kind as Kind, first.target_id]
    const thing = await find(tx, kind, id)
    if (thing === undefined) return
    await send(services, tx, event, thing, {
      kind,
      id,
      event: 'new_note',
      by: event.userId,
      paragraphs: (author) => [
        rows.length === 1 ? `${author} commented:` : `${author} commented ${rows.length} times:`,
        ...rows.map(({ body }) => body),
      ],
      text: rows.map(({ body }) => body).join('\n\n'),
      internal: rows.some(({ internal }) => internal),
      anchor: `#note_${first.id}`,
    })
  })
}

async function find(tx: Tx, kind: Kind, id: number): Promise<Thing | undefined> {
  const columns = sql`t.iid, t.title, t.description`
  const { rows } =
    kind === 'Epic'
      ? await sql<Thing>`
          select ${columns}, n.full_path as path, null::bigint as project_id, n.id as namespace_id
          from epics t join namespaces n on n.id = t.namespace_id where t.id = ${id}`.execute(tx)
      : await sql<Thing>`
          select ${columns}, p.full_path as path, p.id as project_id, null::bigint as namespace_id
          from ${sql.table(kind === 'Issue' ? 'issues' : 'merge_requests')} t join projects p on p.id = t.project_id
          where t.id = ${id}`.execute(tx)
  return rows[0]
}

const places = {
  Issue: ['', 'issues', '#'],
  MergeRequest: ['', 'merge_requests', '!'],
  Epic: ['groups/', 'epics', '&'],
} as const

async function send(
  { mail, cipher, policy, externalUrl }: NotificationServices,
  tx: Tx,
  event: DomainEvent,
  thing: Thing,
  news: News,
): Promise<void> {
  const { kind, id, by, internal = false } = news
  const on = { kind, id, projectId: thing.project_id, namespaceId: thing.namespace_id, internal }
  const mentioned = await peopleMentioned(tx, on, mentionsIn(news.text), by ?? 0)
  const people = await recipientsOf(tx, {
    on,
    event: news.event,
    by,
    mentioned: mentioned.map((one) => one.id),
    open: thing.project_id === null ? sql`true` : policy.hasAdmitted(sql`${thing.project_id}::bigint`),
  })
  if (people.length === 0) return
  const { rows } = await sql<{ name: string }>`select u.name from users u where u.id = ${by}::bigint`.execute(
    tx,
  )
  const author = rows[0]?.name ?? 'Somebody'
  const [above, noun, sign] = places[kind]
  const url = `${externalUrl()}/${above}${thing.path}/-/${noun}/${thing.iid}${news.anchor ?? ''}`
  const host = new URL(externalUrl()).hostname
  const first = news.event === 'new_issue' || news.event === 'new_merge_request' || news.event === 'new_epic'
  const mailTo = (to: Recipient): Mail => {
    const unsubscribe = externalUrl() + unsubscribePath(cipher, { user: to.id, type: kind, id })
    const why = to.mentioned
      ? 'You were mentioned.'
      : to.takesPart
        ? 'You take part in it.'
        : 'You watch this place.'
    return {
      key: `event:${event.id}:${to.id}`,
      to: { name: to.name, address: to.address, userId: to.id },
      fromName: author,
      subject: `${first ? '' : 'Re: '}${thing.path} | ${thing.title} (${sign}${thing.iid})`,
      text: letter({ paragraphs: news.paragraphs(author), link: url, why, unsubscribe }),
      headers: {
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        References: `<${kind.toLowerCase()}-${id}@${host}>`,
      },
    }
  }
  await mail.queue(tx, ...people.map(mailTo))
}
