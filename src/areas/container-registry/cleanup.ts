import { sql, type Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { matching, rulesOf, tagRulesOf } from '../container-rules/index.ts'
import { allSettings } from '../projects/index.ts'
import { pathOf } from './entities.ts'
import { removeTags } from './removal.ts'
import { readAge } from './selection.ts'

export interface CleanupServices {
  readonly db: Database
  readonly settings: Settings
  readonly log: Logger
}

interface DueProject {
  readonly id: number
  readonly full_path: string
  readonly settings: Record<string, unknown>
}

interface PolicyRepository {
  readonly id: number
  readonly name: string
}

/** Between runs of a policy that is not done. */
const soon = 3600
/** Projects that are looked for at once. */
const batch = 100

/** Runs the cleanup policies whose time has come, as many at once as the instance lets. */
export async function runPolicies(services: CleanupServices): Promise<void> {
  const capacity = services.settings.values.container_registry_expiration_policies_worker_capacity
  if (capacity === 0) return
  for (;;) {
    const due = await claimDue(services)
    const rest = due.values()
    const work = async (): Promise<void> => {
      for (const project of rest) await runPolicy(services, project)
    }
    await Promise.all(Array.from({ length: Math.min(capacity, due.length) }, work))
    if (due.length < batch) return
  }
}

/** What is claimed here nobody else runs; should we die, it is due again in an hour. */
async function claimDue({ db, settings }: CleanupServices): Promise<DueProject[]> {
  const historic = settings.values.container_expiration_policies_enable_historic_entries
  const { rows } = await sql<DueProject>`
    with due as (
      select p.id, p.full_path, p.settings from projects p
      left join container_cleanup_policies c on c.project_id = p.id
      where p.settings -> 'container_expiration_policy' ->> 'enabled' = 'true'
        and coalesce(c.next_run_at, '-infinity') <= now() and (${historic} or not coalesce(c.historic, false))
      order by p.id limit ${batch}),
    claimed as (
      insert into container_cleanup_policies (project_id, next_run_at)
      select due.id, now() + make_interval(secs => ${soon}) from due
      on conflict (project_id) do update set next_run_at = excluded.next_run_at
      where coalesce(container_cleanup_policies.next_run_at, '-infinity') <= now()
      returning project_id)
    select due.id, due.full_path, due.settings from due join claimed on claimed.project_id = due.id`.execute(
    db.writer,
  )
  return rows
}

async function runPolicy(services: CleanupServices, project: DueProject): Promise<void> {
  const { db, settings, log } = services
  const policy = allSettings(project.settings).container_expiration_policy
  const limits = {
    most: settings.values.container_registry_cleanup_tags_service_max_list_size || undefined,
    time: (settings.values.container_registry_delete_tags_service_timeout || Infinity) * 1000,
  }
  let done = true
  try {
    const [rules, tagRules, repositories] = await Promise.all([
      rulesOf(db.reader, project.id),
      tagRulesOf(db.reader, project.id),
      repositoriesOf(db, project.id),
    ])
    for (const repository of repositories) {
      const path = pathOf(repository, { fullPath: project.full_path })
      if (matching(rules, path).some((rule) => rule.minimum_delete !== null)) continue
      await sql`update container_repositories c set cleanup_started_at = now() where c.id = ${repository.id}`.execute(
        db.writer,
      )
      const finished = await removeTags(
        db,
        repository.id,
        {
          remove: policy.name_regex ?? '',
          keep: policy.name_regex_keep ?? '',
          keepNewest: policy.keep_n ?? 0,
          olderThan: policy.older_than === null ? 0 : readAge('older_than', policy.older_than),
          denied: tagRules.map((rule) => rule.tag_name_pattern),
        },
        limits,
      )
      done &&= finished
    }
  } catch (error) {
    done = false
    log.error({ err: error, project: project.id }, 'a cleanup policy failed')
  }
  const next = done ? readAge('cadence', policy.cadence) : soon
  await sql`
    update container_cleanup_policies c set next_run_at = now() + make_interval(secs => ${next})
    where c.project_id = ${project.id}`.execute(db.writer)
}

async function repositoriesOf(db: Database, projectId: number): Promise<PolicyRepository[]> {
  return db.reader
    .selectFrom('container_repositories as c')
    .select(['c.id', 'c.name'])
    .where('c.project_id', '=', projectId)
    .where('c.status', 'is', null)
    .orderBy('c.id')
    .execute()
}
