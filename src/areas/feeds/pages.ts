import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  decide,
  enter,
  enterToRead,
  entryProblem,
  group,
  instance,
  isShownTo,
  readsAcrossProjects,
  noCredentials,
  pageCredentials,
  project,
  type Entrance,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import { Answer, readPage, send } from '../../kernel/endpoint/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import type { Neighbour } from '../git-http/index.ts'
import { issue, issueView, listIssues, type IssueRow } from '../issues/index.ts'
import { atomOf } from './atom.ts'
import { calendarOf } from './calendar.ts'
import type { FeedServices } from './index.ts'
import { areOff, userOfToken } from './token.ts'

type Format = 'atom' | 'ics'

/** Whose issues are wanted; without a path those that are assigned to the caller. */
interface Wanted {
  readonly kind: 'project' | 'group' | 'instance'
  readonly path: string
  readonly format: Format
}

const segments = String.raw`((?:[\p{L}\p{N}_.-]+\/)*[\p{L}\p{N}_.-]+)`
const ofGroup = new RegExp(String.raw`^\/groups\/${segments}\/-\/issues\.(atom|ics)$`, 'u')
const ofProject = new RegExp(String.raw`^\/${segments}\/-\/issues\.(atom|ics)$`, 'u')
const longest = 4096

export function wantedAt(path: string): Wanted | undefined {
  if (path.length > longest) return undefined
  const [, dashboard] = /^\/dashboard\/issues\.(atom|ics)$/.exec(path) ?? []
  if (dashboard !== undefined) return { kind: 'instance', path: '', format: dashboard as Format }
  for (const [kind, form] of [
    ['group', ofGroup],
    ['project', ofProject],
  ] as const) {
    const [, place, format] = form.exec(path) ?? []
    if (place !== undefined) return { kind, path: place, format: format as Format }
  }
  return undefined
}

/** Feeds of issues: `/group/project/-/issues.atom`, `/groups/group/-/issues.ics`, `/dashboard/issues.atom`. */
export function feedNeighbour(services: FeedServices): Neighbour {
  return (method, path) => {
    const wanted = method === 'GET' ? wantedAt(path) : undefined
    if (wanted === undefined) return undefined
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const context = requestContext()
      if (context !== undefined) context.endpoint = 'feed of issues'
      return send(reply, await answer(services, wanted, request))
    }
  }
}

const missing = new Answer(404, { 'content-type': 'text/plain' }, 'Not found\n')

async function answer(services: FeedServices, wanted: Wanted, request: FastifyRequest): Promise<Answer> {
  const { settings, plan, externalUrl } = services
  const { actor, token, subject, visible, loaded } = await entered(services, wanted, request)
  const house = { values: settings.values, externalUrl: externalUrl() }
  const stranger =
    actor === undefined ||
    token !== undefined ||
    (actor.user !== null && entryProblem(actor.user, house) !== undefined)
  const open = (): boolean => {
    if (stranger || subject === undefined || !visible) return false
    if (subject.kind !== 'project' && !readsAcrossProjects(services.db, actor)) return false
    if (subject.kind === 'instance') return actor.user !== null
    if (!isShownTo(subject, actor, request.ip, { values: settings.values, plan })) return false
    return subject.kind === 'group' || decide(actor, 'read_issue', subject).allowed
  }
  if (!open()) {
    const signedIn = !stranger && actor.user !== null
    return signedIn ? missing : new Answer(302, { location: `${externalUrl()}/users/sign_in` })
  }
  const view = issueView(services)
  const shown = loaded.rows.map((row) => ({ ...issue(row, view), full_path: row.full_path }))
  const name = wanted.kind === 'instance' ? 'Your' : wanted.path
  const page = addressOf(wanted, externalUrl())
  const headers = { 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' }
  return wanted.format === 'atom'
    ? new Answer(
        200,
        { ...headers, 'content-type': 'application/atom+xml; charset=utf-8' },
        atomOf(shown, { title: `${name} issues`, self: `${page}.atom`, page }),
      )
    : new Answer(
        200,
        { ...headers, 'content-type': 'text/calendar; charset=utf-8' },
        calendarOf(shown, `${name} issues`, new URL(externalUrl()).host),
      )
}

function addressOf({ kind, path }: Wanted, externalUrl: string): string {
  if (kind === 'instance') return `${externalUrl}/dashboard/issues`
  return `${externalUrl}/${kind === 'group' ? 'groups/' : ''}${path}/-/issues`
}

type Subject = ProjectSubject | GroupSubject | { readonly kind: 'instance' }

/** Who has no feed token comes by his session, or as nobody; so does who has one that is none (any more). */
async function entered(
  { db, cipher, settings }: FeedServices,
  wanted: Wanted,
  request: FastifyRequest,
): Promise<Entrance<Subject, IssueRow>> {
  const query = request.query as Readonly<Record<string, unknown>>
  const shown = query['feed_token']
  const { values } = settings
  const userId =
    typeof shown === 'string' && !areOff(values) ? await userOfToken(db.reader, cipher, shown) : undefined
  const kind = { project, group, instance }[wanted.kind]
  const lookup = { id: wanted.kind === 'instance' ? undefined : wanted.path, secretDigest: undefined }
  const read = issuesOf(wanted, query)
  if (userId !== undefined) {
    return enterToRead<Subject, IssueRow>(db, kind, { userId, adminMode: values.admin_mode }, lookup, read)
  }
  const credentials = pageCredentials(request.headers, values)
  return enter<Subject, IssueRow>(
    db,
    kind,
    credentials.kind === 'session' && shown === undefined ? credentials : noCredentials,
    lookup,
    read,
  )
}

/** The newest for readers of news; for calendars what is due about now. */
function issuesOf({ kind, format }: Wanted, query: Readonly<Record<string, unknown>>) {
  const state = query['state']
  const page = readPage({ page: 1, per_page: format === 'atom' ? 20 : 100 })
  return listIssues(
    kind,
    {
      state: state === 'all' || state === 'closed' ? state : 'opened',
      scope: kind === 'instance' ? 'assigned_to_me' : 'all',
      non_archived: true,
      order_by: format === 'atom' ? 'created_at' : 'due_date',
      sort: format === 'atom' ? 'desc' : 'asc',
      with_labels_details: false,
      pagination: 'legacy',
      ...(format === 'ics' && { due_date: 'next_month_and_previous_two_weeks' }),
    },
    page,
  )
}
