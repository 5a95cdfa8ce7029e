import { sql } from '../../kernel/db/index.ts'
import { find, may, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  fetchCommits,
  listBranches,
  parseRefName,
  zeroOid,
  type Oid,
  type Quarantine,
} from '../../git/index.ts'
import { notFound, type ApiError } from '../../kernel/errors/index.ts'
import { readable, type ReadProject } from './looking.ts'
import type { RepositoryServices } from './services.ts'

/**
 * Another project of the same network of forks, which somebody names to take commits from; undefined where it is the
 * project itself, or none is named. `refusal`: what is said of one that is no relative, or whose code is closed to the caller.
 */
export async function relativeNamed(
  { db }: Pick<RepositoryServices, 'db'>,
  actor: Actor,
  own: ProjectSubject,
  named: string | number | undefined,
  refusal: (other: ProjectSubject, related: boolean) => ApiError,
): Promise<ProjectSubject | undefined> {
  if (named === undefined) return undefined
  const other = await find(db.reader, projectKind, actor, String(named))
  if (other === undefined) throw notFound('Project')
  if (other.id === own.id) return undefined
  const [found] = await db.rows(sql<{ related: boolean }>`
    select count(distinct coalesce(p.fork_network, p.id)) = 1 as related
    from projects p where p.id in (${own.id}, ${other.id})`)
  const related = found?.related === true
  if (!related || !may(actor, 'read_code', other)) throw refusal(other, related)
  return other
}

/**
 * The repository of the target together with a commit of a relative, for reading; once disposed of nobody has the commit
 * here, so that what is private in a fork stays there. Undefined: the target has it anyway.
 */
export async function borrowCommit(
  { places }: Pick<RepositoryServices, 'places'>,
  source: ReadProject,
  target: ReadProject,
  head: Oid,
): Promise<Quarantine | undefined> {
  const [from, into] = await Promise.all([readable(places, source), places.open(target)])
  if (from === undefined) return undefined
  const known = await listBranches(into, target.refsVersion)
  return fetchCommits(from, into, { head, known: known.map(({ oid }) => oid) })
}

/** Lets the repository of the target have a commit of a relative, and keep it. */
export async function bringCommits(
  services: Pick<RepositoryServices, 'places' | 'door'>,
  source: ReadProject,
  target: ReadProject,
  head: Oid,
): Promise<void> {
  if (source.id === target.id) return
  await using quarantine = await borrowCommit(services, source, target, head)
  if (quarantine === undefined) return
  const ref = parseRefName(`refs/keep-around/${head}`)!
  await services.door.moveInternal(target, [{ ref, oldOid: zeroOid, newOid: head }], quarantine)
}
