import { userOf, type Actor } from '../../access/index.ts'
import {
  lastCommitFor,
  listCommits,
  parseFilePath,
  parsePath,
  readBlob,
  type Commit,
  type Oid,
  type Repository,
  type TreePath,
} from '../../git/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { extensions } from './pages/files.ts'
import { pagesBeside, type PageFile } from './pages/find.ts'
import * as rules from './rules.ts'
import type { Place, WikiRoom } from './services.ts'
import type { Wiki } from './store.ts'
import type { Written } from './write.ts'

const keptCommits = 100_000
const largest = 64 * 1024 * 1024

/** Who changed pages last. What a commit says of a page never changes, so it is kept. */
export class LastVersions {
  readonly #kept = new LruMap<string, Commit | undefined>(keptCommits)

  async of({ repository, commit }: Place, page: PageFile): Promise<Commit | undefined> {
    // The repository belongs to the key: two wikis may have one commit, but not all of its parents.
    const key = `${repository.path}\0${commit}\0${page.path}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const found = await lastCommitFor(repository, commit, parsePath(page.path)!)
    this.#kept.set(key, found)
    return found
  }
}

/** The commits that changed a page, newest first, also while it had another format. */
export function versionsOf(
  { repository, commit }: Place,
  page: PageFile,
  { skip, limit }: { skip: number; limit: number },
): Promise<Commit[]> {
  const stem = page.path.slice(0, -page.extension.length)
  const others = Object.values(extensions).map((extension) => `${stem}.${extension}`)
  const paths = [...new Set([page.path, ...others])].flatMap((path): TreePath[] => {
    const parsed = parsePath(path)
    return parsed === undefined ? [] : [parsed]
  })
  return listCommits(repository, { revs: [commit], paths, order: 'topo', skip, limit })
}

/** Makes what a page was its newest version; a page that was deleted since is there again. */
export async function restore(
  { commits, indexes }: WikiRoom,
  wiki: Wiki,
  actor: Actor,
  slug: string,
  version: { readonly repository: Repository; readonly commit: Oid },
): Promise<Written> {
  const old = await indexes.find(version.repository, version.commit, slug)
  if (old === undefined) throw notFound('Wiki Page')
  const bytes = (await readBlob(version.repository, old.oid, largest)) ?? Buffer.alloc(0)
  const { result } = await commits.change(wiki, actor, 'Could not update wiki page', async (base) => {
    const { repository, head } = base
    const present = head === undefined ? undefined : await indexes.find(repository, head, slug)
    const message = `${userOf(actor).username} restored page: ${old.title}`
    const path = present?.path ?? old.path
    const written = { path, content: bytes.toString('utf8') }
    if (present?.oid === old.oid) return { actions: [], message, result: written }
    if (present === undefined && head !== undefined) {
      const beside = await pagesBeside(repository, head, old.slug)
      if (beside.some((page) => page.slug.toLowerCase() === old.slug.toLowerCase())) throw rules.duplicate()
    }
    const action = present === undefined ? 'create' : 'update'
    return {
      actions: [{ action, path: parseFilePath(path)!, content: bytes }],
      message,
      result: written,
    }
  })
  return result
}
