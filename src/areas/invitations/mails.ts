import { roleName } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { letter, type Mail, type Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'

export interface MailServices {
  readonly db: Database
  readonly mail: Mailer
  readonly cipher: Cipher
  readonly settings: Pick<Settings, 'values'>
  readonly externalUrl: () => string
}

const remindTask = 'invitations:remind'
const batch = 500
/** Days after which somebody is reminded of an invitation. */
const reminderDays = [2, 5, 10]

interface Invited {
  readonly id: number
  readonly email: string
  readonly access_level: number
  readonly reminders: number
  readonly place: string
  readonly by: string | null
}

const tokenContext = 'invitations.mail'

/** What a provider of mail keeps of a mail, and says again when it tells what became of it. */
function trackingOf({ cipher, settings }: MailServices, id: number): Pick<Mail, 'headers'> {
  if (!settings.values.mailgun_events_enabled) return {}
  const invite_token = cipher.seal(String(id), tokenContext)
  return {
    headers: { 'X-Mailgun-Tag': 'invite_email', 'X-Mailgun-Variables': JSON.stringify({ invite_token }) },
  }
}

/** The id of the invitation that a provider tells of; undefined where it is none of ours. */
export function invitationOfMail(cipher: Cipher, token: unknown): number | undefined {
  if (typeof token !== 'string' || token.length > 500) return undefined
  const id = cipher.tryOpen(token, tokenContext)
  return id === undefined ? undefined : Number(id)
}

function mailTo(services: MailServices, invited: Invited): Mail {
  const { id, email, place, by, access_level: level, reminders } = invited
  const who = by === null ? 'You are invited' : `${by} invites you`
  return {
    ...trackingOf(services, id),
    key: `invitation:${id}:${reminders}`,
    to: { address: email },
    subject: `${reminders === 0 ? '' : 'Reminder: '}${who} to join ${place}`,
    text: letter({
      paragraphs: [
        `${who} to join ${place} as ${roleName(level)}.`,
        `To accept, sign up with the address ${email}, or add it to the account that you have. If you do not want to, do nothing.`,
      ],
      link: `${services.externalUrl()}/users/sign_up`,
    }),
  }
}

const columns = sql`
  i.id, i.email, i.access_level, i.reminders, coalesce(p.name, n.name) as place,
  (select u.name from users u where u.id = i.created_by_id) as by`
const places = sql`left join projects p on p.id = i.project_id left join namespaces n on n.id = i.namespace_id`

/** Sends a new invitation to its address. */
export async function sendInvitation(services: MailServices, tx: Tx, invitationId: number): Promise<void> {
  const { mail } = services
  if (!mail.enabled) return
  const { rows } = await sql<Invited>`
    select ${columns} from invitations i ${places} where i.id = ${invitationId}`.execute(tx)
  await mail.queue(tx, ...rows.map((row) => mailTo(services, row)))
}

/** Reminds of invitations that wait for an answer. */
export function reminders(services: MailServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, mail } = services
  return {
    tasks: [
      {
        name: remindTask,
        async run() {
          if (!mail.enabled) return
          while ((await db.transaction((tx) => remind(services, tx))) === batch);
        },
      },
    ],
    schedules: [{ task: remindTask, pattern: '30 8 * * *' }],
  }
}

/** Who was not reminded in time, for the service was down, is reminded once of it all. */
async function remind(services: MailServices, tx: Tx): Promise<number> {
  const due = sql`(
    select count(*) from unnest(${reminderDays}::int[]) day where i.created_at <= now() - make_interval(days => day))`
  const { rows } = await sql<Invited>`
    with i as (
      update invitations i set reminders = ${due} where i.id in (
        select i.id from invitations i where i.reminders < ${due} and not i.undeliverable limit ${batch} for update skip locked)
      returning i.*)
    select ${columns} from i ${places}`.execute(tx)
  await services.mail.queue(tx, ...rows.map((row) => mailTo(services, row)))
  return rows.length
}
