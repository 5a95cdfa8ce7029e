import { endpoint, may, project, type Actor } from '../../access/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { listRefs } from '../../git/index.ts'
import { sql } from '../../kernel/db/index.ts'
import {
  PipelineDetail,
  pipelineDetail,
  PipelineSummary,
  pipelineSummary,
  PipelineVariable,
} from './entities.ts'
import { findRefToRead } from './find-ref.ts'
import type { PipelineServices } from './index.ts'
import { conditionsOf, orderOf } from './list-filter.ts'
import { list } from './list.ts'
import { listKey, LongLists } from './long-lists.ts'
import { danglingSources } from './rules.ts'
import * as store from './store.ts'
import { pipelineSecretContext } from './variable-source.ts'
import { pipelineSources, pipelineStatuses } from './words.ts'

/** A single pipeline: that it is there is told before whether it may be read (conventions, 1.6). */
const recordFirst: readonly Check[] = ['params', 'credentials', 'subject', 'record', 'may']

const filters = {
  scope: Optional(
    OneOf(['running', 'pending', 'finished', 'branches', 'tags'], {
      description: '`branches` and `tags`: the newest pipeline of each that exists',
    }),
  ),
  status: Optional(OneOf(pipelineStatuses, {})),
  source: Optional(OneOf(pipelineSources, {})),
  ref: Optional(Text()),
  sha: Optional(Text()),
  name: Optional(Text()),
  username: Optional(Text({ description: 'Of the user who started the pipeline' })),
  yaml_errors: Optional(Flag({ description: 'Only those with, or without, an invalid configuration' })),
  updated_after: Optional(DateTime()),
  updated_before: Optional(DateTime()),
  created_after: Optional(DateTime()),
  created_before: Optional(DateTime()),
  order_by: OneOf(['id', 'status', 'ref', 'updated_at', 'user_id'], { default: 'id' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
}

export function readingEndpoints(services: PipelineServices): Endpoint[] {
  const { db, places, cipher, externalUrl } = services
  const long = new LongLists()
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/pipelines',
      pollable: 10_000,
      summary: 'List the pipelines of a project',
      description: 'Child pipelines are left out unless `source` is `parent_pipeline`.',
      on: project,
      may: 'read_pipeline',
      anonymous: true,
      jobToken: true,
      paged: true,
      params: Fields(filters),
      answers: ListOf(PipelineSummary),
      // The refs that exist are known to git alone: these two scopes are read by the handler.
      read: ({ params, page }) =>
        ofRefs(params.scope) ? undefined : list(params, page, { longUntil: long.longUntil(listKey(params)) }),
      async handle({ project, params, rows, total, page }) {
        const show = (row: (typeof rows)[number]) => pipelineSummary(row, project, externalUrl())
        if (!ofRefs(params.scope)) {
          if (total === undefined && rows.length === page.limit) long.note(listKey(params))
          return rows.map(show)
        }
        const snapshot = await listRefs(places.of(project), project.refsVersion)
        const tag = params.scope === 'tags'
        const names = (tag ? snapshot.tags : snapshot.branches).map(({ name }) => name)
        const found = await store.newestOf(
          db.reader,
          project.id,
          names,
          {
            tag,
            conditions: sql.join(
              [sql`true`, ...conditionsOf({ ...params, scope: undefined }, 'own')],
              sql` and `,
            ),
            order: orderOf(params),
          },
          page,
        )
        return new Page(found.rows.map(show), {
          total: found.total,
          hasMore: found.total > page.offset + page.limit,
        })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/pipelines/latest',
      summary: 'Get the latest pipeline of the most recent commit on a ref',
      on: project,
      may: 'read_pipeline',
      anonymous: true,
      params: Fields({
        ref: Optional(Text({ description: 'Branch or tag; the default branch unless given' })),
      }),
      answers: PipelineDetail,
      refuses: { 403: 'There is none for the commit' },
      async handle({ project, params }) {
        const { ref: asked = '' } = params
        const name = asked === '' ? (project.defaultBranch ?? '') : asked
        const ref = await findRefToRead(places.of(project), project.refsVersion, name)
        if (ref === undefined) throw forbidden()
        const row = await store.latestOf(db.reader, project.id, ref, [...danglingSources])
        if (row === undefined) throw forbidden()
        return pipelineDetail(row, project, services)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/pipelines/:pipeline_id',
      pollable: 10_000,
      summary: 'Get a pipeline',
      on: project,
      may: 'read_pipeline',
      anonymous: true,
      jobToken: true,
      checks: recordFirst,
      record: true,
      params: Fields({ pipeline_id: Id() }),
      answers: PipelineDetail,
      read: ({ params }) => store.one(params.pipeline_id),
      handle: async ({ project, rows }) => pipelineDetail(rows[0]!, project, services),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/pipelines/:pipeline_id/variables',
      summary: 'Get the variables a pipeline was started with',
      on: project,
      // Who started it may read them too, which only the row tells: see below.
      may: 'read_project',
      anonymous: true,
      checks: recordFirst,
      record: true,
      params: Fields({ pipeline_id: Id() }),
      answers: ListOf(PipelineVariable),
      read: ({ params }) => store.withVariables(params.pipeline_id),
      async handle({ actor, project, rows }) {
        const { user_id, variables } = rows[0]!
        const own = isOwn(actor, user_id) && may(actor, 'create_pipeline', project)
        if (!own && !may(actor, 'read_pipeline_variables', project)) throw forbidden()
        return variables.map(({ secret, ...rest }) => ({
          ...rest,
          value: cipher.open(secret, pipelineSecretContext),
        }))
      },
    }),
  ]
}

function ofRefs(scope: string | undefined): boolean {
  return scope === 'branches' || scope === 'tags'
}

function isOwn(actor: Actor, userId: number | null): boolean {
  return actor.user !== null && actor.user.id === userId
}
