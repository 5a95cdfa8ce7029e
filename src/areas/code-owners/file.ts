import type { Oid, Repository } from '../../git/index.ts'
import { readFileAt } from '../repository/index.ts'
import { parseCodeOwners, type CodeOwnersFile } from './parse.ts'

/** Where the file may be; the first one that is there counts. */
const places = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'] as const

/** Bytes. A larger file is taken for none. */
const largestFile = 1024 * 1024

export interface PlacedFile extends CodeOwnersFile {
  readonly path: string
}

/** The file of code owners of a commit, if it has one. */
export async function codeOwnersAt(repository: Repository, commit: Oid): Promise<PlacedFile | undefined> {
  for (const path of places) {
    const content = await readFileAt(repository, commit, path, largestFile)
    if (content === 'too-large') return undefined
    if (content !== undefined) return { path, ...parseCodeOwners(content.toString()) }
  }
  return undefined
}
