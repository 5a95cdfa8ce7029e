import type { Actor, ProjectSubject } from '../../access/index.ts'
import { parseOid, readCommits, repositoryExists, type Commit } from '../../git/index.ts'
import { release, type ReleaseRow } from './entities.ts'
import type { ReleaseServices } from './index.ts'

/** Releases of one project as this caller is shown them, with their commits, and with HTML of their texts if asked for. */
export async function shownReleases(
  { places, externalUrl, texts }: Pick<ReleaseServices, 'places' | 'externalUrl' | 'texts'>,
  rows: readonly ReleaseRow[],
  actor: Actor,
  project: ProjectSubject,
  { html = false }: { readonly html?: boolean } = {},
): Promise<Record<string, unknown>[]> {
  const repository = places.of(project)
  const oids = rows.flatMap(({ sha }) => parseOid(sha) ?? [])
  const found: readonly Commit[] =
    oids.length > 0 && (await repositoryExists(repository)) ? await readCommits(repository, oids) : []
  const commits = new Map(found.map((commit) => [commit.oid as string, commit]))
  const about = { actor, project, externalUrl: externalUrl(), commits, now: new Date() }
  const entities = rows.map((row) => release(row, about))
  if (!html) return entities
  const rendered = await Promise.all(
    rows.map(({ description }) =>
      texts.render({ text: description ?? '', language: 'markdown', reader: actor, place: project }),
    ),
  )
  return entities.map((entity, index) => ({ ...entity, description_html: rendered[index] }))
}
