import { enterAs, may, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import { isPlayable, type Status } from '../../ci/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { ApiError, forbidden } from '../../kernel/errors/index.ts'
import type { PipelineProcess, RefProtection } from '../pipelines/index.ts'
import * as store from './environments-store.ts'
import type { EnvironmentRow } from './entities.ts'

export interface StoppingServices {
  readonly db: Database
  readonly process: PipelineProcess
  readonly refProtection: RefProtection
}

/** Ends environments: by the job that was named for it where that waits to be started, else at once. */
export class Stopping {
  readonly #services: StoppingServices

  constructor(services: StoppingServices) {
    this.#services = services
  }

  /** 403 when somebody may not start that job. `force`: without it. */
  async stop(
    environment: EnvironmentRow,
    { actor, project, force }: { actor: Actor; project: ProjectSubject; force: boolean },
  ): Promise<void> {
    const { db, process, refProtection } = this.#services
    const action = force ? undefined : await store.stopAction(db.reader, environment.id)
    const waits =
      action !== undefined && isPlayable({ status: action.status as Status, when: action.run_when })
    if (!waits) {
      await store.setState(db.writer, environment.id, 'stopped')
      return
    }
    const { pipeline_id, job_id, resource_group, ref, tag } = action
    const allowed =
      may(actor, 'update_pipeline', project) &&
      (await refProtection.mayRun(db.reader, actor, project, { name: ref, tag }))
    if (!allowed) throw forbidden()
    const status = resource_group === null ? 'pending' : 'waiting_for_resource'
    const from = ['manual', 'scheduled', 'skipped']
    await process.enqueueJob(pipeline_id, job_id, from, status, async (tx) => {
      await tx
        .updateTable('ci_jobs as j')
        .set({ user_id: actor.user!.id, scheduled_at: null })
        .where('j.id', '=', job_id)
        .execute()
      await store.setState(tx, environment.id, 'stopping')
    })
  }

  /** Ends one whose time has come, in the name of whoever deployed to it last. */
  async stopDue(id: number): Promise<void> {
    const { db } = this.#services
    const environment = await store.find(db.reader, id)
    if (environment?.state !== 'available') return
    const action = await store.stopAction(db.reader, id)
    if (action === undefined && environment.auto_stop_setting === 'with_action') {
      await store.keepOn(db.writer, id)
      return
    }
    const entered =
      action?.user_id == null
        ? undefined
        : await enterAs<ProjectSubject>(db, projectKind, action.user_id, environment.project_id)
    if (entered === undefined) {
      await store.setState(db.writer, id, 'stopped')
      return
    }
    const { actor, subject: project } = entered
    try {
      await this.stop(environment, { actor, project, force: false })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Whoever deployed may start nothing here any more: it ends without the job.
      await store.setState(db.writer, id, 'stopped')
    }
  }
}
