import type { Readable, Writable } from 'node:stream'
import { userOf, type Actor } from '../../access/index.ts'
import {
  allowAll,
  branchRef,
  commitFiles,
  deleteRepository,
  FileActionError,
  GitError,
  listTree,
  receivePack,
  resolve,
  rootPath,
  updateRefs,
  type FileAction,
  type PushResult,
  type ReceivePackOptions,
  type RefJournal,
  type RefName,
  type Repository,
} from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { conflict, failed } from '../../kernel/errors/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { snippetGuard } from './guard.ts'
import { fileProblem } from './rules.ts'
import * as store from './store.ts'

/** What must be known of a snippet to find its repository. */
export interface PlacedSnippet {
  readonly id: number
  readonly storage: string
  readonly default_branch: string
}

/** Moves by others that a change outlasts; each was somebody's success. */
const attempts = 20

/** The repositories of snippets, and the one door through which their branch moves. */
export class SnippetFiles {
  readonly #db: Database
  readonly #places: RepositoryPlaces

  constructor({ db, places }: { db: Database; places: RepositoryPlaces }) {
    this.#db = db
    this.#places = places
  }

  of({ id, storage }: Pick<PlacedSnippet, 'id' | 'storage'>): Repository {
    return this.#places.of({ id: `snippet-${id}`, storage })
  }

  /** The first commit of a snippet that has no row yet; answers its files. Nothing is left of one that fails. */
  async create(place: PlacedSnippet, actor: Actor, actions: readonly FileAction[]): Promise<string[]> {
    const { default_branch: defaultBranch, storage } = place
    const repository = await this.#places.open({
      id: `snippet-${place.id}`,
      storage,
      defaultBranch,
      repositoryEmpty: true,
    })
    try {
      const silent = { prepare: () => Promise.resolve(0), applied: nothing, abandoned: nothing }
      if (!(await this.#commit(repository, place, actor, actions, 'Initial commit', silent))) throw conflict()
      return await filesOf(repository, branchOf(place))
    } catch (error) {
      await deleteRepository(repository)
      throw error
    }
  }

  /** One commit on the branch; the row has the new files when this is done. */
  async change(place: PlacedSnippet, actor: Actor, actions: readonly FileAction[]): Promise<void> {
    const repository = this.of(place)
    const journal = this.#journal(place)
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await this.#commit(repository, place, actor, actions, 'Update snippet', journal)) return
    }
    throw conflict()
  }

  /** Takes a push in. Files may have so many bytes each. */
  receive(
    place: PlacedSnippet,
    largest: number,
    input: Readable,
    output: Writable,
    options: Omit<ReceivePackOptions, 'guard' | 'journal'>,
  ): Promise<PushResult> {
    return receivePack(this.of(place), input, output, {
      ...options,
      guard: snippetGuard(branchOf(place), largest),
      journal: this.#journal(place),
    })
  }

  #journal(place: PlacedSnippet): RefJournal<number> {
    return {
      prepare: () => store.beginWrite(this.#db.writer, place.id),
      applied: (id) => this.#settle(place, id),
      abandoned: (id) => store.endWrite(this.#db.writer, id),
    }
  }

  async #settle(place: PlacedSnippet, writeId: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      if (!(await store.lock(tx, place.id))) return
      await store.keepFiles(tx, place.id, await filesOf(this.of(place), branchOf(place)))
      await store.endWrite(tx, writeId)
    })
  }

  /** Reads again the files of snippets whose branch may have moved before a crash. */
  async recover(): Promise<void> {
    for (const { id, snippet_id, ...place } of await store.openWrites(this.#db.reader))
      await this.#settle({ ...place, id: snippet_id }, id)
  }

  /** False: the branch has moved meanwhile. */
  async #commit(
    repository: Repository,
    place: PlacedSnippet,
    actor: Actor,
    actions: readonly FileAction[],
    message: string,
    journal: RefJournal<number>,
  ): Promise<boolean> {
    const { name, email } = userOf(actor)
    const signature = { name, email, date: new Date(), offset: 0 }
    const request = { branch: branchOf(place), actions, message, author: signature, committer: signature }
    await using change = await commitFiles(repository, request).catch(refusal)
    const { applied, rejected } = await updateRefs(repository, change.updates, {
      from: 'client',
      guard: allowAll,
      journal,
      atomic: true,
      quarantine: change.quarantine,
    })
    if (applied.length > 0) return true
    const reason = rejected[0]?.reason
    if (reason === 'stale' || reason === 'failed') return false
    throw failed(400, 'The files could not be written')
  }
}

const nothing = (): Promise<void> => Promise.resolve()

function refusal(error: unknown): never {
  if (error instanceof FileActionError) throw fileProblem(error.problem)
  // A name that git takes for no file of ours, `.git` in disguise.
  if (error instanceof GitError && error.message === 'git refused the objects')
    throw failed(400, 'Files have an invalid path')
  throw error
}

export function branchOf({ default_branch }: Pick<PlacedSnippet, 'default_branch'>): RefName {
  return branchRef(default_branch) ?? branchRef('main')!
}

async function filesOf(repository: Repository, branch: RefName): Promise<string[]> {
  const head = await resolve(repository, branch)
  const tree =
    head === undefined ? undefined : await listTree(repository, head, rootPath, { recursive: true })
  return tree?.entries.filter(({ type }) => type === 'blob').map(({ path }) => path) ?? []
}
