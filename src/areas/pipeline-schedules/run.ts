import { accountProblem, enterAs, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import { enqueue, type Schedule, type Task } from '../../tasks/index.ts'
import { nextRun } from '../../kernel/lib/cron.ts'
import { secretContext } from './entities.ts'
import type { ScheduleServices } from './index.ts'
import * as store from './store.ts'

const runDue = 'ci:run-due-schedules'
export const runOne = 'ci:run-schedule'
const atOnce = 100

/** A run: for its time, or for somebody who asked for it. */
export interface Run {
  readonly schedule: number
  /** What tells it from the other runs of the schedule. */
  readonly key: string
  /** In whose name; the owner's unless it is said. */
  readonly user?: number
}

export const schedules: readonly Schedule[] = [{ task: runDue, pattern: '* * * * *' }]

/** What makes pipelines when their time has come. */
export function scheduleTasks(services: ScheduleServices): Task[] {
  return [
    { name: runDue, run: () => enqueueDue(services) },
    { name: runOne, run: (payload) => run(services, payload as Run) },
  ]
}

/** The next time of each is set with the run's task in one transaction; what was missed meanwhile is one run. */
async function enqueueDue({ db }: ScheduleServices): Promise<void> {
  for (;;) {
    const taken = await db.transaction(async (tx) => {
      const due = await store.takeDue(tx, atOnce)
      const now = new Date()
      if (due.length === 0) return 0
      await store.setNextRuns(
        tx,
        due.map(({ id, cron, cron_timezone }) => ({ id, at: nextRun(cron, cron_timezone, now) })),
      )
      for (const { id, next_run_at } of due) {
        const payload: Run = { schedule: id, key: next_run_at.toISOString() }
        await enqueue(tx, runOne, payload)
      }
      return due.length
    })
    if (taken < atOnce) return
  }
}

async function run(services: ScheduleServices, { schedule: id, key, user: asked }: Run): Promise<void> {
  const { db, cipher, creator } = services
  const row = await store.toRun(db.reader, id)
  if (row === undefined) return
  const userId = asked ?? row.owner_id
  const entered =
    userId === null ? undefined : await enterAs<ProjectSubject>(db, projectKind, userId, row.project_id)
  const user = entered?.actor.user
  if (entered === undefined || !user || accountProblem(user) !== undefined) {
    // Nobody is left in whose name it could run.
    if (asked === undefined) await store.deactivate(db.writer, id)
    return
  }
  await creator.createOnRef({
    project: entered.subject,
    actor: entered.actor,
    source: 'schedule',
    ref: row.ref,
    variables: row.variables.map(({ secret, ...rest }) => ({
      ...rest,
      value: cipher.open(secret, secretContext),
    })),
    vettedVariables: true,
    inputs: row.inputs,
    schedule: { id, description: row.description },
    eventKey: `schedule:${id}:${key}`,
    storesErrors: true,
  })
}
