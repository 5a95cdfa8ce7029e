import { sql } from '../../kernel/db/index.ts'
import { optimise, recoverRepository, repositoryExists } from '../../git/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { RepositoryServices } from './services.ts'

const recover = 'repository:recover'
const sweep = 'repository:sweep'
export const optimiseTask = 'repository:optimise'
/** Of one project, because somebody asks for it. */
export const optimiseOneTask = 'repository:optimise-one'
const projectsAtOnce = 500
/** Repositories that one run puts in order. */
const repositoriesAtOnce = 200
/** Days after which nobody asks any more how refs came to their values. */
const journalDays = 30

/** What keeps repositories and their journal in order. */
export function housekeeping({ db, door, places, settings, log }: RepositoryServices): {
  tasks: Task[]
  schedules: Schedule[]
} {
  /** Looks at every repository, page by page. */
  async function sweepRepositories(): Promise<void> {
    for (let last = 0; ;) {
      const projects = await db.reader
        .selectFrom('projects as p')
        .select(['p.id', 'p.storage'])
        .where('p.id', '>', last)
        .orderBy('p.id')
        .limit(projectsAtOnce)
        .execute()
      for (const project of projects) {
        const repository = places.of(project)
        if (!(await repositoryExists(repository))) continue
        const removed = await recoverRepository(repository)
        if (removed.length > 0)
          log.info({ project: project.id, removed }, 'removed what a broken push had left')
      }
      if (projects.length < projectsAtOnce) return
      last = projects.at(-1)!.id
    }
  }

  async function forgetOldUpdates(): Promise<void> {
    await sql`
      delete from ref_updates where state = 'applied' and created_at < now() - make_interval(days => ${journalDays})
    `.execute(db.writer)
  }

  /** Puts repositories in order that were pushed to often enough since the last time; those most pushed to first. */
  async function optimiseRepositories(): Promise<void> {
    const { housekeeping_enabled: enabled, housekeeping_optimize_repository_period: period } = settings.values
    if (!enabled) return
    const { rows } = await sql<{ id: number; storage: string; last: number }>`
      select p.id, p.storage, max(r.id) as last
      from ref_updates r join projects p on p.id = r.project_id
      left join repository_upkeep k on k.project_id = p.id
      where r.state = 'applied' and r.id > coalesce(k.last_update, 0)
        and (p.moving_until is null or p.moving_until < now())
      group by p.id having count(*) >= ${period} order by count(*) desc limit ${repositoriesAtOnce}`.execute(
      db.reader,
    )
    for (const { id, storage, last } of rows) {
      try {
        await optimise(places.of({ id, storage }))
      } catch (error) {
        log.warn({ err: error, project: id }, 'a repository could not be put in order')
      }
      await sql`
        insert into repository_upkeep (project_id, last_update) select p.id, ${last} from projects p where p.id = ${id}
          for key share
        on conflict (project_id) do update set last_update = excluded.last_update, optimised_at = now()`.execute(
        db.writer,
      )
    }
  }

  async function optimiseOne(id: number): Promise<void> {
    const [project] = await db.rows(
      sql<{ storage: string; moving: boolean }>`
        select p.storage, coalesce(p.moving_until > now(), false) as moving from projects p where p.id = ${id}`,
    )
    try {
      const repository = project === undefined || project.moving ? undefined : places.of({ id, ...project })
      if (repository !== undefined && (await repositoryExists(repository))) await optimise(repository)
    } finally {
      await sql`
        update repository_upkeep set asked_at = null, optimised_at = now() where project_id = ${id}`.execute(
        db.writer,
      )
    }
  }

  return {
    tasks: [
      { name: optimiseTask, run: optimiseRepositories },
      { name: optimiseOneTask, run: (payload) => optimiseOne((payload as { id: number }).id) },
      { name: recover, run: () => door.recover() },
      {
        name: sweep,
        async run() {
          await forgetOldUpdates()
          await sweepRepositories()
        },
      },
    ],
    schedules: [
      { task: recover, pattern: '*/5 * * * *' },
      { task: optimiseTask, pattern: '*/10 * * * *' },
      { task: sweep, pattern: '17 3 * * *' },
    ],
  }
}
