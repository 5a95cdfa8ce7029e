import { sql } from 'kysely'
import { recoverRepository, repositoryExists } from '../../git/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { RepositoryServices } from './services.ts'

const recover = 'repository:recover'
const sweep = 'repository:sweep'
const projectsAtOnce = 500
/** Days after which nobody asks any more how refs came to their values. */
const journalDays = 30

/** What keeps repositories and their journal in order. */
export function housekeeping({ db, door, places, log }: RepositoryServices): {
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

  return {
    tasks: [
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
      { task: sweep, pattern: '17 3 * * *' },
    ],
  }
}
