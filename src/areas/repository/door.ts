import type { Readable, Writable } from 'node:stream'
import type { Actor } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import {
  allowAll,
  branchName,
  branchRef,
  createInternalRef,
  isZero,
  receivePack,
  RefRefusal,
  reconcile,
  recoverRepository,
  setDefaultBranch,
  updateRefs,
  type Oid,
  type PreparedChange,
  type PushResult,
  type Quarantine,
  type RefGuard,
  type RefJournal,
  type RefName,
  type RefUpdate,
  type UpdateOutcome,
} from '../../git/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { PlacedProject, RepositoryPlaces } from './places.ts'
import { tagRefusals } from './tag-names.ts'

/** What the door must know of a project; `ProjectSubject` fits. */
export type DoorProject = PlacedProject

/** Who moves a ref, and how: over git, or through the API and the pages (`web`), which some rules treat differently. */
export interface Mover<Project extends DoorProject = DoorProject> {
  readonly actor: Actor
  readonly project: Project
  readonly via: 'git' | 'web'
  /** As somebody who pushes gives them, for a move that is made in his name. */
  readonly pushOptions?: readonly string[]
  /** What comes was made elsewhere before the project was here. */
  readonly imports?: boolean
}

/** What another area plugs into the door: it may refuse updates, and act when a project's first branch appears. */
export interface DoorRules<Project extends DoorProject = DoorProject> {
  guard(mover: Mover<Project>): RefGuard
  firstBranch(tx: Tx, projectId: number, branch: string): Promise<void>
}

/** The news that refs were moved: event kind `push`, one a push, however many they are. */
export interface PushEvent {
  readonly updates: readonly RefUpdate[]
  readonly pushOptions: readonly string[]
  /** Whether the token of a job moved them. */
  readonly byJob: boolean
  /** Whether they came with an import: nothing is to run because of what was there before. */
  readonly imported: boolean
}

/** Whether a push moved this branch; never where there is none. */
export function movesBranch({ updates }: PushEvent, branch: string | null): boolean {
  const wanted = branch === null ? undefined : branchRef(branch)
  return updates.some(({ ref }) => ref === wanted)
}

/** What is written down before refs move. */
interface Prepared {
  readonly id: number
  readonly pushOptions: readonly string[]
  readonly byJob: boolean
  readonly imported: boolean
}

/** What is told while a repository is brought to another storage. */
export const moving = 'The repository is temporarily read-only. Please try again later.'

/** Every move of a project's refs, whoever makes it, goes through here: rules, journal, news. */
export class RefDoor<Project extends DoorProject = DoorProject> {
  readonly #db: Database
  readonly #events: Events
  readonly #places: RepositoryPlaces
  readonly #rules: DoorRules<Project>

  constructor(services: {
    db: Database
    events: Events
    places: RepositoryPlaces
    rules: DoorRules<Project>
  }) {
    this.#db = services.db
    this.#events = services.events
    this.#places = services.places
    this.#rules = services.rules
  }

  /**
   * Moves refs on behalf of somebody, all or none. Refusals are in the outcome; see `git/update-refs.ts`. `change`: the
   * objects that the new values need; the caller disposes of it.
   */
  update(
    mover: Mover<Project>,
    updates: readonly RefUpdate[],
    change?: PreparedChange,
  ): Promise<UpdateOutcome> {
    return updateRefs(this.#places.of(mover.project), updates, {
      from: 'client',
      guard: this.#guard(mover),
      journal: this.#journal(mover, mover.pushOptions ?? []),
      atomic: true,
      quarantine: change?.quarantine,
    })
  }

  /**
   * Brings in a change that the service itself makes: no rule is asked, but all that follows a push follows it. Throws
   * when it does not fit any more.
   */
  async bring(mover: Pick<Mover, 'actor' | 'project'>, change: PreparedChange): Promise<void> {
    const { rejected } = await updateRefs(this.#places.of(mover.project), change.updates, {
      from: 'service',
      guard: allowAll,
      journal: this.#journal(mover, []),
      atomic: true,
      quarantine: change.quarantine,
    })
    if (rejected.length > 0) throw new Error(`a change of the service was not taken: ${rejected[0]!.reason}`)
  }

  /**
   * As `bring`, of refs that have nothing to do with one another: each moves or does not, as the outcome says. What
   * options a push may have the mover gives.
   */
  bringEach(
    mover: Omit<Mover, 'via'>,
    updates: readonly RefUpdate[],
    quarantine: Quarantine | undefined,
  ): Promise<UpdateOutcome> {
    return updateRefs(this.#places.of(mover.project), updates, {
      from: 'service',
      guard: allowAll,
      journal: this.#journal(mover, mover.pushOptions ?? []),
      quarantine,
    })
  }

  /** What follows the first push to a project, for one that came into being with its branches. */
  adopt(tx: Tx, projectId: number, defaultBranch: string): Promise<void> {
    return this.#rules.firstBranch(tx, projectId, defaultBranch)
  }

  /**
   * Moves refs that only the service writes (`refs/merge-requests/`, `refs/keep-around/`): no rule is asked and nobody
   * is told. Where one has another value by now all stay as they are, and the answer is false; whoever moved it meant
   * something newer. `raisesVersion: false`: the caller raises the version of the project's refs, with changes of his own.
   */
  async moveInternal(
    project: DoorProject,
    updates: readonly RefUpdate[],
    quarantine?: Quarantine,
    { raisesVersion = true }: { readonly raisesVersion?: boolean } = {},
  ): Promise<boolean> {
    if (updates.length === 0) return true
    const { rejected } = await updateRefs(this.#places.of(project), updates, {
      from: 'service',
      guard: allowAll,
      journal: {
        // What they should have can be found out anew at any time, so nothing is written down before.
        prepare: async () => undefined,
        applied: async () => {
          if (raisesVersion) await this.#bumpVersion(project.id)
        },
        abandoned: async () => undefined,
      },
      atomic: true,
      quarantine,
    })
    return rejected.length === 0
  }

  /** As `moveInternal`, for a ref that never was to an object that is there. The caller raises the version. */
  createInternal(project: DoorProject, ref: RefName, oid: Oid): Promise<boolean> {
    return createInternalRef(this.#places.of(project), ref, oid)
  }

  async #bumpVersion(projectId: number): Promise<void> {
    await sql`update projects set refs_version = refs_version + 1 where id = ${projectId}`.execute(
      this.#db.writer,
    )
  }

  /** Takes a push in; see `git/receive-pack.ts`. */
  async receive(
    mover: Mover<Project>,
    input: Readable,
    output: Writable,
    options: {
      signal?: AbortSignal
      messagePrefix: string
      /** Bytes. */
      maxPackSize?: number
      /** Lines for the user once refs have moved. */
      afterwards?: (outcome: UpdateOutcome, pushOptions: readonly string[]) => Promise<readonly string[]>
    },
  ): Promise<PushResult> {
    const pushOptions: string[] = []
    const rules = this.#guard(mover)
    return receivePack(this.#places.of(mover.project), input, output, {
      ...options,
      guard: {
        check(proposal) {
          pushOptions.push(...proposal.pushOptions)
          return rules.check(proposal)
        },
      },
      journal: this.#journal(mover, pushOptions),
    })
  }

  /** What holds for the tags of every project, and the rules that other areas plugged in. */
  #guard(mover: Mover<Project>): RefGuard {
    const rules = this.#rules.guard(mover)
    return {
      check: async (proposal) => [
        ...tagRefusals(proposal.updates, mover.project.defaultBranch),
        ...(await rules.check(proposal)),
      ],
    }
  }

  #journal(
    { actor, project, imports: imported = false }: Omit<Mover, 'via'>,
    pushOptions: readonly string[],
  ): RefJournal<Prepared> {
    const userId = actor.user?.id ?? actor.deployKey?.ownerId ?? null
    return {
      prepare: async (updates) => {
        // Held for the moment of this statement, so that who moves the repository waits for it or is seen by it.
        const { rows } = await sql<{ id: number }>`
          insert into ref_updates (project_id, user_id, updates, push)
          select p.id, ${userId}, ${JSON.stringify(updates)}::jsonb,
            ${JSON.stringify({ options: pushOptions, by_job: actor.job?.id ?? null, imported })}::jsonb
          from projects p
          where p.id = ${project.id} and p.storage = ${project.storage}
            and (p.moving_until is null or p.moving_until < now())
          for share of p returning id`.execute(this.#db.writer)
        const [row] = rows
        if (row === undefined) throw new RefRefusal(moving)
        return { id: row.id, pushOptions, byJob: actor.job !== null, imported }
      },
      applied: (entry, updates) => this.#settle(project, userId, entry, updates),
      abandoned: async ({ id }) => {
        await this.#db.writer.deleteFrom('ref_updates').where('id', '=', id).execute()
      },
    }
  }

  /** In one transaction: the journal, the version of the refs, the default branch of a first push, and the news. */
  async #settle(
    project: DoorProject,
    userId: number | null,
    { id, ...push }: Prepared,
    updates: readonly RefUpdate[],
  ): Promise<void> {
    const created = updates.flatMap(({ ref, newOid }) => (isZero(newOid) ? [] : (branchName(ref) ?? [])))
    await this.#db.transaction(async (tx) => {
      const settled = await sql<{ id: number }>`
        update ref_updates set state = 'applied', updates = ${JSON.stringify(updates)}
        where id = ${id} and state = 'prepared' returning id`.execute(tx)
      // Another node settled it: it took this one for dead.
      if (settled.rows.length === 0) return
      const { rows } = await sql<{ repository_empty: boolean; default_branch: string | null }>`
        select repository_empty, default_branch from projects where id = ${project.id} for update`.execute(tx)
      const first = rows[0]?.repository_empty === true && created.length > 0
      const wanted = rows[0]?.default_branch ?? null
      const head = first ? (created.find((branch) => branch === wanted) ?? created[0]!) : undefined
      await sql`
        update projects set refs_version = refs_version + 1, last_activity_at = now(),
          repository_empty = repository_empty and ${!first}, default_branch = coalesce(${head ?? null}, default_branch)
        where id = ${project.id}`.execute(tx)
      if (head !== undefined) {
        // Before the new version can be read: whoever caches refs under it must find this HEAD.
        await setDefaultBranch(this.#places.of(project), branchRef(head)!)
        await this.#rules.firstBranch(tx, project.id, head)
      }
      const payload: PushEvent = { updates, ...push }
      await this.#events.announce(tx, 'push', { projectId: project.id, userId, payload })
    })
  }

  /**
   * Settles what a crash left between moving refs and writing it down: entries prepared more than a minute ago are
   * compared with their repositories. Run at start and now and then.
   */
  async recover(): Promise<void> {
    const { rows } = await sql<{ project_id: number; first: number }>`
      select r.project_id, min(r.id) as first from ref_updates r
      where r.state = 'prepared' and r.created_at < now() - interval '1 minute'
      group by r.project_id`.execute(this.#db.reader)
    for (const { project_id, first } of rows) await this.#recoverProject(project_id, first)
  }

  async #recoverProject(projectId: number, first: number): Promise<void> {
    const project = await this.#db.reader
      .selectFrom('projects as p')
      .select([
        'p.id',
        'p.storage',
        'p.default_branch as defaultBranch',
        'p.repository_empty as repositoryEmpty',
      ])
      .where('p.id', '=', projectId)
      .executeTakeFirst()
    if (project === undefined) return
    // Whoever died may have held a lock; it is held for milliseconds, and the entries are older than a minute.
    await recoverRepository(this.#places.of(project), { locksOlderThan: 60_000 })
    // All entries since the first open one: the settled ones explain values that the open ones do not.
    const { rows } = await sql<Entry>`
      select r.id, r.user_id, r.state, r.updates, r.push from ref_updates r
      where r.project_id = ${projectId} and r.id >= ${first} order by r.id`.execute(this.#db.reader)
    const fates = await reconcile(
      this.#places.of(project),
      rows.flatMap(({ updates }) => updates),
    )
    let at = 0
    for (const { id, user_id, state, updates, push } of rows) {
      const applied = updates.filter((_, index) => fates[at + index] === 'applied')
      at += updates.length
      if (state === 'applied') continue
      const prepared = {
        id,
        pushOptions: push.options,
        byJob: (push.by_job ?? null) !== null,
        imported: push.imported === true,
      }
      if (applied.length > 0) await this.#settle(project, user_id, prepared, applied)
      else await this.#db.writer.deleteFrom('ref_updates').where('id', '=', id).execute()
    }
  }
}

interface Entry {
  readonly id: number
  readonly user_id: number | null
  readonly state: 'prepared' | 'applied'
  readonly updates: readonly RefUpdate[]
  readonly push: {
    readonly options: readonly string[]
    readonly by_job?: number | null
    readonly imported?: boolean
  }
}
