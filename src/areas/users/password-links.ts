import { createHash, timingSafeEqual } from 'node:crypto'
import { sql, type Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { letter, type Mailer } from '../../mail/index.ts'

const context = 'password link'
/** Hours that a link is good for. */
const life = 48

interface LinkServices {
  readonly cipher: Cipher
  readonly mail: Mailer
  readonly externalUrl: () => string
}

/** Somebody who may choose a password by a link. */
export interface PasswordOwner {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly email: string
  readonly password_digest: string | null
}

/** What a link holds, sealed. It opens until the password or the address changes, so it works once. */
interface Content {
  readonly id: number
  readonly standing: string
  readonly until: number
}

/** Mails a link by which the owner of the account chooses a password; at most one in a minute. */
export async function sendPasswordLink(
  tx: Tx,
  { cipher, mail, externalUrl }: LinkServices,
  user: PasswordOwner,
): Promise<void> {
  const now = Date.now()
  const content: Content = {
    id: user.id,
    standing: standingOf(user).toString('hex'),
    until: now + life * 3_600_000,
  }
  const token = Buffer.from(cipher.seal(JSON.stringify(content), context), 'base64').toString('base64url')
  await mail.queue(tx, {
    key: `password link:${user.id}:${Math.floor(now / 60_000)}`,
    to: { name: user.name, address: user.email, userId: user.id },
    subject: 'Choose your password',
    text: letter({
      paragraphs: [
        `Hello ${user.name},`,
        `Open this address to choose the password of your account ${user.username}. It is good for ${life} hours.`,
        'If you have not asked for it, and nobody has told you of an account, do nothing.',
      ],
      link: `${externalUrl()}/users/password/edit?reset_password_token=${token}`,
    }),
  })
}

/** Whose link it is, who stays as he is until the transaction ends; undefined of one that is no good, or no more. */
export async function openPasswordLink(
  tx: Tx,
  { cipher }: Pick<LinkServices, 'cipher'>,
  token: string,
): Promise<PasswordOwner | undefined> {
  const opened = cipher.tryOpen(token, context)
  if (opened === undefined) return undefined
  const { id, standing, until } = JSON.parse(opened) as Content
  if (until < Date.now()) return undefined
  const { rows } = await sql<PasswordOwner>`
    select u.id, u.name, u.username, u.email, u.password_digest from users u
    where u.id = ${id} and u.kind = 'human' for no key update`.execute(tx)
  const [user] = rows
  return user !== undefined && timingSafeEqual(standingOf(user), Buffer.from(standing, 'hex'))
    ? user
    : undefined
}

/** Who has this address and a password here; a directory keeps those of its people itself. */
export async function findPasswordOwner(tx: Tx, email: string): Promise<PasswordOwner | undefined> {
  const { rows } = await sql<PasswordOwner>`
    select u.id, u.name, u.username, u.email, u.password_digest from users u
    where lower(u.email) = lower(${email}) and u.kind = 'human' and u.state in ('active', 'deactivated')
      and not exists (
        select from user_identities i where i.user_id = u.id and i.provider like 'ldap%')`.execute(tx)
  return rows[0]
}

function standingOf({ email, password_digest: digest }: PasswordOwner): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([email, digest]))
    .digest()
}
