import type { Reader } from '../../kernel/db/index.ts'
import type { ReadProject } from '../repository/index.ts'

/** What is to be known of a project to work in its repository, for work that nobody's access stands before. */
export interface RequestProject extends ReadProject {
  readonly fullPath: string
  readonly settings: Readonly<Record<string, unknown>>
}

export async function findProjects(
  db: Reader,
  ids: readonly (number | null)[],
): Promise<Map<number, RequestProject>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await db
    .selectFrom('projects as p')
    .select([
      'p.id',
      'p.storage',
      'p.default_branch as defaultBranch',
      'p.repository_empty as repositoryEmpty',
      'p.refs_version as refsVersion',
      'p.full_path as fullPath',
      'p.settings',
    ])
    .where('p.id', 'in', wanted)
    .execute()
  return new Map(rows.map((row) => [row.id, row as RequestProject]))
}
