import { endpoint, find, project, require } from '../../../access/index.ts'
import type { Database } from '../../../kernel/db/index.ts'
import {
  Fields,
  Hash,
  Id,
  Int,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import type { Settings } from '../../../settings/index.ts'
import { importMembers, type ImportServices } from '../import.ts'
import { refuseNewcomers } from '../lock.ts'
import { placeOf } from '../place.ts'

/** The members of one project in another one. */
export function importingEndpoint(
  services: ImportServices & { readonly db: Database; readonly settings: Settings },
): Endpoint {
  return endpoint({
    method: 'POST',
    path: '/projects/:id/import_project_members/:project_id',
    summary: 'Make the direct members of another project members of this one',
    description:
      'Who is a direct member already stays what he is. Maintainers bring owners in as Maintainers. What is wrong with some does not keep the others out.',
    on: project,
    may: 'admin_project_member',
    params: Fields({
      project_id: Id({ description: 'Where they come from; the caller looks after it, too' }),
    }),
    status: 200,
    answers: Fields({
      status: OneOf('success', 'error'),
      message: Optional(Hash(Text(), { description: 'What is wrong, by username' })),
      total_members_count: Optional(Int({ description: 'Members that were to come' })),
    }),
    refuses: { 404: 'No such project', 405: 'The group keeps its projects from having members' },
    async handle({ actor, project: subject, params }) {
      const source = await find(services.db.reader, project, actor, String(params.project_id))
      if (source === undefined) throw notFound('Project')
      require(actor, 'admin_project', source)
      refuseNewcomers(services.settings, actor, subject)
      return importMembers(services, actor, placeOf(subject), source.id)
    },
  })
}
