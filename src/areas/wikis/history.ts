import { userOf, type Actor } from '../../access/index.ts'
import {
  lastCommitFor,
  parseFilePath,
  parsePath,
  readBlob,
  type Commit,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { pagesBeside, type PageFile } from './pages/find.ts'
import { pageAsOf } from './renames.ts'
import * as rules from './rules.ts'
import { present, type Place, type WikiRoom } from './services.ts'
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

/** Makes what a page was its newest version; a page that was deleted since is there again. */
export async function restore(
  room: WikiRoom,
  wiki: Wiki,
  actor: Actor,
  slug: string,
  version: { readonly repository: Repository; readonly commit: Oid },
): Promise<Written> {
  const { commits, indexes } = room
  const old = await pageAsOf(indexes, version, await present(room, wiki), slug)
  if (old === undefined) throw notFound('Wiki Page')
  const bytes = (await readBlob(version.repository, old.oid, largest)) ?? Buffer.alloc(0)
  const { result } = await commits.change(wiki, actor, 'Could not update wiki page', async (base) => {
    const { repository, head } = base
    const now = head === undefined ? undefined : await indexes.find(repository, head, slug)
    const message = `${userOf(actor).username} restored page: ${now?.title ?? old.title}`
    const path = now?.path ?? old.path
    const written = { path, content: bytes.toString('utf8') }
    if (now?.oid === old.oid) return { actions: [], message, result: written }
    if (now === undefined && head !== undefined) {
      const beside = await pagesBeside(repository, head, old.slug)
      if (beside.some((page) => page.slug.toLowerCase() === old.slug.toLowerCase())) throw rules.duplicate()
    }
    const action = now === undefined ? 'create' : 'update'
    return {
      actions: [{ action, path: parseFilePath(path)!, content: bytes }],
      message,
      result: written,
    }
  })
  return result
}
