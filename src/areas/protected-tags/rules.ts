import type { AccessEntry } from '../../access/index.ts'
import { matchesWildcard } from '../../kernel/lib/wildcard.ts'

/** A tag name or wildcard, and who may create tags of that name. */
export interface TagRule {
  readonly name: string
  readonly entries: readonly AccessEntry[]
}

/** All who may create a tag, by any matching rule; undefined when it is not protected. */
export function creatorsOf(tag: string, rules: readonly TagRule[]): readonly AccessEntry[] | undefined {
  const matching = rules.filter(({ name }) => matchesWildcard(name, tag))
  return matching.length === 0 ? undefined : matching.flatMap(({ entries }) => entries)
}

/** One update of a protected tag, and what its maker may do. */
export interface TagUpdate {
  readonly kind: 'create' | 'update' | 'delete'
  readonly via: 'git' | 'web'
  readonly may: { readonly create: boolean; readonly deleteProtected: boolean }
}

export const tagIsProtected = 'You are not allowed to create this tag as it is protected.'

/** Why an update of a protected tag is refused, in the words that the git client shows, or undefined. */
export function refusal({ kind, via, may }: TagUpdate): string | undefined {
  switch (kind) {
    case 'update':
      return 'Protected tags cannot be updated.'
    case 'delete':
      if (!may.deleteProtected) {
        return 'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.'
      }
      return via === 'web' ? undefined : 'You can only delete protected tags using the web interface.'
    case 'create':
      return may.create ? undefined : tagIsProtected
  }
}
