import type { Commit } from './commit-format.ts'
import type { Oid, RefName } from './parse.ts'
import type { Repository } from './repository.ts'

/** One ref to move. `zeroOid` as the old value: it must not exist yet; as the new value: it goes away. */
export interface RefUpdate {
  readonly ref: RefName
  readonly oldOid: Oid
  readonly newOid: Oid
}

/** An update with what a rule may want to know of it; costly facts are looked up when asked, and once. */
export interface ProposedUpdate extends RefUpdate {
  readonly isCreation: boolean
  readonly isDeletion: boolean
  /** Whether commits that the ref has now would be lost. Always false for creations and deletions. */
  isForced(): Promise<boolean>
  /**
   * Commits that no ref has yet, newest first, at most `limit` (default 1,000); none for a deletion.
   * A commit that two updates of one push bring is given for both.
   */
  newCommits(limit?: number): Promise<readonly Commit[]>
}

export interface Proposal {
  readonly updates: readonly ProposedUpdate[]
  /** The repository as it would be, with the objects that are not let in yet. For reading only. */
  readonly objects: Repository
  readonly pushOptions: readonly string[]
}

export interface Refusal {
  readonly ref: RefName
  /** What the user is told, without a prefix. */
  readonly message: string
}

/** Thrown by a journal that takes nothing in at the moment: all updates are refused with these words. */
export class RefRefusal extends Error {}

/** Decides what may move. What it throws stops the whole update as a failure, and nothing moves. */
export interface RefGuard {
  check(proposal: Proposal): Promise<readonly Refusal[]>
}

/**
 * Keeps what is about to happen where a crash does not lose it. `prepare` is called before refs move, then exactly
 * one of the others, unless the process dies in between; then `reconcile` tells what became of the prepared updates.
 */
export interface RefJournal<Entry = unknown> {
  prepare(updates: readonly RefUpdate[]): Promise<Entry>
  /** These updates are on the disk; they may be fewer than were prepared. Here the refs' version grows. */
  applied(entry: Entry, updates: readonly RefUpdate[]): Promise<void>
  /** Nothing moved. */
  abandoned(entry: Entry): Promise<void>
}

export type RejectionReason =
  /** No valid name, or one that only the service writes. */
  | 'invalid'
  /** The guard said no. In a push with one such ref, `declined` is what happened to the others. */
  | 'refused'
  | 'declined'
  /** The ref has not the old value any more. */
  | 'stale'
  /** `a` and `a/b` can not both exist. */
  | 'conflict'
  /** The new value does not exist, or is no commit where only a commit may be. */
  | 'bad-object'
  /** Another ref of an atomic update failed. */
  | 'atomic'
  | 'failed'

export interface Rejection {
  readonly update: RefUpdate
  readonly reason: RejectionReason
  /** For people. The guard's words when it refused. */
  readonly message: string
}

export interface UpdateOutcome {
  readonly applied: readonly RefUpdate[]
  readonly rejected: readonly Rejection[]
}
