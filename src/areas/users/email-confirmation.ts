import { sql, type Tx } from '../../kernel/db/index.ts'
import { digestToken, newToken } from '../../kernel/lib/secrets.ts'
import { letter } from '../../mail/index.ts'
import { expectConfirmation, type EmailRow } from './email-store.ts'
import type { UserServices } from './services.ts'

/** Sends what the owner of a further address confirms it with; the page for it is that of the sign-up. */
export async function sendEmailConfirmation(
  tx: Tx,
  { mail, externalUrl }: Pick<UserServices, 'mail' | 'externalUrl'>,
  { id, email }: EmailRow,
  user: { readonly id: number; readonly name: string },
): Promise<void> {
  const token = newToken('')
  const digest = digestToken(token)
  await expectConfirmation(tx, id, digest)
  await mail.queue(tx, {
    key: `confirmation ${digest}`,
    to: { name: user.name, address: email, userId: user.id },
    subject: 'Confirm your e-mail address',
    text: letter({
      paragraphs: [
        `Hello ${user.name},`,
        'Open this address to confirm that this mail reached you. If you did not add the address, do nothing.',
      ],
      link: `${externalUrl()}/users/confirmation?confirmation_token=${token}`,
    }),
  })
}

export interface Addressee {
  readonly id: number
  readonly name: string
  readonly email: string
}

/** Sends what the owner of the address confirms it with. What was sent before no longer does. */
export async function sendConfirmation(
  tx: Tx,
  { mail, externalUrl }: Pick<UserServices, 'mail' | 'externalUrl'>,
  { id, name, email }: Addressee,
): Promise<void> {
  const token = newToken('')
  const digest = digestToken(token)
  await sql`
    update users set confirmation_digest = ${digest}, confirmation_sent_at = now() where id = ${id}`.execute(
    tx,
  )
  await mail.queue(tx, {
    key: `confirmation ${digest}`,
    to: { name, address: email, userId: id },
    subject: 'Confirm your e-mail address',
    text: letter({
      paragraphs: [
        `Welcome, ${name}!`,
        'Open this address to confirm that this mail reached you. If it was not you who signed up, do nothing.',
      ],
      link: `${externalUrl()}/users/confirmation?confirmation_token=${token}`,
    }),
  })
}
