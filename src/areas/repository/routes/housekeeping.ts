import { sql } from '../../../kernel/db/index.ts'
import { endpoint, project } from '../../../access/index.ts'
import { Fields, OneOf, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { conflict } from '../../../kernel/errors/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { optimiseOneTask } from '../housekeeping.ts'
import type { RepositoryServices } from '../services.ts'

/** Repositories that are put in order because somebody asks for it. */
export function housekeepingEndpoints({ db }: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/housekeeping',
      summary: 'Put the repository of a project in order',
      description: 'The packs of many pushes become one; nothing that could be read before goes.',
      on: project,
      may: 'admin_project',
      params: Fields({
        task: OneOf(['eager', 'prune'], {
          default: 'eager',
          description: 'Both do the same: what no branch reaches may still be told of by merge requests',
        }),
      }),
      answers: Fields({ message: Text() }),
      refuses: { 409: 'It is being done' },
      async handle({ project: { id } }) {
        await db.transaction(async (tx) => {
          const { rows: taken } = await sql`
            insert into repository_upkeep as k (project_id, last_update, asked_at)
            select p.id, 0, now() from projects p where p.id = ${id} for key share
            on conflict (project_id) do update set asked_at = now()
            where k.asked_at is null or k.asked_at < now() - interval '1 hour'
            returning 1`.execute(tx)
          if (taken.length === 0)
            throw conflict('Somebody already triggered housekeeping for this project in the past 1 hour.')
          await enqueue(tx, optimiseOneTask, { id })
        })
        return { message: '201 Created' }
      },
    }),
  ]
}
