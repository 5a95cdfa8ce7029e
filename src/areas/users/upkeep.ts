import { sql, type Reader } from '../../kernel/db/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { deactivated } from './deactivation-mail.ts'
import { removeUser } from './remove.ts'
import type { UserServices } from './services.ts'
import * as store from './store.ts'

const deactivate = 'users:deactivate-dormant'
const removeBots = 'users:remove-inactive-bots'
const batch = 500
/** Days that somebody has to come in for the first time. */
const firstDays = 7

/** What is done to accounts by the day, as the settings say. */
export function upkeep(services: UserServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, settings } = services
  /** Each by itself, so that nobody is kept waiting by the others, until none is found any more. */
  const each = async (find: () => Promise<number[]>, act: (id: number) => Promise<void>): Promise<void> => {
    for (;;) {
      const ids = await find()
      for (const id of ids) await act(id)
      if (ids.length < batch) return
    }
  }
  return {
    tasks: [
      {
        name: deactivate,
        async run() {
          const { deactivate_dormant_users: wanted, deactivate_dormant_users_period: days } = settings.values
          if (wanted)
            await each(
              () => dormant(db.reader, days),
              (id) => putToRest(services, id, days),
            )
        },
      },
      {
        name: removeBots,
        async run() {
          const days = settings.values.inactive_resource_access_tokens_delete_after_days
          if (days === null) return
          await each(
            () => idleBots(db.reader, days),
            (id) =>
              db.transaction(async (tx) => {
                const bot = await store.lock(tx, id)
                if (bot !== undefined) await removeUser(tx, bot, services)
              }),
          )
        },
      },
    ],
    schedules: [
      { task: deactivate, pattern: '15 1 * * *' },
      { task: removeBots, pattern: '45 1 * * *' },
    ],
  }
}

/** People without activity for so many days, and those who never came. */
const isDormant = (days: number) => sql`
  u.state = 'active' and u.kind = 'human' and (
    u.last_activity_on <= (now() at time zone 'utc')::date - ${days}::int
    or u.last_activity_on is null and u.created_at < now() - make_interval(days => ${firstDays}))`

async function dormant(db: Reader, days: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select u.id from users u where ${isDormant(days)} order by u.id limit ${batch}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Who has come back meanwhile stays. */
async function putToRest({ db, settings, mail }: UserServices, id: number, days: number): Promise<void> {
  await db.transaction(async (tx) => {
    const user = await store.lock(tx, id)
    const still = await sql`select from users u where u.id = ${id} and ${isDormant(days)}`.execute(tx)
    if (user === undefined || still.rows.length === 0) return
    await store.setState(tx, id, 'deactivated')
    if (settings.values.user_deactivation_emails_enabled) await mail.queue(tx, deactivated(user))
  })
}

/** Bots of projects and groups of whose tokens the last one ended so many days ago; with the place they may be gone too. */
async function idleBots(db: Reader, days: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select u.id from users u
    where u.kind = 'project_bot' and not exists (
      select from personal_access_tokens t
      where t.user_id = u.id
        and coalesce(least(t.revoked_at, t.expires_at), 'infinity') > now() - make_interval(days => ${days}))
      and u.created_at < now() - make_interval(days => ${days})
    order by u.id limit ${batch}`.execute(db)
  return rows.map(({ id }) => id)
}
