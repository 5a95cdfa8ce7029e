import {
  endpoint,
  group,
  project,
  userOf,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Actor } from '../../access/index.ts'
import {
  Answer,
  Fields,
  Flag,
  Int,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { noteExport } from '../project-archives/index.ts'
import { contentDisposition } from '../repository/index.ts'
import { relationStatus, RelationStatus } from './entities.ts'
import { fileName, relations, type Kind } from './relations.ts'
import type { RelationExportRoom } from './services.ts'
import * as store from './store.ts'

/** Wakes who writes, on whichever node. */
export const wakeTask = 'relation-exports:wake'

const Accepted = Fields({ message: Text() })
const largestBatchNumber = 2_147_483_647

export function relationExportEndpoints(room: RelationExportRoom): Endpoint[] {
  const { db, settings, blobs } = room
  const switchedBy = 'bulk_import_enabled'
  const off = 'The instance lets nothing be transferred'

  const begin = async (
    actor: Actor,
    subject: ProjectSubject | GroupSubject,
    batched: boolean,
    address: string,
  ) => {
    const { kind, id } = subject
    await db.transaction(async (tx) => {
      const wanted = { relations: relations[kind], batched, userId: userOf(actor).id }
      await store.begin(tx, { kind, id }, wanted)
      await enqueue(tx, wakeTask, {}, { key: wakeTask })
      await noteExport(tx, settings, { actor, subject, address }, 'created')
    })
    return { message: '202 Accepted' }
  }
  const fileOf = ([file]: readonly store.FileRow[], relation: string): Answer => {
    if (file === undefined) throw notFound()
    return new Answer(
      200,
      {
        'content-type': 'application/gzip',
        'content-length': String(file.size),
        'content-disposition': contentDisposition('attachment', fileName(relation)),
        'x-content-type-options': 'nosniff',
      },
      blobs.read(file.digest),
    )
  }
  const starting = {
    params: Fields({ batched: Optional(Flag({ description: 'In files of at most 1,000 records' })) }),
    status: 202,
    answers: Accepted,
    refuses: { 404: off },
    switchedBy,
    whileArchived: true,
  } as const
  const looking = (kind: Kind) =>
    ({
      params: Fields({ relation: Optional(OneOf(...namesOf(kind))) }),
      answers: ListOf(RelationStatus),
      refuses: { 404: off },
      switchedBy,
      read: ({ params: { relation } }: { params: { relation?: string | undefined } }) =>
        store.readStatus(kind, relation),
    }) as const
  const downloading = (kind: Kind) =>
    ({
      params: Fields({
        relation: OneOf(...namesOf(kind)),
        batched: Optional(Flag()),
        batch_number: Optional(Int({ minimum: 1, maximum: largestBatchNumber })),
      }),
      answers: null,
      refuses: { 404: `There is no such file yet, or ${off.toLowerCase()}` },
      switchedBy,
      read: ({ params }: { params: DownloadParams }) =>
        store.readFile(kind, {
          relation: params.relation,
          batched: params.batched ?? false,
          number: params.batched === true ? (params.batch_number ?? 1) : 1,
        }),
    }) as const

  return [
    endpoint({
      on: project,
      may: 'admin_project',
      method: 'POST',
      path: '/projects/:id/export_relations',
      summary: 'Write the relations of a project to files of their own',
      description:
        'For another instance that the project is to be transferred to: itself, its direct members, labels, milestones, issues with their discussions, protected branches, branches and tags, and the wiki. They can be downloaded for three days.',
      ...starting,
      handle: async ({ actor, project: subject, params, request }) =>
        begin(actor, subject, params.batched ?? false, request.ip),
    }),

    endpoint({
      on: project,
      may: 'admin_project',
      method: 'GET',
      path: '/projects/:id/export_relations/status',
      summary: 'Tell how far the files of the relations of a project are',
      ...looking('project'),
      handle: async ({ rows }) => rows.map((row) => relationStatus(row)),
    }),

    endpoint({
      on: project,
      may: 'admin_project',
      method: 'GET',
      path: '/projects/:id/export_relations/download',
      summary: 'Download a relation of a project',
      ...downloading('project'),
      handle: async ({ rows, params }) => fileOf(rows, params.relation),
    }),

    endpoint({
      on: group,
      may: 'admin_group',
      method: 'POST',
      path: '/groups/:id/export_relations',
      summary: 'Write the relations of a group to files of their own',
      description:
        'For another instance that the group is to be transferred to: itself, its direct members, labels, milestones and epics, without what is below it. They can be downloaded for three days.',
      ...starting,
      handle: async ({ actor, group: subject, params, request }) =>
        begin(actor, subject, params.batched ?? false, request.ip),
    }),

    endpoint({
      on: group,
      may: 'admin_group',
      method: 'GET',
      path: '/groups/:id/export_relations/status',
      summary: 'Tell how far the files of the relations of a group are',
      ...looking('group'),
      handle: async ({ rows }) => rows.map((row) => relationStatus(row)),
    }),

    endpoint({
      on: group,
      may: 'admin_group',
      method: 'GET',
      path: '/groups/:id/export_relations/download',
      summary: 'Download a relation of a group',
      ...downloading('group'),
      handle: async ({ rows, params }) => fileOf(rows, params.relation),
    }),
  ]
}

interface DownloadParams {
  readonly relation: string
  readonly batched?: boolean | undefined
  readonly batch_number?: number | undefined
}

const namesOf = (kind: Kind): [string, ...string[]] => [...relations[kind]] as [string, ...string[]]
