import type { ProjectSubject } from '../../access/index.ts'
import {
  branchRef,
  listRefs,
  parseOid,
  parseRefName,
  resolve,
  tagRef,
  zeroOid,
  type Oid,
  type RefName,
  type RefSnapshot,
  type RefUpdate,
} from '../../git/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { Turns } from '../../kernel/lib/turns.ts'
import type { Logger } from '../../kernel/log/index.ts'
import {
  placedProject,
  type PlacedProject,
  type RefDoor,
  type RepositoryPlaces,
} from '../repository/index.ts'

export interface PersistentRefServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly log: Logger
}

/** `unwritable`: not at the moment; `lost`: the commit itself is gone. */
export type RefOutcome = 'written' | 'unwritable' | 'lost'

export interface Reserved {
  readonly id: number
  readonly outcome: RefOutcome
  readonly turn: ReturnType<Turns['take']>
}

/** Of one project at a time; more wait for the next turn. */
const mostTidied = 500

const folder = 'refs/pipelines/'

/** The ref that keeps the commit of a pipeline as long as its jobs may want it; runners fetch it, nobody pushes it. */
export function pipelineRef(id: number): RefName {
  return parseRefName(`${folder}${id}`)!
}

function idOf(name: RefName): number {
  return Number(name.slice(folder.length))
}

/**
 * Refs of pipelines. One is written before its pipeline can be seen, so that no runner can be quicker; where that cannot
 * be done, the jobs wait as `preparing`. At rest a pipeline needs none, so that repositories do not fill up with them.
 */
export class PersistentRefs {
  readonly #services: PersistentRefServices

  /** By project: pipelines come in the order of their ids. */
  readonly #turns = new Turns()

  constructor(services: PersistentRefServices) {
    this.#services = services
  }

  /**
   * The id of a pipeline to be, with its ref, and its turn to be stored; the version of the project's refs is to be raised
   * with its row.
   */
  async reserve(project: ProjectSubject, sha: Oid): Promise<Reserved> {
    const { rows } = await sql<{ id: number; moving: boolean }>`
      select nextval(pg_get_serial_sequence('ci_pipelines', 'id'))::bigint as id,
        coalesce(p.moving_until > now(), false) as moving
      from projects p where p.id = ${project.id}`.execute(this.#services.db.writer)
    const [row] = rows
    if (row === undefined) throw new Error('the project is gone')
    const turn = this.#turns.take(project.id)
    try {
      return { id: row.id, outcome: await this.#write(project, row, sha), turn }
    } catch (error) {
      turn[Symbol.dispose]()
      throw error
    }
  }

  /** Takes back what `reserve` wrote. */
  async abandon(project: PlacedProject, id: number, sha: Oid): Promise<void> {
    await this.#remove(project, [{ ref: pipelineRef(id), oldOid: sha, newOid: zeroOid }])
  }

  /** For a pipeline that is to go on: writes the ref where it is needed and not there. */
  async ensure(pipelineId: number): Promise<RefOutcome> {
    const { rows } = await sql<Placed & { moving: boolean }>`
      select ${placed}, coalesce(pr.moving_until > now(), false) as moving
      from ci_pipelines p join projects pr on pr.id = p.project_id
      where p.id = ${pipelineId} and p.needs_ref`.execute(this.#services.db.writer)
    const [row] = rows
    if (row === undefined) return 'written'
    const sha = parseOid(row.sha)
    if (sha === undefined) return 'lost'
    const outcome = await this.#write(row.project, row, sha)
    if (outcome === 'written') {
      await sql`
        with kept as (
          update ci_pipelines p set has_ref = true, needs_ref = false where p.id = ${pipelineId} and p.needs_ref
          returning p.project_id)
        update projects pr set refs_version = pr.refs_version + 1 from kept where pr.id = kept.project_id`.execute(
        this.#services.db.writer,
      )
    }
    return outcome
  }

  /** Of a pipeline that is about to be deleted. */
  async removeOf(project: PlacedProject, pipelineId: number): Promise<void> {
    const ref = pipelineRef(pipelineId)
    const oldOid = await resolve(this.#services.places.of(project), ref)
    if (oldOid !== undefined) await this.#remove(project, [{ ref, oldOid, newOid: zeroOid }])
  }

  /** Removes the refs of pipelines at rest. The commits of branches that are gone are kept for those who look back. */
  async tidy(): Promise<void> {
    const { rows } = await sql<{ project_id: number }>`
      select distinct p.project_id from ci_pipelines p where ${resting}`.execute(this.#services.db.reader)
    for (const { project_id } of rows) {
      await this.#tidyProject(project_id).catch((error: unknown) =>
        // One repository that cannot be written is no reason to leave the others.
        this.#services.log.warn({ err: error, project: project_id }, 'refs of pipelines were not tidied up'),
      )
    }
  }

  async #tidyProject(projectId: number): Promise<void> {
    const { db } = this.#services
    await db.transaction(async (tx) => {
      const { rows } = await sql<Placed & { ref: string; tag: boolean }>`
        select ${placed}, p.ref, p.tag from ci_pipelines p join projects pr on pr.id = p.project_id
        where ${resting} and p.project_id = ${projectId} and coalesce(pr.moving_until < now(), true)
        order by p.id limit ${mostTidied} for update of p skip locked`.execute(tx)
      const [first] = rows
      if (first === undefined) return
      const known = await listRefs(this.#services.places.of(first.project), first.refs_version)
      const updates: RefUpdate[] = await this.#orphans(tx, known)
      const kept = new Set<string>()
      for (const row of rows) {
        const sha = parseOid(row.sha)
        const ref = pipelineRef(row.id)
        const there = known.find(ref)
        if (there !== undefined) updates.push({ ref, oldOid: there.oid, newOid: zeroOid })
        const branch = row.tag ? tagRef(row.ref) : branchRef(row.ref)
        const keep = parseRefName(`refs/keep-around/${row.sha}`)
        if (sha === undefined || keep === undefined || there === undefined || kept.has(keep)) continue
        if ((branch !== undefined && known.find(branch) !== undefined) || known.find(keep) !== undefined)
          continue
        kept.add(keep)
        updates.push({ ref: keep, oldOid: zeroOid, newOid: sha })
      }
      if (
        !(await this.#services.door.moveInternal(first.project, updates, undefined, { raisesVersion: false }))
      )
        return
      await sql`
        update ci_pipelines p set has_ref = false, needs_ref = true
        where p.id = any (${rows.map(({ id }) => id)}::bigint[])`.execute(tx)
      await sql`update projects set refs_version = refs_version + 1 where id = ${projectId}`.execute(tx)
    })
  }

  /** Refs of pipelines that never came to be, since the service ended in between. */
  async #orphans(tx: Tx, { refs }: RefSnapshot): Promise<RefUpdate[]> {
    const found = new Map(
      refs.filter(({ name }) => name.startsWith(folder)).map((ref) => [idOf(ref.name), ref]),
    )
    if (found.size === 0) return []
    // Ids are given out in order: those below one of an hour ago are not being written just now.
    const { rows } = await sql<{ id: number }>`
      select r.id from unnest(${[...found.keys()]}::bigint[]) r (id)
      where not exists (select from ci_pipelines p where p.id = r.id) and r.id < (
        select p.id from ci_pipelines p where p.created_at < now() - interval '1 hour' order by p.id desc limit 1)`.execute(
      tx,
    )
    return rows.map(({ id }) => {
      const { name, oid } = found.get(id)!
      return { ref: name, oldOid: oid, newOid: zeroOid }
    })
  }

  async #write(
    project: PlacedProject,
    { id, moving }: { id: number; moving: boolean },
    sha: Oid,
  ): Promise<RefOutcome> {
    if (moving) return 'unwritable'
    const { door, places, log } = this.#services
    const repository = places.of(project)
    const ref = pipelineRef(id)
    try {
      if ((await resolve(repository, sha)) === undefined) return 'lost'
      if (await door.createInternal(project, ref, sha)) return 'written'
      return (await resolve(repository, ref)) === sha ? 'written' : 'unwritable'
    } catch (error) {
      log.warn({ err: error, pipeline: id }, 'the ref of a pipeline could not be written')
      return 'unwritable'
    }
  }

  /** What is left behind keeps a commit that nobody asks for, and no more. */
  async #remove(project: PlacedProject, updates: readonly RefUpdate[]): Promise<void> {
    await this.#services.door.moveInternal(project, updates).catch((error: unknown) => {
      this.#services.log.warn(
        { err: error, project: project.id },
        'the ref of a pipeline could not be removed',
      )
    })
  }
}

interface Placed {
  readonly id: number
  readonly sha: string
  readonly refs_version: number
  readonly project: PlacedProject
}

const placed = sql`p.id, p.sha, pr.refs_version, ${placedProject} as project`

const resting = sql`p.has_ref and p.status in ('success', 'failed', 'canceled', 'skipped')`
