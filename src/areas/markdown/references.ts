import { sql, type RawBuilder } from 'kysely'
import {
  actorRow,
  decide,
  groupVisible,
  projectColumns,
  projectFromRow,
  projectLevels,
  projectVisible,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import { findCommit, parseRev } from '../../git/index.ts'
import {
  candidateKey,
  type Candidate,
  type ReferenceKind,
  type Resolved,
  type ResolvedReference,
} from '../../rendering/index.ts'
import { readable, type RepositoryPlaces } from '../repository/index.ts'

/** What a candidate turned out to be, as its select answers it. */
interface Row {
  readonly key: string
  /** Below the address of the service. */
  readonly address: string | null
  readonly title: string | null
  /** For what lies in a repository: the project, and the reader's role in it. */
  readonly project: Record<string, unknown> | null
  readonly role: number | null
}

/**
 * How one kind of reference is looked up: a select of the columns of `Row`, from `wanted c` (`key`, `path`, `id`) and
 * the reader `actor`; what he may not see it leaves out. All selects are one statement. A further kind of thing is a
 * further row here, and nothing else.
 */
interface Kind {
  readonly of: ReferenceKind
  readonly select: RawBuilder<unknown>
}

const nothingMore = sql`null::json as project, null::integer as role`

const kinds: readonly Kind[] = [
  {
    of: 'user',
    select: sql`
      select c.key, '/' || u.username as address, u.name as title, ${nothingMore}
      from actor, wanted c join users u on lower(u.username) = lower(c.id) where c.kind = 'user'`,
  },
  {
    // A group is mentioned as a user is.
    of: 'user',
    select: sql`
      select c.key, '/groups/' || n.full_path, n.name, ${nothingMore}
      from actor, wanted c
      join routes r on r.path_key = lower(c.id) and not r.redirect
      join namespaces n on n.id = r.namespace_id and n.kind = 'group'
      where c.kind = 'user' and ${groupVisible}`,
  },
  {
    of: 'project',
    select: sql`
      select c.key, '/' || p.full_path, p.name, ${nothingMore}
      from actor, wanted c
      join routes r on r.path_key = lower(c.id) join projects p on p.id = r.project_id
      where c.kind = 'project' and ${projectVisible}`,
  },
  {
    // Which commits there are the repository knows; here is decided whose code the reader may read.
    of: 'commit',
    select: sql`
      select c.key, null, null, to_json(subject), access.role
      from actor cross join wanted c
      join routes r on r.path_key = lower(c.path) join projects p on p.id = r.project_id
      join namespaces n on n.id = p.namespace_id
      ${projectLevels}
      cross join lateral (select ${projectColumns}, access.permissions) subject
      where c.kind = 'commit' and ${projectVisible}`,
  },
]

const known = new Set(kinds.map(({ of }) => of))
/** Commits of one text that are looked up. */
const mostCommits = 200

export interface ReferenceServices {
  readonly db: { readonly reader: Reader }
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
}

/** What candidates mean to a reader, in one statement. `path`: of the project the text belongs to, if any. */
export async function resolveReferences(
  services: ReferenceServices,
  actor: Actor,
  path: string | undefined,
  candidates: readonly Candidate[],
): Promise<Resolved> {
  const wanted = candidates
    .filter(({ kind }) => known.has(kind))
    .map((candidate) => ({ ...candidate, key: candidateKey(candidate), path: candidate.path ?? path ?? '' }))
  if (wanted.length === 0) return {}
  const selects = sql.join(
    kinds.map(({ select }) => select),
    sql` union all `,
  )
  const { rows } = await sql<Row>`
    with actor as (select * from ${actorRow(actor)}),
      wanted as (
        select * from json_to_recordset(${JSON.stringify(wanted)}::json) w (key text, kind text, path text, id text))
    ${selects}`.execute(services.db.reader)
  const byKey = new Map(wanted.map((candidate) => [candidate.key, candidate]))
  const resolved: Record<string, ResolvedReference> = {}
  let commits = 0
  for (const row of rows) {
    if (row.project === null) {
      const href = `${services.externalUrl()}${row.address ?? ''}`
      resolved[row.key] = row.title === null ? { href } : { href, title: row.title }
      continue
    }
    const project = projectFromRow(row.project, row.role ?? 0)
    if (!decide(actor, 'read_code', project, true).allowed || (commits += 1) > mostCommits) continue
    const found = await commitReference(services, project, byKey.get(row.key)!, path)
    if (found !== undefined) resolved[row.key] = found
  }
  return resolved
}

async function commitReference(
  { places, externalUrl }: ReferenceServices,
  project: ProjectSubject,
  { id }: Candidate,
  path: string | undefined,
): Promise<ResolvedReference | undefined> {
  const rev = parseRev(id)
  const repository = await readable(places, project)
  const commit = repository && rev && (await findCommit(repository, rev))
  // A branch may be called as a commit is.
  if (commit?.oid.startsWith(id) !== true) return undefined
  const short = commit.oid.slice(0, 8)
  const foreign = project.fullPath.toLowerCase() !== path?.toLowerCase()
  return {
    href: `${externalUrl()}/${project.fullPath}/-/commit/${commit.oid}`,
    title: commit.message.split('\n', 1)[0] ?? '',
    text: foreign ? `${project.fullPath}@${short}` : short,
  }
}
