import type { Actor, ProjectSubject } from '../../access/index.ts'
import { parseOid, readCommits, repositoryExists, type Commit } from '../../git/index.ts'
import { release, type ReleaseRow } from './entities.ts'
import type { ReleaseServices } from './index.ts'

/** Releases of one project as this caller is shown them, with their commits. */
export async function shownReleases(
  { places, externalUrl }: Pick<ReleaseServices, 'places' | 'externalUrl'>,
  rows: readonly ReleaseRow[],
  actor: Actor,
  project: ProjectSubject,
): Promise<Record<string, unknown>[]> {
  const repository = places.of(project)
  const oids = rows.flatMap(({ sha }) => parseOid(sha) ?? [])
  const found: readonly Commit[] =
    oids.length > 0 && (await repositoryExists(repository)) ? await readCommits(repository, oids) : []
  const commits = new Map(found.map((commit) => [commit.oid as string, commit]))
  const about = { actor, project, externalUrl: externalUrl(), commits, now: new Date() }
  return rows.map((row) => release(row, about))
}
