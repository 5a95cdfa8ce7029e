import { roleName } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { letter, type Letter, type Mailer } from '../../mail/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'
import { keepersOf, type Person } from './keepers.ts'
import type { MembershipEvent } from './news.ts'

interface MailServices {
  readonly db: Database
  readonly events: Events
  readonly mail: Mailer
  readonly externalUrl: () => string
}

interface Scene {
  readonly member: Person
  /** Who did it. */
  readonly by: string | null
  readonly place: string
  readonly path: string
}

/** Tells members what became of their membership, and those who look after members who asks to be let in. */
export function followMemberships(services: MailServices): void {
  services.events.subscribe<MembershipEvent>('membership', 'mails:membership', (event) =>
    services.db.transaction((tx) => tell(services, tx, event)),
  )
}

async function tell(services: MailServices, tx: Tx, event: DomainEvent<MembershipEvent>): Promise<void> {
  const { payload, userId: by } = event
  const scene = await find(tx, event)
  if (scene === undefined) return
  const send = (to: Person, subject: string, words: Letter): Promise<void> =>
    services.mail.queue(tx, {
      key: `event:${event.id}:${to.id}`,
      to: { name: to.name, address: to.email, userId: to.id },
      subject,
      text: letter(words),
    })
  const link = `${services.externalUrl()}/${scene.path}`
  const { member, place, path } = scene
  switch (payload.action) {
    case 'join':
      if (by !== member.id) {
        const who = scene.by === null ? 'You were' : `${scene.by} has`
        const given = `${who} given ${scene.by === null ? '' : 'you '}access to ${path} as ${roleName(payload.accessLevel ?? 0)}`
        await send(member, `Access to ${place}`, {
          paragraphs: [`${given}${until(payload.expiresAt)}.`],
          link,
        })
      }
      return
    case 'update': {
      const says = changes(payload)
      if (says.length > 0)
        await send(member, `Your access to ${place} has changed`, { paragraphs: says, link })
      return
    }
    case 'deny':
      await send(member, `Your request to join ${place} was refused`, {
        paragraphs: [`Your request for access to ${path} was refused.`],
      })
      return
    case 'request':
      for (const person of await keepersOf(tx, payload)) {
        await send(person, `${member.name} asks for access to ${place}`, {
          paragraphs: [`${member.name} (@${member.username}) asks for access to ${path}.`],
          link,
          why: 'You look after the members there.',
        })
      }
  }
}

const until = (day: string | null): string => (day === null ? '' : `, until ${day}`)

function changes({ accessLevel, expiresAt, before }: MembershipEvent): string[] {
  return [
    ...(before?.accessLevel === accessLevel ? [] : [`Your role is now ${roleName(accessLevel ?? 0)}.`]),
    ...(before?.expiresAt === expiresAt
      ? []
      : [
          expiresAt === null
            ? 'Your membership does not end any more.'
            : `Your membership ends on ${expiresAt}.`,
        ]),
  ]
}

/** Undefined where somebody of it is gone, or no person. */
async function find(tx: Tx, { payload, userId }: DomainEvent<MembershipEvent>): Promise<Scene | undefined> {
  const { rows } = await sql<Scene>`
    select json_build_object('id', u.id, 'name', u.name, 'username', u.username, 'email', u.email) as member,
      (select b.name from users b where b.id = ${userId}::bigint) as by,
      coalesce(p.name, n.name) as place, coalesce(p.full_path, n.full_path) as path
    from users u
    left join projects p on p.id = ${payload.projectId}::bigint
    left join namespaces n on n.id = ${payload.namespaceId}::bigint
    where u.id = ${payload.memberId} and u.kind = 'human' and coalesce(p.id, n.id) is not null`.execute(tx)
  return rows[0]
}
