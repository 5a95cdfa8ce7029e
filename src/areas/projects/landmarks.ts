import { findCommit, listTree, parseRev, rootPath, type Repository } from '../../git/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import { movesBranch, readFileAt, type PushEvent, type RepositoryPlaces } from '../repository/index.ts'
import { recogniseLicense } from '../templates/index.ts'

export interface LandmarkServices {
  readonly db: Database
  readonly events: Events
  readonly places: RepositoryPlaces
}

/** Entries of the uppermost folder that are looked at. */
const most = 1_000
/** Bytes; no license is longer. */
const largest = 100_000
const readme = /^readme(\.[a-z0-9]{1,10})?$/i
const license = /^(un)?licen[sc]e(\.(txt|md|rst|html))?$|^copying(\.(txt|md|rst|lesser))?$/i

/** Files that every project has one of, as its answers name them: they are looked for when the default branch moves. */
export function followLandmarks(services: LandmarkServices): void {
  services.events.subscribe<PushEvent>('push', 'projects:landmarks', async ({ projectId, payload }) => {
    if (projectId !== null) await findLandmarks(services, projectId, payload)
  })
}

/** Looks for them anew; with a push only if that moved the default branch. */
export async function findLandmarks(
  { db, places }: LandmarkServices,
  id: number,
  push?: PushEvent,
): Promise<void> {
  const [project] = await db.rows(
    sql<{ storage: string; default_branch: string | null }>`
      select p.storage, p.default_branch from projects p where p.id = ${id}`,
  )
  if (project?.default_branch == null) return
  if (push !== undefined && !movesBranch(push, project.default_branch)) return
  const found = await look(places.of({ id, storage: project.storage }))
  await sql`
    update projects set readme_path = ${found.readme}, license_path = ${found.license}, license_key = ${found.key}
    where id = ${id} and (readme_path, license_path, license_key)
      is distinct from (${found.readme}::text, ${found.license}::text, ${found.key}::text)`.execute(db.writer)
}

interface Landmarks {
  readonly readme: string | null
  readonly license: string | null
  readonly key: string | null
}

async function look(repository: Repository): Promise<Landmarks> {
  const commit = await findCommit(repository, parseRev('HEAD')!).catch(() => undefined)
  if (commit === undefined) return { readme: null, license: null, key: null }
  const tree = await listTree(repository, commit.oid, rootPath, { limit: most })
  const files = (tree?.entries ?? []).filter(({ type, mode }) => type === 'blob' && mode !== '120000')
  const named = (pattern: RegExp) => files.find(({ name }) => pattern.test(name))
  // Of several READMEs the one that is rendered best.
  const readmePath = (named(/^readme\.(md|markdown)$/i) ?? named(readme))?.path ?? null
  const licensed = named(license)
  if (licensed === undefined) return { readme: readmePath, license: null, key: null }
  const text = await readFileAt(repository, commit.oid, licensed.path, largest)
  const key = Buffer.isBuffer(text) ? recogniseLicense(text.toString('utf8')) : undefined
  return { readme: readmePath, license: licensed.path, key: key ?? null }
}
