import { userOf, type Actor } from '../../access/index.ts'
import {
  branchRef,
  commitFiles,
  FileActionError,
  GitError,
  resolve,
  zeroOid,
  type FileAction,
  type Oid,
  type Quarantine,
  type RefName,
  type RefUpdate,
  type Repository,
  type Signature,
} from '../../git/index.ts'
import { conflict, unprocessable } from '../../kernel/errors/index.ts'
import type { WikiDoor } from './door.ts'
import type { Wiki } from './store.ts'
import { Turns } from './turns.ts'

/** What a change begins with. */
export interface Base {
  readonly repository: Repository
  /** Undefined: nothing was written yet. */
  readonly head: Oid | undefined
}

/** What a change comes to. Without actions nothing is written. */
export interface Planned<Result> {
  readonly actions: readonly FileAction[]
  readonly message: string
  readonly result: Result
}

/** Moves by other nodes and by pushes that a change outlasts; each was somebody's success. */
const attempts = 50

export class WikiCommits {
  readonly #door: WikiDoor
  /** On this node one writes after the other: that loses no time, since each needs the last one's commit. */
  readonly #turns = new Turns<number>()

  constructor(door: WikiDoor) {
    this.#door = door
  }

  /**
   * One commit on the wiki's branch. `plan` sees the present pages and may refuse; it is asked again when somebody
   * else was quicker, so that no revision is ever lost. `failed` is what is told when git refuses the commit.
   */
  async change<Result>(
    wiki: Wiki,
    actor: Actor,
    failed: string,
    plan: (base: Base) => Promise<Planned<Result>>,
  ): Promise<{ result: Result; commit: Oid | undefined }> {
    return this.#turns.take(wiki.id, async () => {
      const repository = await this.#door.open(wiki)
      const branch = branchOf(wiki)
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const head = await resolve(repository, branch)
        const { actions, message, result } = await plan({ repository, head })
        if (actions.length === 0) return { result, commit: head }
        const signature = signatureOf(actor)
        const request = { branch, actions, message, author: signature, committer: signature }
        await using change = await commitFiles(repository, request).catch(refusedBy(failed))
        const update = change.updates[0]!
        if (update.oldOid !== (head ?? zeroOid)) continue
        if (await this.#move(wiki, actor, update, change.quarantine, failed)) {
          return { result, commit: change.oid }
        }
      }
      throw conflict()
    })
  }

  /** As `change`, for a commit that is built by the caller. */
  async bring(
    wiki: Wiki,
    actor: Actor,
    quarantine: Quarantine,
    failed: string,
    build: () => Promise<RefUpdate>,
  ): Promise<void> {
    await this.#turns.take(wiki.id, async () => {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const update = await build().catch(refusedBy(failed))
        if (await this.#move(wiki, actor, update, quarantine, failed)) return
      }
      throw conflict()
    })
  }

  /** False: the branch has moved, so try again. */
  async #move(
    wiki: Wiki,
    actor: Actor,
    update: RefUpdate,
    quarantine: Quarantine,
    failed: string,
  ): Promise<boolean> {
    const { applied, rejected } = await this.#door.update(wiki, actor, update, quarantine)
    if (applied.length > 0) return true
    const [rejection] = rejected
    if (rejection?.reason === 'stale' || rejection?.reason === 'failed') return false
    throw unprocessable(rejection?.reason === 'refused' ? rejection.message : failed)
  }
}

/** A name that git takes for no file of ours (`.git` in disguise) is the caller's doing; anything else is not. */
function refusedBy(failed: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof GitError && error.message === 'git refused the objects') throw unprocessable(failed)
    if (error instanceof FileActionError) throw unprocessable(failed)
    throw error
  }
}

export function branchOf({ default_branch }: Wiki): RefName {
  return branchRef(default_branch) ?? branchRef('main')!
}

export function signatureOf(actor: Actor): Signature {
  const { name, email } = userOf(actor)
  return { name, email, date: new Date(), offset: 0 }
}
