import type { Actor } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { letter, type Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import * as store from './store.ts'

interface DownloadServices {
  readonly db: Database
  readonly plan: Plan
  readonly settings: Settings
  readonly mail: Mailer
  readonly externalUrl: () => string
}

/** Counts that somebody fetches the code of a project. True: that was too much, and the user is shut out now. */
export type NoteDownload = (actor: Actor, projectId: number) => Promise<boolean>

const forget = 'download-limits:forget'

/** Users who fetch the code of more projects than usual: administrators hear of them, and they may be shut out. */
export function downloadLimits(services: DownloadServices): {
  note: NoteDownload
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    note: (actor, projectId) => note(services, actor, projectId),
    tasks: [{ name: forget, run: () => store.forgetOld(services.db.writer) }],
    schedules: [{ task: forget, pattern: '27 2 * * *' }],
  }
}

async function note(services: DownloadServices, { user, job }: Actor, projectId: number): Promise<boolean> {
  const { db, plan, settings } = services
  const {
    max_number_of_repository_downloads: most,
    max_number_of_repository_downloads_within_time_period: seconds,
    git_rate_limit_users_allowlist: exempt,
    auto_ban_user_on_excessive_projects_download: bans,
  } = settings.values
  if (most === 0 || seconds === 0 || !offers(plan, 'download_limits')) return false
  // Jobs fetch by themselves, whoever pushed.
  if (user === null || job !== null || user.kind !== 'human' || exempt.includes(user.username)) return false
  const projects = await store.note(db.writer, user.id, projectId, seconds)
  if (projects <= most) return false
  const shutOut = bans && !user.admin
  await tell(services, user, { projects, seconds, shutOut })
  return shutOut
}

async function tell(
  { db, settings, mail, externalUrl }: DownloadServices,
  user: NonNullable<Actor['user']>,
  { projects, seconds, shutOut }: { projects: number; seconds: number; shutOut: boolean },
): Promise<void> {
  // Once in such a time.
  const period = Math.floor(Date.now() / 1000 / seconds)
  await db.transaction(async (tx) => {
    const readers = await store.alerted(tx, settings.values.git_rate_limit_users_alertlist)
    await mail.queue(
      tx,
      ...readers.map(({ id, name, email }) => ({
        key: `downloads:${user.id}:${seconds}:${period}:${id}`,
        to: { name, address: email, userId: id },
        subject: `@${user.username} has downloaded many projects`,
        text: letter({
          paragraphs: [
            `Hello ${name},`,
            `${user.name} (@${user.username}) has downloaded the code of ${projects} projects within ${seconds} seconds.`,
            ...(shutOut ? ['The account has been banned.'] : []),
          ],
          link: `${externalUrl()}/${user.username}`,
          why: 'You hear of downloads past the limit of this instance.',
        }),
      })),
    )
    if (shutOut) await store.ban(tx, user.id)
  })
}
