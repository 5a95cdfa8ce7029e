import { createHash } from 'node:crypto'
import path from 'node:path'
import type { Git, Repository } from '../../git/index.ts'

/** Where repositories lie: named storages, each a folder, in a cluster one that all nodes share. */
export class RepositoryPlaces {
  readonly #git: Git
  readonly #storages: Readonly<Record<string, string>>

  constructor(git: Git, storages: Readonly<Record<string, string>>) {
    this.#git = git
    this.#storages = storages
  }

  /** The place hangs on the project's id, not its path, so that renaming and moving touch no file. */
  of({ id, storage }: { readonly id: number; readonly storage: string }): Repository {
    const folder = this.#storages[storage]
    if (folder === undefined) throw new Error(`there is no storage ${storage}`)
    const hash = createHash('sha256').update(String(id)).digest('hex')
    return this.#git.repository(path.join(folder, '@hashed', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`))
  }
}
