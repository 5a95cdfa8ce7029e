import { project, endpoint, type ProjectSubject } from '../../access/index.ts'
import {
  Answer,
  Fields,
  Flag,
  Id,
  Json,
  OneOf,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { collectEvidence, findEvidence } from './evidence.ts'
import type { ReleaseServices } from './index.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const path = '/projects/:id/releases'

/** Addresses that lead to a release or to what it offers, and how it was when it came out. */
export function leadingEndpoints({ db, externalUrl }: ReleaseServices): Endpoint[] {
  const to = (location: string): Answer => new Answer(302, { location })
  const about = {
    method: 'GET',
    on: project,
    may: 'read_release',
    checks,
    anonymous: true,
    jobToken: true,
    status: 302,
    answers: null,
  } as const
  const one = {
    ...about,
    record: true,
    read: ({ params }: { params: { tag_name: string } }) => store.one(params.tag_name),
  } as const
  const order_by = OneOf(['released_at'], { default: 'released_at' })
  const apiOf = ({ id }: ProjectSubject): string => `${externalUrl()}/api/v4/projects/${id}/releases`
  const latest = (suffix: (params: Readonly<Record<string, unknown>>) => string) => ({
    ...about,
    record: true as const,
    read: () => store.latest(),
    handle: async ({
      project: of,
      rows,
      params,
    }: {
      project: ProjectSubject
      rows: readonly { tag: string }[]
      params: Readonly<Record<string, unknown>>
    }) => to(`${apiOf(of)}/${encodeURIComponent(rows[0]!.tag)}${suffix(params)}`),
  })

  return [
    endpoint({
      ...latest(({ include_html_description }) =>
        include_html_description === true ? '?include_html_description=true' : '',
      ),
      path: `${path}/permalink/latest`,
      summary: 'Get the address of the latest release',
      params: Fields({
        order_by,
        include_html_description: Flag({ default: false, description: 'Asks for it there' }),
      }),
    }),
    endpoint({
      ...latest((params) => `/${String(params['*']).split('/').map(encodeURIComponent).join('/')}`),
      path: `${path}/permalink/latest/*`,
      summary: 'Get an address below that of the latest release',
      params: Fields({ order_by, '*': Text({ description: 'What follows the tag' }) }),
    }),
    endpoint({
      ...one,
      path: `${path}/:tag_name/downloads/*`,
      summary: 'Get the address of what a link of a release offers, by its path',
      params: Fields({ '*': Text({ description: 'The direct asset path of the link' }) }),
      async handle({ rows, params }) {
        const wanted = `/${params['*']}`
        const link = rows[0]!.links.find(({ filepath }) => filepath === wanted)
        if (link === undefined) throw recordNotFound()
        return to(link.url)
      },
    }),
    endpoint({
      ...one,
      path: `${path}/:tag_name/evidences/:evidence_id`,
      summary: 'Get what a release was when it came out',
      status: 200,
      params: Fields({ evidence_id: Id() }),
      answers: Json({
        description: 'The release with its milestones and their issues; `sha` is the digest of the bytes',
      }),
      async handle({ rows, params }) {
        const summary = await findEvidence(db.reader, rows[0]!.id, params.evidence_id)
        if (summary === undefined) throw recordNotFound()
        return new Answer(200, { 'content-type': 'application/json' }, summary)
      },
    }),
    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/:tag_name/evidence`,
      summary: 'Collect evidence of a release now',
      may: 'update_release',
      anonymous: false,
      status: 202,
      answers: null,
      async handle({ rows }) {
        await collectEvidence(db, rows[0]!.id)
      },
    }),
  ]
}
