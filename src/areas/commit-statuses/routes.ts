import { endpoint, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Float,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { commitNamed } from '../repository/index.ts'
import { CommitStatus, commitStatus, type StatusRow } from './entities.ts'
import type { StatusServices } from './index.ts'
import { report } from './reporting.ts'
import { states } from './rules.ts'
import * as store from './store.ts'

export function statusEndpoints(services: StatusServices): Endpoint[] {
  const { db, places, externalUrl } = services
  const show = (row: StatusRow, { fullPath }: ProjectSubject) =>
    commitStatus(row, `${externalUrl()}/${fullPath}`, externalUrl())
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/commits/:sha/statuses',
      summary: 'List what CI says of a commit',
      on: projectKind,
      may: 'read_commit_status',
      anonymous: true,
      paged: true,
      params: Fields({
        ref: Optional(Text()),
        stage: Optional(Text()),
        name: Optional(Text()),
        pipeline_id: Optional(Id()),
        all: Flag({ default: false, description: 'Also what later reports have replaced' }),
        order_by: OneOf(['id', 'pipeline_id'], { default: 'id' }),
        sort: OneOf(['asc', 'desc'], { default: 'asc' }),
      }),
      answers: ListOf(CommitStatus),
      refuses: { 404: 'No such commit' },
      async handle({ project, params, page }) {
        const { commit } = await commitNamed(places, project, params.sha)
        const filter = { ...params, sha: commit.oid, pipelineId: params.pipeline_id }
        const order = { by: params.order_by, sort: params.sort }
        const { rows, total } = await store.list(db.reader, project.id, filter, order, page)
        return new Page(
          rows.map((row) => show(row, project)),
          { total },
        )
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/statuses/:sha',
      summary: 'Report what a CI system says of a commit',
      description:
        'Joins the last pipeline of the commit on the ref, or makes one with the source `external`.',
      on: projectKind,
      may: 'create_commit_status',
      params: Fields({
        state: OneOf(states, {}),
        ref: Optional(Text({ blank: false })),
        name: Optional(Text({ blank: false, maxLength: 255, description: '`default` unless given' })),
        context: Optional(Text({ blank: false, maxLength: 255, description: 'Another word for `name`' })),
        target_url: Optional(Text({ maxLength: 255 })),
        description: Optional(Text({ maxLength: 255 })),
        coverage: Optional(Float()),
        pipeline_id: Optional(Id()),
      }),
      answers: CommitStatus,
      refuses: {
        400: 'It does not follow from what was reported before',
        404: 'No such commit, ref or pipeline',
      },
      async handle({ actor, project, params }) {
        const { repository, commit } = await commitNamed(places, project, params.sha)
        const id = await report(
          services,
          { actor, project, repository, sha: commit.oid },
          {
            state: params.state,
            name: params.name ?? params.context ?? 'default',
            ref: params.ref,
            targetUrl: params.target_url,
            description: params.description,
            coverage: params.coverage,
            pipelineId: params.pipeline_id,
          },
        )
        return show(await store.find(db.reader, id), project)
      },
    }),
  ]
}
