import { createHash } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../kernel/db/index.ts'
import { branchRef, createRepository, repositoryExists, type Git, type Repository } from '../../git/index.ts'

/** What must be known of a repository to find or make it. */
export interface PlacedRepository {
  readonly id: number | string
  readonly storage: string
  readonly defaultBranch: string | null
  readonly repositoryEmpty: boolean
}

/** What must be known of a project to find its repository; `ProjectSubject` fits. */
export interface PlacedProject extends PlacedRepository {
  readonly id: number
}

/** A `PlacedProject` of the project `pr`. */
export const placedProject = sql<PlacedProject>`json_build_object(
  'id', pr.id, 'storage', pr.storage, 'defaultBranch', pr.default_branch, 'repositoryEmpty', pr.repository_empty)`

const usualBranch = branchRef('main')!

/** Where repositories lie: named storages, each a folder, in a cluster one that all nodes share. */
export class RepositoryPlaces {
  readonly #git: Git
  readonly #storages: Readonly<Record<string, string>>
  readonly #creating = new Map<string, Promise<void>>()

  constructor(git: Git, storages: Readonly<Record<string, string>>) {
    this.#git = git
    this.#storages = storages
  }

  /** Their names. */
  get storages(): readonly string[] {
    return Object.keys(this.#storages)
  }

  /**
   * The place hangs on the project's id, not its path, so that renaming and moving touch no file. Other repositories
   * than those of projects have a text as their id: `wiki-7`.
   */
  of({ id, storage }: { readonly id: number | string; readonly storage: string }): Repository {
    const folder = this.#storages[storage]
    if (folder === undefined) throw new Error(`there is no storage ${storage}`)
    const hash = createHash('sha256').update(String(id)).digest('hex')
    return this.#git.repository(
      path.join(folder, '@hashed', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`),
    )
  }

  /**
   * The repository, made when there is none: a project without a first push needs no folder, and so its creation can
   * not end halfway. Where something was pushed nothing is looked at.
   */
  async open(project: PlacedRepository): Promise<Repository> {
    const repository = this.of(project)
    if (!project.repositoryEmpty || (await repositoryExists(repository))) return repository
    let creating = this.#creating.get(repository.path)
    if (creating === undefined) {
      creating = create(repository, project).finally(() => this.#creating.delete(repository.path))
      this.#creating.set(repository.path, creating)
    }
    await creating
    return repository
  }
}

async function create(repository: Repository, { defaultBranch }: PlacedRepository): Promise<void> {
  const head = (defaultBranch === null ? undefined : branchRef(defaultBranch)) ?? usualBranch
  try {
    await createRepository(repository, { defaultBranch: head })
  } catch (error) {
    // Another node makes it at this moment; git's locks let one of the two through.
    await sleep(200)
    if (!(await repositoryExists(repository))) throw error
  }
}
