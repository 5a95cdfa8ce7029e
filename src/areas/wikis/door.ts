import type { Readable, Writable } from 'node:stream'
import type { Actor } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  allowAll,
  branchName,
  branchRef,
  isZero,
  receivePack,
  reconcile,
  recoverRepository,
  RefRefusal,
  setDefaultBranch,
  updateRefs,
  type PushResult,
  type Quarantine,
  type RefJournal,
  type RefUpdate,
  type Repository,
  type UpdateOutcome,
} from '../../git/index.ts'
import type { Events } from '../../tasks/index.ts'
import { beingMoved, type Receiving, type RepositoryPlaces } from '../repository/index.ts'
import * as store from './store.ts'
import type { Wiki } from './store.ts'

/** The news that refs of a wiki were moved: event kind `wiki_push`, one a move of any number of refs. */
export interface WikiPushEvent {
  readonly wikiId: number
  readonly updateId: number
}

/** Under which id the repository of a wiki lies among those of projects. */
export function placeOf(wikiId: number): string {
  return `wiki-${wikiId}`
}

/** Where the wikis lie, and the one door through which their refs move, whoever moves them: rules, journal, news. */
export class WikiDoor {
  readonly #db: Database
  readonly #events: Events
  readonly #places: RepositoryPlaces

  constructor({ db, events, places }: { db: Database; events: Events; places: RepositoryPlaces }) {
    this.#db = db
    this.#events = events
    this.#places = places
  }

  /** The repository of a wiki, whether or not there is one yet. */
  of({ id, storage }: Pick<Wiki, 'id' | 'storage'>): Repository {
    return this.#places.of({ id: placeOf(id), storage })
  }

  /** The repository of a wiki, made when there is none. */
  open({ id, storage, default_branch, empty }: Wiki): Promise<Repository> {
    return this.#places.open({
      id: placeOf(id),
      storage,
      defaultBranch: default_branch,
      repositoryEmpty: empty,
    })
  }

  /** Moves one ref; the refusal is in the outcome. `quarantine`: the objects that the new value needs. */
  update(wiki: Wiki, actor: Actor, update: RefUpdate, quarantine: Quarantine): Promise<UpdateOutcome> {
    return updateRefs(this.of(wiki), [update], {
      from: 'client',
      guard: allowAll,
      journal: this.#journal(wiki, actor.user?.id ?? null),
      atomic: true,
      quarantine,
    })
  }

  /** Takes a push in. Who may push may push anything: a wiki has no protected branches. */
  receive(
    wiki: Wiki,
    actor: Actor,
    input: Readable,
    output: Writable,
    options: Receiving,
  ): Promise<PushResult> {
    return receivePack(this.of(wiki), input, output, {
      ...options,
      guard: allowAll,
      journal: this.#journal(wiki, actor.user?.id ?? null),
    })
  }

  #journal(wiki: Wiki, userId: number | null): RefJournal<number> {
    return {
      prepare: async (updates) => {
        const id = await this.#db.transaction((tx) => store.prepareUpdates(tx, wiki, userId, updates))
        if (id === undefined) throw new RefRefusal(beingMoved)
        return id
      },
      applied: (id, updates) => this.#settle(wiki, userId, id, updates),
      abandoned: (id) => store.abandonUpdates(this.#db.writer, id),
    }
  }

  async #settle(
    wiki: Pick<Wiki, 'id' | 'storage'>,
    userId: number | null,
    updateId: number,
    updates: readonly RefUpdate[],
  ): Promise<void> {
    const created = updates.flatMap(({ ref, newOid }) => (isZero(newOid) ? [] : (branchName(ref) ?? [])))
    await this.#db.transaction(async (tx) => {
      if (!(await store.settleUpdates(tx, updateId, updates))) return
      const { head, owner } = await store.bumpRefs(tx, wiki.id, created)
      // Before the new version can be read: whoever keeps refs under it must find this HEAD.
      if (head !== undefined) await setDefaultBranch(this.of(wiki), branchRef(head)!)
      const payload: WikiPushEvent = { wikiId: wiki.id, updateId }
      await this.#events.announce(tx, 'wiki_push', { projectId: owner.project_id, userId, payload })
    })
  }

  /** Settles what a crash left between moving refs and writing it down. Run at start and now and then. */
  async recover(): Promise<void> {
    for (const { first, ...wiki } of await store.openJournals(this.#db.reader)) {
      const repository = this.of(wiki)
      await recoverRepository(repository, { locksOlderThan: 60_000 })
      const entries = await store.journalSince(this.#db.reader, wiki.id, first)
      const fates = await reconcile(
        repository,
        entries.flatMap(({ updates }) => updates),
      )
      let at = 0
      for (const { id, user_id, state, updates } of entries) {
        const applied = updates.filter((_, index) => fates[at + index] === 'applied')
        at += updates.length
        if (state !== 'prepared') continue
        if (applied.length > 0) await this.#settle(wiki, user_id, id, applied)
        else await store.abandonUpdates(this.#db.writer, id)
      }
    }
  }
}
