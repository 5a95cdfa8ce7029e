import {
  parseOid,
  parseTrailers,
  readCommits,
  type Commit,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import { Fields, Hash, Json, ListOf, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'

export const JobCommit = Fields({
  id: Text(),
  short_id: Text(),
  created_at: Timestamp(),
  parent_ids: ListOf(Text()),
  title: Text(),
  message: Text(),
  author_name: Text(),
  author_email: Text(),
  authored_date: Timestamp(),
  committer_name: Text(),
  committer_email: Text(),
  committed_date: Timestamp(),
  trailers: Hash(Json()),
  extended_trailers: Hash(Json()),
  web_url: Text(),
})

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

export function jobCommit(commit: Commit, projectUrl: string): Record<string, unknown> {
  const trailers = parseTrailers(commit.message)
  return {
    id: commit.oid,
    short_id: commit.oid.slice(0, 8),
    created_at: commit.committer.date,
    parent_ids: commit.parents,
    title: commit.title,
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: commit.author.date,
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: commit.committer.date,
    trailers: Object.fromEntries(trailers.map(({ key, value }) => [key, value])),
    extended_trailers: Object.fromEntries(
      [...Map.groupBy(trailers, ({ key }) => key)].map(([key, all]) => [key, all.map(({ value }) => value)]),
    ),
    web_url: `${projectUrl}/-/commit/${commit.oid}`,
  }
}
