import {
  endpoint,
  find,
  issueVisible,
  issueVisibleAnywhere,
  may,
  project as projectKind,
  userOf,
  type Actor,
} from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  page,
  Text,
  type Endpoint,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { conflict, forbidden, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import {
  addLink,
  findLink,
  linkColumns,
  linkEnds,
  LinkFields,
  linkTypes,
  removeLink,
  type LinkFieldsRow,
  type LinkRow,
} from '../noteables/index.ts'
import { issue, issueView, Issue, type IssueRow } from './entities.ts'
import type { IssueAreaServices } from './index.ts'
import * as listing from './listing.ts'
import { issueColumns, issueSource } from './rows.ts'
import * as store from './store.ts'
import { tellEachOther } from './system-notes.ts'

const LinkedIssue = Fields({
  ...Issue.properties,
  issue_link_id: Id(),
  ...LinkFields,
})

const IssueLink = Fields({ id: Id(), source_issue: Issue, target_issue: Issue, link_type: Text() })

interface LinkedRow extends IssueRow, LinkFieldsRow {
  readonly issue_link_id: number
}

/** What an issue is linked with, as far as the caller sees it; a link is told from the side of the issue. */
function linked(iid: number, input: PageInput): Read<LinkedRow> {
  const ends = linkEnds('issue_links', {
    things: sql`issues i`,
    id: sql`i.id`,
    where: sql`i.project_id = subject.id and i.iid = ${iid} and ${issueVisible}`,
  })
  return page(
    {
      columns: sql`
        ${issueColumns()}, l.id as issue_link_id, ${linkColumns}`,
      from: sql`
        from ${ends} l
        cross join ${issueSource} where i.id = l.end_id and ${issueVisibleAnywhere}`,
      order: sql`l.id`,
    },
    input,
  )
}

/** Each end tells of the other one. */
async function toldOfLink(tx: Tx, userId: number, link: LinkRow, change: 'add' | 'remove'): Promise<void> {
  const verbs: Readonly<Record<string, string>> =
    link.link_type === 'blocks'
      ? {
          [link.source_id]: 'marked this issue as blocking',
          [link.target_id]: 'marked this issue as blocked by',
        }
      : {}
  await tellEachOther(tx, userId, [link.source_id, link.target_id], (own, other) =>
    change === 'remove'
      ? { action: 'unrelate', body: `removed the relation with ${other}` }
      : { action: 'relate', body: `${verbs[own] ?? 'marked this issue as related to'} ${other}` },
  )
}

/** Links between issues: related ones, and those that wait for others. */
export function linkEndpoints(services: IssueAreaServices): Endpoint[] {
  const { db, events } = services
  const path = '/projects/:id/issues/:issue_iid/links'
  const issue_iid = Id()
  const one = {
    on: projectKind,
    record: true,
    read: ({ params }: { params: { issue_iid: number } }) => listing.one(params.issue_iid),
  } as const

  /** Both ends, or undefined where the caller may not see one of them. */
  const shown = async (actor: Actor, link: LinkRow): Promise<unknown> => {
    const [source, target] = await Promise.all([
      store.find(db.reader, actor, link.source_id),
      store.find(db.reader, actor, link.target_id),
    ])
    if (source === undefined || target === undefined) return undefined
    const view = (row: IssueRow) => issue(row, issueView(services, row.full_path))
    return {
      id: link.id,
      source_issue: view(source),
      target_issue: view(target),
      link_type: link.link_type,
    }
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List what an issue is linked with',
      on: projectKind,
      may: 'read_issue',
      anonymous: true,
      paged: true,
      params: Fields({ issue_iid }),
      answers: ListOf(LinkedIssue),
      refuses: { 404: 'No such issue that the caller may see: `404 Not found`' },
      read: ({ params, page: input }) => linked(params.issue_iid, input),
      async handle({ actor, rows, project, params, page: input }) {
        // An issue that is not there has no links either.
        if (rows.length === 0 && input.page === 1) {
          await store.visibleId(db.reader, actor, project.id, params.issue_iid)
        }
        return rows.map((row) => ({
          ...row,
          ...issue(row, issueView(services, project.fullPath)),
        }))
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path,
      summary: 'Link an issue with another one',
      description: 'The caller is able to change both.',
      may: 'admin_issue',
      params: Fields({
        issue_iid,
        target_project_id: Text({ description: 'Id or full path' }),
        target_issue_iid: Id(),
        link_type: OneOf(linkTypes, { default: 'relates_to' }),
      }),
      answers: IssueLink,
      refuses: { 404: 'No such issue', 409: 'They are linked already' },
      async handle({ actor, params, rows, project }) {
        const target = await find(db.reader, projectKind, actor, params.target_project_id)
        if (target === undefined) throw notFound('Project')
        const other = await store.visibleId(db.reader, actor, target.id, params.target_issue_iid)
        if (!may(actor, 'admin_issue', target)) throw forbidden()
        const own = rows[0]!.id
        if (own === other) throw conflict('Issue cannot be related to itself')
        const made = await db.transaction(async (tx) => {
          const ends = { own, other, type: params.link_type }
          const link = await addLink(tx, 'issue_links', ends, 'Issue(s) already assigned')
          await toldOfLink(tx, userOf(actor).id, link, 'add')
          await events.announce(tx, 'issue.link', {
            projectId: project.id,
            userId: userOf(actor).id,
            payload: { action: 'add', ...link },
          })
          return link
        })
        return shown(actor, made)
      },
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:issue_link_id`,
      summary: 'Get a link of an issue',
      may: 'read_issue',
      anonymous: true,
      params: Fields({ issue_iid, issue_link_id: Id() }),
      answers: IssueLink,
      async handle({ actor, rows, params }) {
        const link = await findLink(db.reader, 'issue_links', rows[0]!.id, params.issue_link_id)
        const answer = link && (await shown(actor, link))
        if (answer === undefined) throw recordNotFound()
        return answer
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:issue_link_id`,
      summary: 'Remove a link of an issue',
      may: 'admin_issue',
      status: 200,
      params: Fields({ issue_iid, issue_link_id: Id() }),
      answers: IssueLink,
      async handle({ actor, rows, params, project }) {
        const link = await findLink(db.reader, 'issue_links', rows[0]!.id, params.issue_link_id)
        const answer = link && (await shown(actor, link))
        if (link === undefined || answer === undefined) throw recordNotFound()
        await db.transaction(async (tx) => {
          await removeLink(tx, 'issue_links', link.id)
          await toldOfLink(tx, userOf(actor).id, link, 'remove')
          await events.announce(tx, 'issue.link', {
            projectId: project.id,
            userId: userOf(actor).id,
            payload: { action: 'remove', ...link },
          })
        })
        return answer
      },
    }),
  ]
}
