import { findTag, readCommits, type Repository, type TagRef } from '../../git/index.ts'
import { Fields, Flag, Json, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { creatorsOf, type TagRule } from '../protected-tags/index.ts'
import { Commit, commitEntity } from './commit-entity.ts'

export const Tag = Fields({
  name: Text(),
  message: Nullable(Text({ description: 'Of an annotated tag' })),
  target: Text(),
  commit: Nullable(Commit),
  release: Json({ description: 'The release made of this tag, or null' }),
  protected: Flag(),
  created_at: Nullable(Timestamp()),
})

/** Tags with their messages and commits, which are read at once. */
export async function tagEntities(
  repository: Repository,
  tags: readonly Pick<TagRef, 'name' | 'oid' | 'annotated' | 'target'>[],
  { projectUrl, rules }: { readonly projectUrl: string; readonly rules: readonly TagRule[] },
): Promise<Record<string, unknown>[]> {
  const targets = tags.map(({ target }) => target)
  const commits = new Map((await readCommits(repository, targets)).map((commit) => [commit.oid, commit]))
  return Promise.all(
    tags.map(async ({ name, oid, annotated, target }) => {
      const object = annotated ? await findTag(repository, oid) : undefined
      const commit = commits.get(target)
      return {
        name,
        message: object?.message.trimEnd() ?? null,
        target: oid,
        commit: commit === undefined ? null : commitEntity(commit, projectUrl),
        release: null,
        protected: creatorsOf(name, rules) !== undefined,
        created_at: object?.tagger?.date ?? null,
      }
    }),
  )
}
