import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import type { Due } from './due.ts'

export interface NewImport {
  readonly projectId: number
  readonly userId: number
  /** Sealed. */
  readonly address: string
  readonly shownAddress: string
  readonly correlationId: string
}

/** For a project that is being made. */
export async function add(tx: Tx, wanted: NewImport): Promise<Due> {
  const { projectId, userId, address, shownAddress, correlationId } = wanted
  const { rows } = await sql<Due>`
    with told as (
      insert into project_imports (project_id, user_id, correlation_id)
      values (${projectId}, ${userId}, ${correlationId})
    ), shown as (
      update projects set import_status = 'scheduled', import_type = 'git' where id = ${projectId}
    )
    insert into repository_imports (project_id, user_id, address, shown_address, due_at)
    values (${projectId}, ${userId}, ${address}, ${shownAddress}, now()) returning id, due_at`.execute(tx)
  return rows[0]!
}

export interface ClaimedImport {
  readonly id: number
  readonly runner: string
  readonly project_id: number
  readonly user_id: number | null
  readonly address: string
}

/** The next import that is due, from now on `runner`'s for so many seconds; it stays due until that is done. */
export async function claim(db: Writer, runner: string, seconds: number): Promise<ClaimedImport | undefined> {
  const { rows } = await sql<ClaimedImport>`
    with claimed as (
      update repository_imports i set runner = ${runner}, running_until = now() + make_interval(secs => ${seconds}),
        update_status = 'started'
      where i.id = (
        select i.id from repository_imports i join projects p on p.id = i.project_id
        where i.due_at <= now() and coalesce(i.running_until < now(), true) and p.marked_for_deletion_at is null
          and (p.moving_until is null or p.moving_until < now())
        order by i.due_at limit 1 for update of i skip locked)
      returning i.id, i.runner, i.project_id, i.user_id, i.address
    ), shown as (
      update projects p set import_status = 'started' from claimed where p.id = claimed.project_id
    )
    select * from claimed`.execute(db)
  return rows[0]
}

/** The import has ended, and its address is forgotten but for what is shown; `error` is null where it went well. */
export async function end(db: Writer, runner: string, error: string | null): Promise<void> {
  const status = error === null ? 'finished' : 'failed'
  await sql`
    with ended as (
      update repository_imports set runner = null, running_until = null, due_at = null, address = null,
        update_status = ${status}
      where runner = ${runner} returning project_id
    ), told as (
      update project_imports x set error = ${error} from ended where x.project_id = ended.project_id
    )
    update projects p set import_status = ${status}, import_error = ${error} from ended where p.id = ended.project_id`.execute(
    db,
  )
}

/** How often it is tried; each time it waits four times as long for the next. */
const mostAttempts = 5

/** It may go better later: answers when; undefined where it was tried often enough. */
export async function tryLater(tx: Tx, runner: string): Promise<Due | undefined> {
  const { rows } = await sql<Due>`
    update repository_imports set runner = null, running_until = null, failures = failures + 1,
      update_status = 'scheduled', due_at = now() + make_interval(secs => power(4, failures))
    where runner = ${runner} and failures + 1 < ${mostAttempts} returning id, due_at`.execute(tx)
  return rows[0]
}
