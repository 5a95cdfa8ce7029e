import type { Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import * as store from './store.ts'
import type { Account } from './store.ts'
import { digestOfRecoveryCode, newRecoveryCodes, secretContext, stepOf } from './two-factor.ts'

/** Takes the code of an authenticator, or a recovery code; each works once. */
export async function takeSecondFactor(
  tx: Tx,
  cipher: Cipher,
  account: Account,
  code: string,
): Promise<boolean> {
  const step = currentStep(cipher, account, code)
  if (step !== undefined) {
    await store.noteStep(tx, account.id, step)
    return true
  }
  return store.takeCode(tx, account.id, digestOfRecoveryCode(code))
}

/** The step of time that a code of the account's authenticator is right for; undefined for a wrong one. */
export function currentStep(cipher: Cipher, account: Account, code: string): number | undefined {
  if (account.otp_secret === null) return undefined
  return stepOf(code.trim(), {
    secret: cipher.open(account.otp_secret, secretContext),
    lastStep: account.otp_step,
    now: new Date(),
  })
}

/** The same for an account that is named by its id: false also for one that has no second factor. */
export async function provesSecondFactor(
  tx: Tx,
  cipher: Cipher,
  userId: number,
  code: string,
): Promise<boolean> {
  const account = await store.lock(tx, userId)
  return account?.two_factor === true && takeSecondFactor(tx, cipher, account, code)
}

/** New codes in the place of those that the user has, shown this once; undefined for who has no second factor. */
export async function renewRecoveryCodes(tx: Tx, userId: number): Promise<string[] | undefined> {
  const account = await store.lock(tx, userId)
  if (account?.two_factor !== true) return undefined
  const codes = newRecoveryCodes()
  await store.replaceCodes(tx, userId, codes.map(digestOfRecoveryCode))
  return codes
}
