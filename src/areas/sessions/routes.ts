import { endpoint, instance, sessionOf, userOf, type Actor } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  Text,
  Timestamp,
  type Endpoint,
  type RequestFacts,
} from '../../kernel/endpoint/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { badRequest, forbidden, invalid, notFound } from '../../kernel/errors/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { digestPassword, matchesPassword, passwordFaults, passwordRules } from '../users/index.ts'
import { isRight } from './passwords.ts'
import { currentStep, takeSecondFactor } from './second-factor.ts'
import type { SignInServices } from './sign-in.ts'
import * as store from './store.ts'
import type { Account } from './store.ts'
import { addressOf, digestOfRecoveryCode, newRecoveryCodes, newSecret, secretContext } from './two-factor.ts'

const Session = Fields({
  id: Id(),
  ip: Nullable(Text()),
  user_agent: Nullable(Text()),
  created_at: Timestamp(),
  last_seen_at: Timestamp({ description: 'Written at most every minute' }),
  expires_at: Timestamp(),
  current: Flag({ description: 'The one of this call' }),
})

const RecoveryCodes = Fields({
  recovery_codes: ListOf(Text({ description: 'Each works once, in the place of a code; shown this once' })),
})

const about = { on: instance, may: 'read_instance' } as const
const password = Text({ description: 'The own password' })
const code = Text({ description: 'A code of the authenticator, or a recovery code' })

function digestOf({ headers }: RequestFacts): string | null {
  const session = sessionOf(headers)
  return session === undefined ? null : digestToken(session)
}

/** Sessions of browsers, the own password, and the second factor. */
export function sessionEndpoints(services: SignInServices): Endpoint[] {
  const { db, cipher, settings } = services

  /** The caller's account, held; refuses who does not show its password. */
  const proven = async (actor: Actor, shown: string): Promise<Account> => {
    const account = await db.transaction((tx) => store.lock(tx, userOf(actor).id))
    if (account?.password_digest == null || account.locked) throw wrongPassword()
    const { password_digest: digest } = account
    if (!(await isRight(services, account.id, account, () => matchesPassword(shown, digest)))) {
      throw wrongPassword()
    }
    return account
  }
  const withCodes = async (keep: (digests: string[]) => Promise<void>) => {
    const codes = newRecoveryCodes()
    await keep(codes.map(digestOfRecoveryCode))
    return { recovery_codes: codes }
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/user/sessions',
      summary: 'List the own sessions of browsers',
      paged: true,
      answers: ListOf(Session),
      read: ({ page }) => store.list(page, settings.values.remember_me_enabled),
      async handle({ actor, rows, request }) {
        const digest = digestOf(request)
        const current = digest === null ? undefined : await store.idOf(db.reader, userOf(actor).id, digest)
        return rows.map((row) => ({ ...row, current: row.id === current }))
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/user/sessions',
      summary: 'Sign out everywhere',
      answers: null,
      async handle({ actor }) {
        await db.transaction((tx) => store.end(tx, userOf(actor).id, { allBut: null }))
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/user/sessions/:session_id',
      summary: 'End an own session',
      params: Fields({ session_id: Id() }),
      answers: null,
      refuses: { 404: 'No such session' },
      async handle({ actor, params }) {
        const ended = await db.transaction((tx) => store.end(tx, userOf(actor).id, { id: params.session_id }))
        if (ended === 0) throw notFound('Session')
      },
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: '/user/password',
      summary: 'Choose another password for oneself',
      description: 'All sessions but that of the call end.',
      params: Fields({ current_password: password, password: Text({ description: 'The new one' }) }),
      status: 204,
      answers: null,
      refuses: { 400: 'No fit password', 403: 'The current password is wrong' },
      async handle({ actor, params, request }) {
        const account = await proven(actor, params.current_password)
        const faults = passwordFaults(params.password, account, passwordRules(settings.values))
        if (faults.length > 0) throw invalid({ password: faults })
        const digest = await digestPassword(params.password)
        await db.transaction(async (tx) => {
          await store.setPassword(tx, account.id, digest)
          await store.end(tx, account.id, { allBut: digestOf(request) })
        })
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/user/two_factor',
      summary: 'Tell whether the own account has a second factor',
      answers: Fields({ enabled: Flag(), recovery_codes_left: Int() }),
      async handle({ actor }) {
        const { id } = userOf(actor)
        const account = await db.transaction((tx) => store.lock(tx, id))
        return {
          enabled: account?.two_factor === true,
          recovery_codes_left: await store.countCodes(db.reader, id),
        }
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/user/two_factor',
      summary: 'Begin to use a second factor',
      description: 'It counts as soon as a first code is confirmed.',
      params: Fields({ password }),
      answers: Fields({
        secret: Text({ description: 'In base32, as authenticators take it' }),
        otpauth_url: Text({ description: 'The same as an address; authenticators read it as a picture' }),
      }),
      refuses: { 400: 'There is one', 403: 'The password is wrong' },
      async handle({ actor, params }) {
        const account = await proven(actor, params.password)
        if (account.two_factor) throw badRequest('Two-factor authentication is enabled already')
        const secret = newSecret()
        await db.transaction((tx) => store.offerSecret(tx, account.id, cipher.seal(secret, secretContext)))
        return { secret, otpauth_url: addressOf(secret, account.username) }
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/user/two_factor/confirm',
      summary: 'Confirm a second factor by its first code',
      params: Fields({ code: Text({ description: 'A code of the authenticator' }) }),
      status: 200,
      answers: RecoveryCodes,
      refuses: { 400: 'Nothing to confirm, or a wrong code' },
      async handle({ actor, params }) {
        return db.transaction(async (tx) => {
          const account = await store.lock(tx, userOf(actor).id)
          if (account === undefined || account.two_factor) throw badRequest('There is nothing to confirm')
          const step = currentStep(cipher, account, params.code)
          if (step === undefined) throw badRequest('Invalid two-factor code')
          return withCodes((digests) => store.confirmSecret(tx, account.id, step, digests))
        })
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/user/two_factor/recovery_codes',
      summary: 'Make new recovery codes; the old ones end',
      params: Fields({ password, code }),
      status: 200,
      answers: RecoveryCodes,
      refuses: { 400: 'No second factor, or a wrong code', 403: 'The password is wrong' },
      async handle({ actor, params }) {
        const { id } = await proven(actor, params.password)
        return db.transaction(async (tx) => {
          const account = await withSecondFactor(tx, id, params.code)
          return withCodes((digests) => store.replaceCodes(tx, account.id, digests))
        })
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/user/two_factor',
      summary: 'Give the second factor up',
      params: Fields({ password, code }),
      answers: null,
      refuses: { 400: 'No second factor, or a wrong code', 403: 'The password is wrong' },
      async handle({ actor, params }) {
        const { id } = await proven(actor, params.password)
        await db.transaction(async (tx) => {
          const account = await withSecondFactor(tx, id, params.code)
          await store.dropTwoFactor(tx, account.id)
        })
      },
    }),

    endpoint({
      on: instance,
      may: 'admin_users',
      method: 'PATCH',
      path: '/users/:id/disable_two_factor',
      summary: 'Take the second factor of a user away',
      params: Fields({ id: Id() }),
      status: 204,
      answers: null,
      refuses: { 400: 'There is none', 403: 'An administrator', 404: 'No such user' },
      async handle({ params }) {
        await db.transaction(async (tx) => {
          const account = await store.lock(tx, params.id)
          if (account === undefined) throw notFound('User')
          if (account.admin)
            throw forbidden('Two-factor authentication for admins cannot be disabled via the API')
          if (!account.two_factor) throw badRequest('Two-factor authentication is not enabled for this user')
          await store.dropTwoFactor(tx, account.id)
        })
      },
    }),
  ]

  async function withSecondFactor(tx: Tx, userId: number, shown: string): Promise<Account> {
    const account = await store.lock(tx, userId)
    if (account?.two_factor !== true) throw badRequest('Two-factor authentication is not enabled')
    if (!(await takeSecondFactor(tx, cipher, account, shown))) throw badRequest('Invalid two-factor code')
    return account
  }
}

const wrongPassword = () => forbidden('The password is wrong')
