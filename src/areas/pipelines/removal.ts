import { sql, type Database } from '../../kernel/db/index.ts'
import { enqueue, type Schedule, type Task } from '../../tasks/index.ts'
import { placedProject, type PlacedProject } from '../repository/index.ts'
import type { PersistentRefs } from './persistent-refs.ts'
import { taskNames } from './process-news.ts'
import type { PipelineProcess } from './process-pipeline.ts'
import * as store from './store.ts'

/** Of one project at a time; more wait for the next turn. */
const mostRemoved = 250

/** Deletes pipelines with all that their jobs left: those that somebody deletes, and those that a project keeps no longer. */
export class PipelineRemoval {
  readonly #db: Database
  readonly #process: PipelineProcess
  readonly #refs: PersistentRefs

  constructor({ db }: { db: Database }, process: PipelineProcess, refs: PersistentRefs) {
    this.#db = db
    this.#process = process
    this.#refs = refs
  }

  async remove(project: PlacedProject, id: number): Promise<void> {
    await this.#process.cancel(id, { children: true })
    await this.#refs.removeOf(project, id)
    await this.#db.transaction(async (tx) => {
      const files = await store.remove(tx, id)
      if (files.jobs.length > 0) await enqueue(tx, taskNames.removeFiles, files)
    })
  }

  tasks(): Task[] {
    return [
      { name: taskNames.findOld, run: () => this.#findOld() },
      {
        name: taskNames.removeOld,
        run: (payload) => this.#removeOld((payload as { project: number }).project),
      },
    ]
  }

  schedules(): Schedule[] {
    return [{ task: taskNames.findOld, pattern: '20 * * * *' }]
  }

  async #findOld(): Promise<void> {
    const { rows } = await sql<{ id: number }>`
      select pr.id from projects pr where ${retention} is not null`.execute(this.#db.reader)
    for (const { id } of rows) await this.#removeOldLater(id)
  }

  async #removeOldLater(project: number): Promise<void> {
    await enqueue(
      this.#db.writer,
      taskNames.removeOld,
      { project },
      { key: `${taskNames.removeOld}:${project}` },
    )
  }

  async #removeOld(projectId: number): Promise<void> {
    const { rows } = await sql<{ id: number; project: PlacedProject }>`
      select oldest.id, ${placedProject} as project
      from projects pr, lateral (
        select p.id, p.created_at from ci_pipelines p where p.project_id = pr.id order by p.iid limit ${mostRemoved}) oldest
      where pr.id = ${projectId} and coalesce(pr.moving_until < now(), true)
        and oldest.created_at < now() - make_interval(secs => (${retention})::int)
      order by oldest.id`.execute(this.#db.reader)
    for (const { id, project } of rows) await this.remove(project, id)
    if (rows.length === mostRemoved) await this.#removeOldLater(projectId)
  }
}

/** Seconds that the project `pr` keeps its pipelines; null: for ever. */
const retention = sql`pr.settings ->> 'ci_delete_pipelines_in_seconds'`
