import type { Oid, Repository } from '../../git/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import type { BasicUserRow } from '../users/index.ts'
import { codeOwnersAt, type PlacedFile } from './file.ts'
import { patternsFor } from './match.ts'
import type { OwnedPattern, OwnerSection } from './parse.ts'
import { findOwners, spellingOf } from './store.ts'

/** A line of the file that is for some of the paths asked about, and who may approve for it. */
export interface OwnedPaths {
  /** `codeowners` before the first heading. */
  readonly section: string
  readonly pattern: string
  /** Of the file, from 1. */
  readonly line: number
  /** No approval is needed for a merge. */
  readonly optional: boolean
  /** How many of the owners have to approve; with fewer owners than that all of them. */
  readonly approvalsRequired: number
  readonly paths: readonly string[]
  /** Nobody, when the names stand for no one who may: then nobody can be asked, and a merge goes on without. */
  readonly owners: readonly BasicUserRow[]
}

export const unnamedSection = 'codeowners'

/**
 * Who has a say in these paths, by the file of code owners of a commit: for a merge request that of its target branch.
 * One answer for each line that counts; undefined without such a file, and then the paths are not asked for.
 */
export async function ownersOfPaths(
  { db, repository }: { readonly db: Reader; readonly repository: Repository },
  projectId: number,
  commit: Oid,
  pathsOf: () => Promise<readonly string[]>,
): Promise<OwnedPaths[] | undefined> {
  const file = await codeOwnersAt(repository, commit)
  if (file === undefined) return undefined
  const matched = matchedLines(file, await pathsOf())
  const names = matched.flatMap(({ pattern }) => pattern.owners)
  const found = Map.groupBy(await findOwners(db, projectId, names), ({ name }) => name)
  return matched.map(({ section, pattern, paths: owned }) => {
    const users = pattern.owners.flatMap((name) => found.get(spellingOf(name)) ?? [])
    return {
      section: section.name ?? unnamedSection,
      pattern: pattern.pattern,
      line: pattern.line,
      optional: section.optional,
      approvalsRequired: section.approvals,
      paths: owned,
      owners: [...new Map(users.map(({ user }) => [user.id, user])).values()],
    }
  })
}

export interface MatchedLine {
  readonly section: OwnerSection
  readonly pattern: OwnedPattern
  readonly paths: string[]
}

/** The lines that are for some of the paths, in the order of the file. */
export function matchedLines(file: PlacedFile, paths: readonly string[]): MatchedLine[] {
  const lines = new Map<OwnedPattern, MatchedLine>()
  for (const path of paths) {
    for (const { section, pattern } of patternsFor(file, path)) {
      const known = lines.get(pattern)
      if (known === undefined) lines.set(pattern, { section, pattern, paths: [path] })
      else known.paths.push(path)
    }
  }
  return [...lines.values()].sort((a, b) => a.pattern.line - b.pattern.line)
}
