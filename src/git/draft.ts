import { formatCommit, parseCommit, type Commit, type Signature } from './commit-format.ts'
import { GitError } from './git-error.ts'
import { removeLoose, writeLoose } from './loose-object.ts'
import { newObject } from './pack-writer.ts'
import type { Oid, RefName } from './parse.ts'
import { peeled } from './object-readers.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import type { Repository } from './repository.ts'
import { run } from './run.ts'
import type { PreparedChange } from './write.ts'

export interface Merged {
  /** Where there are conflicts, the tree has their marks in its files. */
  readonly tree: Oid
  /** The files with conflicts; none: the merge is clean. */
  readonly conflicts: readonly string[]
}

export interface NewCommit {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

const someone: Signature = { name: 'x', email: 'x', date: new Date(0), offset: 0 }

/** Commits and merges that nobody sees until they are let in. Disposing forgets them, unless `prepare` was called. */
export class Draft implements AsyncDisposable {
  readonly #quarantine: Quarantine
  #handedOver = false

  private constructor(quarantine: Quarantine) {
    this.#quarantine = quarantine
  }

  static async open(repository: Repository): Promise<Draft> {
    return new Draft(await openQuarantine(repository))
  }

  /** The repository together with what was drafted. */
  get repository(): Repository {
    return this.#quarantine.repository
  }

  /** Merges two commits as `git merge` would, from the best common ancestors there are. */
  async merge(ours: Oid, theirs: Oid): Promise<Merged> {
    const { exitCode, stdout, stderr } = await run(this.repository, 'merge-tree', {
      flags: ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'],
      revs: [ours, theirs],
      accept: [0, 1],
    })
    const [tree = '', ...names] = stdout.toString().split('\0')
    if (!/^[0-9a-f]{40}$/.test(tree)) {
      throw new GitError('failed', 'git merge-tree gave no tree', { exitCode, stderr })
    }
    return { tree: tree as Oid, conflicts: exitCode === 0 ? [] : names.filter((name) => name !== '') }
  }

  /**
   * Merges three commits or trees, with a base that history does not know: how a commit is picked or reverted. Older
   * versions of git take a base from history only, so a history is made up around the trees, and taken away again.
   */
  async mergeFrom(base: Oid, ours: Oid, theirs: Oid): Promise<Merged> {
    const madeUp: Oid[] = []
    const make = async (tree: Oid, parents: readonly Oid[], message: string): Promise<Oid> => {
      const oid = await this.commit({ tree, parents, author: someone, committer: someone, message })
      madeUp.push(oid)
      return oid
    }
    try {
      const root = await make(await this.#treeOf(base), [], 'base')
      const left = await make(await this.#treeOf(ours), [root], 'ours')
      const right = await make(await this.#treeOf(theirs), [root], 'theirs')
      return await this.merge(left, right)
    } finally {
      for (const oid of madeUp) await removeLoose(this.#folder, oid)
    }
  }

  async commit(commit: NewCommit): Promise<Oid> {
    const object = newObject('commit', formatCommit(commit))
    await writeLoose(this.#folder, object, this.repository.program.durable)
    return object.oid
  }

  async find(oid: Oid): Promise<Commit> {
    const found = await this.repository.readers.object(this.repository, peeled(oid, 'commit'))
    if (found === undefined) throw new GitError('failed', 'a commit is missing')
    return parseCommit(found.oid, found.content)
  }

  /** The update that would bring what was drafted; the draft is now the change's to dispose of. */
  prepare(ref: RefName, oldOid: Oid, newOid: Oid): PreparedChange {
    this.#handedOver = true
    const quarantine = this.#quarantine
    return {
      oid: newOid,
      updates: [{ ref, oldOid, newOid }],
      quarantine,
      [Symbol.asyncDispose]: () => quarantine[Symbol.asyncDispose](),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#handedOver) await this.#quarantine[Symbol.asyncDispose]()
  }

  get #folder(): string {
    return this.repository.quarantine ?? ''
  }

  async #treeOf(oid: Oid): Promise<Oid> {
    const found = await this.repository.readers.header(this.repository, peeled(oid, 'tree'))
    if (found === undefined) throw new GitError('failed', 'a tree is missing')
    return found.oid
  }
}
