import { digestToken } from '../../kernel/lib/secrets.ts'
import { acceptInvitations, confirmFurtherEmail, sendConfirmation } from '../users/index.ts'
import type { SignUpServices } from './services.ts'
import * as store from './store.ts'

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
