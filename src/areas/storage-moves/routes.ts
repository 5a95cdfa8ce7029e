import { endpoint, instance, project as projectKind } from '../../access/index.ts'
import { Fields, Id, ListOf, Optional, Text, Timestamp, type Endpoint } from '../../kernel/endpoint/index.ts'
import { projectIdentity } from '../namespaces/index.ts'
import { otherStorage, requireDestination, requireStorage, type DestinationServices } from './destination.ts'
import { enqueueMany } from './many.ts'
import { enqueueMove, type MoveServices } from './move.ts'
import * as store from './store.ts'

export type StorageMoveServices = MoveServices & DestinationServices

const StorageMove = Fields({
  id: Id(),
  created_at: Timestamp(),
  state: Text({ description: 'scheduled, started, replicated, finished, failed or cleanup failed' }),
  source_storage_name: Text(),
  destination_storage_name: Text(),
  project: Fields(projectIdentity),
})

const destination = {
  destination_storage_name: Optional(Text({ description: 'By the weights of the settings otherwise' })),
}
const moveId = { repository_storage_id: Id() }

export function storageMoveEndpoints(services: StorageMoveServices): Endpoint[] {
  const { db } = services
  return [
    endpoint({
      method: 'GET',
      path: '/project_repository_storage_moves',
      summary: 'List the moves of repositories between storages',
      on: instance,
      may: 'admin_instance',
      paged: true,
      answers: ListOf(StorageMove),
      read: ({ page }) => store.list('instance', page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      method: 'GET',
      path: '/project_repository_storage_moves/:repository_storage_id',
      summary: 'Get a move of a repository',
      on: instance,
      may: 'admin_instance',
      record: true,
      params: Fields(moveId),
      answers: StorageMove,
      read: ({ params }) => store.one('instance', params.repository_storage_id),
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      method: 'POST',
      path: '/project_repository_storage_moves',
      summary: 'Move all repositories of a storage',
      on: instance,
      may: 'admin_instance',
      status: 202,
      params: Fields({ source_storage_name: Text({ blank: false }), ...destination }),
      answers: Fields({ message: Text() }),
      refuses: { 400: 'There is no such storage' },
      async handle({ params: { source_storage_name: source, destination_storage_name: target } }) {
        requireStorage(services, 'source_storage_name', source)
        if (target !== undefined) requireDestination(services, source, target)
        await enqueueMany(db.writer, source, target)
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/repository_storage_moves',
      summary: 'List the moves of a repository between storages',
      on: projectKind,
      may: 'move_repository',
      paged: true,
      answers: ListOf(StorageMove),
      read: ({ page }) => store.list('project', page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/repository_storage_moves/:repository_storage_id',
      summary: 'Get one move of a repository',
      on: projectKind,
      may: 'move_repository',
      record: true,
      params: Fields(moveId),
      answers: StorageMove,
      read: ({ params }) => store.one('project', params.repository_storage_id),
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/repository_storage_moves',
      summary: 'Move a repository to another storage',
      description: 'Its wiki goes along. For a moment at the end of the move, pushes are told to come again.',
      on: projectKind,
      may: 'move_repository',
      params: Fields(destination),
      answers: StorageMove,
      refuses: { 400: 'There is no such storage, or the repository is there or on its way' },
      async handle({ project, params }) {
        const source = project.storage
        const target = params.destination_storage_name ?? otherStorage(services, source)
        requireDestination(services, source, target)
        const id = await db.transaction(async (tx) => {
          const made = await store.create(tx, project.id, { source, destination: target })
          await enqueueMove(tx, made)
          return made
        })
        return store.find(db.writer, id)
      },
    }),
  ]
}
