import { sql } from '../../kernel/db/index.ts'
import { endpoint, isAdministrator, project } from '../../access/index.ts'
import { repositoryExists, snapshotOf } from '../../git/index.ts'
import { Answer, Fields, Flag, Json, Optional, rows, type Endpoint } from '../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { placeOfWiki } from '../wikis/index.ts'

/** The files of a repository as they are, for administrators who look into one that git does not read any more. */
export function snapshotEndpoint({ places }: { readonly places: RepositoryPlaces }): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/projects/:id/snapshot',
    summary: 'Get the repository of a project as it lies on disk, as a tar',
    description: 'For administrators.',
    on: project,
    may: 'read_project',
    params: Fields({ wiki: Optional(Flag({ description: 'That of its wiki' })) }),
    answers: Json({ description: 'The bytes of the tar' }),
    refuses: { 404: 'There is no repository yet' },
    read: () =>
      rows<{ readonly id: number; readonly storage: string }>(
        sql`select w.id, w.storage from wikis w where w.project_id = subject.id`,
      ),
    async handle({ actor, project: { id, storage }, rows: [wiki], params }) {
      if (!isAdministrator(actor)) throw forbidden()
      const place = params.wiki !== true ? { id, storage } : wiki && { ...wiki, id: placeOfWiki(wiki.id) }
      const repository = place && places.of(place)
      if (repository === undefined || !(await repositoryExists(repository))) throw notFound('Repository')
      const name = params.wiki === true ? 'wiki' : 'project'
      return new Answer(
        200,
        {
          'content-type': 'application/x-tar',
          'content-disposition': `attachment; filename="${name}-${id}.git.tar"`,
        },
        snapshotOf(repository),
      )
    },
  })
}
