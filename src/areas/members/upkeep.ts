import { roleName } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { letter, type Mailer } from '../../mail/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import { announceMemberships } from './news.ts'
import { removeExpired } from './store.ts'

export interface UpkeepServices {
  readonly db: Database
  readonly events: Events
  readonly mail: Mailer
  readonly externalUrl: () => string
}

const expiry = 'remove-expired-members'
const warning = 'members:warn-of-end'
const batch = 500
/** Days before the end of a membership on which its member is told. */
const daysBefore = 7

/** What is done about memberships by the day. Access ends with the day itself: removal only tidies up. */
export function upkeep(services: UpkeepServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, mail } = services
  /** Each batch in a transaction of its own, until there is nothing left. */
  const inBatches = async (act: (tx: Tx) => Promise<number>): Promise<void> => {
    while ((await db.transaction(act)) === batch);
  }
  return {
    tasks: [
      {
        name: expiry,
        run: () =>
          inBatches(async (tx) => {
            const gone = await removeExpired(tx, batch)
            await announceMemberships(
              services,
              tx,
              null,
              gone.map((one) => ({ action: 'expire', ...one })),
            )
            return gone.length
          }),
      },
      {
        name: warning,
        async run() {
          if (mail.enabled) await inBatches((tx) => warn(services, tx))
        },
      },
    ],
    schedules: [
      { task: expiry, pattern: '10 0 * * *' },
      { task: warning, pattern: '0 1 * * *' },
    ],
  }
}

interface Ending {
  readonly id: number
  readonly user_id: number
  readonly user_name: string
  readonly email: string
  readonly access_level: number
  readonly expires_at: string
  readonly place: string
  readonly path: string
}

/** Tells members that their membership ends soon, each once for the day it ends on. */
async function warn({ mail, externalUrl }: UpkeepServices, tx: Tx): Promise<number> {
  const today = sql`(now() at time zone 'utc')::date`
  const { rows } = await sql<Ending>`
    with ending as (
      update members m set expiry_notified_at = now() where m.id in (
        select e.id from members e join users u on u.id = e.user_id
        where e.expires_at > ${today} and e.expires_at <= ${today} + ${daysBefore}::int
          and e.expiry_notified_at is null and u.kind = 'human' and u.state = 'active'
        limit ${batch} for update of e skip locked)
      returning m.*)
    select e.id, u.id as user_id, u.name as user_name, u.email, e.access_level, e.expires_at,
      coalesce(p.name, n.name) as place, coalesce(p.full_path, n.full_path) as path
    from ending e join users u on u.id = e.user_id
    left join projects p on p.id = e.project_id left join namespaces n on n.id = e.namespace_id`.execute(tx)
  await mail.queue(
    tx,
    ...rows.map((row) => ({
      key: `membership ends:${row.id}:${row.expires_at}`,
      to: { name: row.user_name, address: row.email, userId: row.user_id },
      subject: `Your membership in ${row.place} ends on ${row.expires_at}`,
      text: letter({
        paragraphs: [
          `Your access to ${row.path} as ${roleName(row.access_level)} ends on ${row.expires_at}.`,
          'If you need it longer, ask somebody who looks after the members there.',
        ],
        link: `${externalUrl()}/${row.path}`,
      }),
    })),
  )
  return rows.length
}
