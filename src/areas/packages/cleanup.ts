import { sql, type Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'

export interface CleanupServices {
  readonly db: Database
  readonly settings: Pick<Settings, 'values'>
  readonly log: Logger
}

interface Due {
  readonly project_id: number
  readonly kept_duplicates: number
}

/** Projects that are claimed at once. */
const batch = 100

/** Runs the cleanup policies of packages whose time has come, as many at once as the instance lets. */
export async function runPackagePolicies(services: CleanupServices): Promise<void> {
  const capacity = services.settings.values.package_registry_cleanup_policies_worker_capacity
  if (capacity === 0) return
  for (;;) {
    const due = await claimDue(services.db)
    const rest = due.values()
    const work = async (): Promise<void> => {
      for (const policy of rest) await runPolicy(services, policy)
    }
    await Promise.all(Array.from({ length: Math.min(capacity, due.length) }, work))
    if (due.length < batch) return
  }
}

/** What is claimed here nobody else runs; it is due again half a day later, whatever comes of it. */
async function claimDue(db: Database): Promise<readonly Due[]> {
  const { rows } = await sql<Due>`
    update package_cleanup_policies c set next_run_at = now() + interval '12 hours'
    where c.project_id in (
      select due.project_id from package_cleanup_policies due
      where due.kept_duplicates is not null and due.next_run_at <= now()
      order by due.next_run_at limit ${batch} for update skip locked)
    returning c.project_id, c.kept_duplicates`.execute(db.writer)
  return rows
}

/** Files of one name in one package; a chart of one name in another channel is another file. Their content goes after them. */
async function runPolicy({ db, log }: CleanupServices, { project_id, kept_duplicates }: Due): Promise<void> {
  try {
    await sql`
      delete from package_files f using (
        select f.id, row_number() over (
          partition by f.package_id, f.file_name, f.metadata ->> 'channel' order by f.id desc) as age
        from packages k join package_files f on f.package_id = k.id
        where k.project_id = ${project_id}) aged
      where aged.id = f.id and aged.age > ${kept_duplicates}`.execute(db.writer)
  } catch (error) {
    log.error({ err: error, project: project_id }, 'a cleanup policy of packages failed')
  }
}
