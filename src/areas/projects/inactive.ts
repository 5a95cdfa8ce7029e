import { storedSize } from '../../git/index.ts'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { letter, type Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { endProject } from './deletion.ts'
import { projectMark } from './deletion-mark.ts'

export interface InactiveServices {
  readonly db: Database
  readonly plan: Plan
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly mail: Mailer
  readonly externalUrl: () => string
}

const lookAfter = 'projects:end-inactive'
const batch = 200
const mebibyte = 1024 * 1024

interface Idle {
  readonly id: number
  readonly storage: string
  readonly name: string
  readonly full_path: string
  readonly namespace_kind: string
  readonly warned: boolean
  readonly over: boolean
}

/** With `delete_inactive_projects`: those who look after a project are warned before it goes for lack of activity. */
export function inactiveTasks(services: InactiveServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, settings, places } = services
  return {
    tasks: [
      {
        name: lookAfter,
        async run() {
          if (!settings.values.delete_inactive_projects) return
          const smallest = settings.values.inactive_projects_min_size_mb * mebibyte
          for (let last = 0; ;) {
            const found = await idle(db.reader, settings, last)
            for (const project of found) {
              if (smallest > 0 && (await storedSize(places.of(project))) <= smallest) continue
              if (!project.warned) await warn(services, project)
              else if (project.over) await finish(services, project)
            }
            if (found.length < batch) return
            last = found.at(-1)!.id
          }
        },
      },
    ],
    schedules: [{ task: lookAfter, pattern: '5 2 * * *' }],
  }
}

/** Long without activity and not marked yet, from an id on. A warning counts until something happens. */
async function idle(db: Reader, { values }: Settings, after: number): Promise<Idle[]> {
  const { rows } = await sql<Idle>`
    select p.id, p.storage, p.name, p.full_path, n.kind as namespace_kind,
      coalesce(p.inactivity_warned_at > p.last_activity_at, false) as warned,
      p.last_activity_at < now() - make_interval(months => ${values.inactive_projects_delete_after_months}) as over
    from projects p join namespaces n on n.id = p.namespace_id
    where p.id > ${after} and p.marked_for_deletion_at is null
      and p.last_activity_at < now() - make_interval(months => ${values.inactive_projects_send_warning_email_after_months})
    order by p.id limit ${batch}`.execute(db)
  return rows
}

async function warn({ db, settings, mail, externalUrl }: InactiveServices, project: Idle): Promise<void> {
  const months = settings.values.inactive_projects_delete_after_months
  await db.transaction(async (tx) => {
    await sql`update projects set inactivity_warned_at = now() where id = ${project.id}`.execute(tx)
    const { rows } = await sql<{ id: number; name: string; email: string }>`
      select u.id, u.name, u.email from projects p join namespaces n on n.id = p.namespace_id
      join lateral effective_memberships(n.traversal_ids, p.id) m on m.access_level >= 40
      join users u on u.id = m.user_id and u.state = 'active' and u.kind = 'human'
      where p.id = ${project.id} group by u.id`.execute(tx)
    await mail.queue(
      tx,
      ...rows.map(({ id, name, email }) => ({
        key: `inactive-project:${project.id}:${id}:${Date.now()}`,
        to: { name, address: email, userId: id },
        subject: `The project ${project.name} is inactive`,
        text: letter({
          paragraphs: [
            `Hello ${name},`,
            `Nothing has happened in the project ${project.full_path} for a long time. Without activity it is deleted ${months} months after the last one.`,
          ],
          link: `${externalUrl()}/${project.full_path}`,
          why: 'You are a maintainer or owner of this project.',
        }),
      })),
    )
  })
}

/** As its owner would delete it: marked first, where there is such a time. */
async function finish({ db, plan }: InactiveServices, project: Idle): Promise<void> {
  await db.transaction(async (tx) => {
    if (offers(plan, 'delayed_deletion') && project.namespace_kind === 'group')
      await projectMark.set(tx, project.id, null)
    else await endProject(tx, project.id)
  })
}
