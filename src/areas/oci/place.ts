import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/** A repository as the paths of images name it. */
export interface Place {
  readonly projectId: number
  /** Below the project's path; empty for the image of the project itself. */
  readonly name: string
  /** The whole path. */
  readonly path: string
}

/** That `c` is the repository, and stays one. */
export function isPlace({ projectId, name }: Place): RawBuilder<unknown> {
  return sql`c.project_id = ${projectId} and c.name = ${name} and c.status is distinct from 'delete_scheduled'`
}
