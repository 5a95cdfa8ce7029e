import { digestToken, newToken } from '../../kernel/lib/secrets.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { letter } from '../../mail/index.ts'
import { acceptInvitations, confirmFurtherEmail } from '../users/index.ts'
import type { SignUpServices } from './services.ts'
import * as store from './store.ts'

export interface Addressee {
  readonly id: number
  readonly name: string
  readonly email: string
}

/** Sends what the owner of the address confirms it with. What was sent before no longer does. */
export async function sendConfirmation(
  tx: Tx,
  { mail, externalUrl }: Pick<SignUpServices, 'mail' | 'externalUrl'>,
  { id, name, email }: Addressee,
): Promise<void> {
  const token = newToken('')
  const digest = digestToken(token)
  await store.expectConfirmation(tx, id, digest)
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

/** Whether the token was one that was sent, and not too long ago. What the address was invited to is taken up. */
export async function confirm({ db }: Pick<SignUpServices, 'db'>, token: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const digest = digestToken(token)
    const confirmed = (await store.confirm(tx, digest)) ?? (await confirmFurtherEmail(tx, digest))
    if (confirmed !== undefined) await acceptInvitations(tx, confirmed.id, confirmed.email)
    return confirmed !== undefined
  })
}

/** Sends it again where it is waited for. Nobody is told whether it is. */
export async function sendAgain(services: SignUpServices, email: string): Promise<void> {
  await services.db.transaction(async (tx) => {
    const user = await store.findUnconfirmed(tx, email)
    if (user !== undefined) await sendConfirmation(tx, services, user)
  })
}
