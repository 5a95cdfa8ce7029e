import {
  endpoint,
  FeatureLevel,
  group,
  imageRepository,
  project,
  projectFromRow,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Optional,
  requireUnmodified,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { matching, passes, rulesOf } from '../container-rules/index.ts'
import { pathOf, Repository, repository, type EntityContext, type RepositoryRow } from './entities.ts'
import * as store from './store.ts'
import { taskNames } from './tasks.ts'

export interface RegistryRestServices {
  readonly db: Database
  readonly externalUrl: () => string
  readonly images: { readonly enabled: boolean; readonly host: () => string }
}

export const repositoriesPath = '/projects/:id/registry/repositories'

const more = {
  tags: Optional(Flag({ description: 'With the tags of each' })),
  tags_count: Optional(Flag({ description: 'With the number of tags of each' })),
}

/** Where the registry is off, there is none. */
export function requireRegistry(
  { images }: Pick<RegistryRestServices, 'images'>,
  of?: Pick<ProjectSubject, 'features'>,
): void {
  if (!images.enabled || of?.features.container_registry === FeatureLevel.disabled) throw notFound()
}

export function contextOf({ externalUrl, images }: RegistryRestServices, actor: Actor): EntityContext {
  return { actor, externalUrl: externalUrl(), host: images.host() }
}

/** A rule that the caller does not pass keeps a repository from being deleted, also tag by tag in bulk. */
export async function requireDeletable(
  db: Database,
  actor: Actor,
  of: ProjectSubject,
  row: RepositoryRow,
): Promise<void> {
  const rules = matching(await rulesOf(db.reader, of.id), pathOf(row, of))
  if (!passes(rules, 'delete', actor, of)) {
    throw forbidden('Deleting protected container repository forbidden.')
  }
}

export function repositoryEndpoints(services: RegistryRestServices): Endpoint[] {
  const { db } = services
  return [
    endpoint({
      method: 'GET',
      path: repositoriesPath,
      summary: 'List the container repositories of a project',
      on: project,
      may: 'read_container_image',
      anonymous: true,
      paged: true,
      params: Fields(more),
      answers: ListOf(Repository),
      read: ({ params, page }) => store.list(params, page),
      async handle({ actor, project, rows }) {
        requireRegistry(services, project)
        return rows.map((row) => repository(row, project, contextOf(services, actor)))
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/registry/repositories',
      summary: 'List the container repositories of all projects in a group',
      on: group,
      may: 'read_container_image',
      paged: true,
      params: Fields(more),
      answers: ListOf(Repository),
      read: ({ params, page }) => store.listOfGroup(params, page),
      async handle({ actor, rows }) {
        requireRegistry(services)
        const context = contextOf(services, actor)
        return rows.map(({ project: of, role, ...row }) => repository(row, projectFromRow(of, role), context))
      },
    }),

    endpoint({
      method: 'GET',
      path: '/registry/repositories/:id',
      summary: 'Get a container repository',
      on: imageRepository,
      may: 'read_container_image',
      anonymous: true,
      record: true,
      params: Fields({
        id: Id(),
        ...more,
        size: Optional(Flag({ description: 'With the bytes that it holds' })),
      }),
      answers: Repository,
      read: ({ params }) => store.ofId(params.id, params),
      async handle({ actor, project, rows }) {
        requireRegistry(services, project)
        return repository(rows[0]!, project, contextOf(services, actor))
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${repositoriesPath}/:repository_id`,
      summary: 'Delete a container repository',
      description: 'It is out of reach at once; what it holds is removed later.',
      on: project,
      may: 'admin_container_image',
      record: true,
      params: Fields({ repository_id: Id() }),
      answers: Int(),
      status: 202,
      refuses: whenChanged,
      read: ({ params }) => store.ofId(params.repository_id),
      async handle({ actor, project, rows, request }) {
        requireRegistry(services, project)
        const row = rows[0]!
        await requireDeletable(db, actor, project, row)
        requireUnmodified(request, row.updated_at)
        await db.transaction(async (tx) => {
          await store.scheduleDeletion(tx, row.id)
          await enqueue(tx, taskNames.deleteRepository, { repository: row.id })
        })
        return 202
      },
    }),
  ]
}
