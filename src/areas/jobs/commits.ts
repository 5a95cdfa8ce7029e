import { parseOid, readCommits, type Commit, type Oid, type Repository } from '../../git/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'

/** Commits that jobs were made for. They never change, so those seen lately are kept. */
export class Commits {
  readonly #known = new LruMap<string, Commit>(8 * 1024 * 1024)

  async find(repository: Repository, shas: readonly string[]): Promise<Map<string, Commit>> {
    const found = new Map<string, Commit>()
    const missing: Oid[] = []
    for (const sha of new Set(shas)) {
      const known = this.#known.get(`${repository.path}:${sha}`)
      const oid = known === undefined ? parseOid(sha) : undefined
      if (known !== undefined) found.set(sha, known)
      else if (oid !== undefined) missing.push(oid)
    }
    if (missing.length === 0) return found
    for (const commit of await readCommits(repository, missing)) {
      found.set(commit.oid, commit)
      this.#known.set(`${repository.path}:${commit.oid}`, commit, commit.message.length + 500)
    }
    return found
  }
}
