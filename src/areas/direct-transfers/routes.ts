import { endpoint, instance } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { begin } from './begin.ts'
import { Entity, entityEntity, Failure, failureEntity, Import, importEntity } from './entities.ts'
import * as store from './import-store.ts'
import type { TransferRoom } from './services.ts'

const listing = {
  status: Optional(OneOf(...store.statuses)),
  sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'By when they were made' }),
}
const id = Id({ description: 'Of the transfer' })
const entityId = Id({ description: 'Of the group or project in it' })

export function transferEndpoints(room: TransferRoom): Endpoint[] {
  const { db } = room
  const off = 'The instance lets nothing be transferred'
  const about = {
    on: instance,
    may: 'read_instance',
    switchedBy: 'bulk_import_enabled',
    refuses: { 404: `There is none of the caller’s, or ${off.toLowerCase()}` },
  } as const

  return [
    endpoint({
      ...about,
      method: 'POST',
      path: '/bulk_imports',
      summary: 'Bring groups and projects here from another instance',
      description:
        'In the background: what is brought comes in pieces, each is taken once, and what cannot be taken is told by failures. Groups come with all below them. Members come whose public address there is confirmed here; what people wrote becomes theirs again when an administrator brings it, else it is his who does and tells whose it was.',
      params: Fields({
        configuration: Fields({
          url: Text({ blank: false, description: 'Of the other instance' }),
          access_token: Text({
            blank: false,
            description: 'For the other instance, with the scope `api`; kept encrypted until the end',
          }),
        }),
        entities: ListOf(
          Fields({
            source_type: OneOf('group_entity', 'project_entity'),
            source_full_path: Text({ blank: false }),
            destination_slug: Optional(Text({ description: 'Path here' })),
            destination_name: Optional(Text({ deprecated: true, description: 'As `destination_slug`' })),
            destination_namespace: Text({
              default: '',
              description: 'Group to bring it to; none: a group comes to the top',
            }),
            migrate_projects: Flag({ default: true, description: 'Of a group, with its projects' }),
            migrate_memberships: Flag({ default: true, description: 'With direct members' }),
          }),
          { description: 'At most 100' },
        ),
      }),
      status: 201,
      answers: Import,
      refuses: {
        400: 'The address or what is asked for is no good',
        404: off,
        422: 'The caller may bring nothing there, or there is something already',
      },
      async handle({ actor, params }) {
        const importId = await begin(room, actor, params)
        return importEntity((await store.findImport(db.writer, importId))!)
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/bulk_imports',
      summary: 'List the transfers that the caller has begun',
      params: Fields(listing),
      paged: true,
      refuses: { 404: off },
      answers: ListOf(Import),
      read: ({ params, page }) => store.listImports(params, page),
      handle: async ({ rows }) => rows.map((row) => importEntity(row)),
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/bulk_imports/entities',
      summary: 'List groups and projects of all transfers that the caller has begun',
      params: Fields(listing),
      paged: true,
      refuses: { 404: off },
      answers: ListOf(Entity),
      read: ({ params, page }) => store.listEntities(undefined, params, page),
      handle: async ({ rows }) => rows.map((row) => entityEntity(row)),
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/bulk_imports/:id',
      summary: 'Tell how far a transfer is',
      params: Fields({ id }),
      answers: Import,
      record: true,
      read: ({ params }) => store.oneImport(params.id),
      handle: async ({ rows: [row] }) => importEntity(row!),
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/bulk_imports/:id/entities',
      summary: 'List groups and projects of a transfer',
      params: Fields({ id, ...listing }),
      paged: true,
      answers: ListOf(Entity),
      read: ({ params, page }) => store.listEntities(params.id, params, page),
      handle: async ({ rows }) => rows.map((row) => entityEntity(row)),
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/bulk_imports/:id/entities/:entity_id',
      summary: 'Tell how far a group or project of a transfer is',
      params: Fields({ id, entity_id: entityId }),
      answers: Entity,
      record: true,
      read: ({ params }) => store.oneEntity(params.id, params.entity_id),
      handle: async ({ rows: [row] }) => entityEntity(row!),
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/bulk_imports/:id/entities/:entity_id/failures',
      summary: 'List what of a group or project could not be brought',
      params: Fields({ id, entity_id: entityId }),
      paged: true,
      answers: ListOf(Failure),
      read: ({ params, page }) => store.listFailures(params.id, params.entity_id, page),
      handle: async ({ rows }) => rows.map((row) => failureEntity(row)),
    }),

    endpoint({
      ...about,
      may: 'admin_instance',
      method: 'POST',
      path: '/bulk_imports/:id/cancel',
      summary: 'End a transfer before it is done',
      description: 'What has been brought stays. One that is over stays as it is.',
      params: Fields({ id }),
      status: 200,
      answers: Import,
      refuses: { 404: `There is none, or ${off.toLowerCase()}` },
      handle: ({ params: { id: importId } }) =>
        db.transaction(async (tx) => {
          await store.cancelImport(tx, importId)
          const row = await store.findImport(tx, importId)
          if (row === undefined) throw notFound()
          return importEntity(row)
        }),
    }),
  ]
}
