import { endpoint, instance, userOf } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  Optional,
  requireUnmodified,
  Text,
  Timestamp,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { sendEmailConfirmation } from '../email-confirmation.ts'
import * as emails from '../email-store.ts'
import { checkFurtherEmail } from '../rules.ts'
import type { UserServices } from '../services.ts'
import * as store from '../store.ts'

const Email = Fields({ id: Id(), email: Text(), confirmed_at: Nullable(Timestamp()) })
const record = 'Email'
const byId = { email_id: Id() }

/** Addresses that people have besides the first one. */
export function emailEndpoints(services: UserServices): Endpoint[] {
  return [...ownEmails(services), ...emailsOfUsers(services)]
}

function ownEmails(services: UserServices): Endpoint[] {
  const { db } = services
  const own = { on: instance, may: 'read_instance' } as const
  return [
    endpoint({
      ...own,
      method: 'GET',
      path: '/user/emails',
      summary: 'List your further e-mail addresses',
      scopes: ['read_user'],
      paged: true,
      answers: ListOf(Email),
      read: ({ page }) => emails.listEmails('caller', page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      ...own,
      method: 'GET',
      path: '/user/emails/:email_id',
      summary: 'Get one of your further e-mail addresses',
      scopes: ['read_user'],
      params: Fields(byId),
      record,
      answers: Email,
      read: ({ params }) => emails.oneEmail('caller', params.email_id),
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      ...own,
      method: 'POST',
      path: '/user/emails',
      summary: 'Add an e-mail address',
      description: 'It counts for nothing until it is confirmed, with what a mail says that is sent there.',
      params: Fields({ email: Text() }),
      answers: Email,
      refuses: { 400: 'It is no address, or somebody has it' },
      async handle({ actor, params }) {
        const email = checkFurtherEmail(params.email)
        const user = userOf(actor)
        return db.transaction(async (tx) => {
          const made = await emails.addEmail(tx, user.id, email, false)
          await sendEmailConfirmation(tx, services, made, user)
          return made
        })
      },
    }),

    endpoint({
      ...own,
      method: 'DELETE',
      path: '/user/emails/:email_id',
      summary: 'Delete one of your further e-mail addresses',
      params: Fields(byId),
      record,
      answers: null,
      refuses: whenChanged,
      read: ({ params }) => emails.oneEmail('caller', params.email_id),
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await db.transaction((tx) => emails.removeEmail(tx, rows[0]!.id))
      },
    }),
  ]
}

function emailsOfUsers(services: UserServices): Endpoint[] {
  const { db } = services
  const theirs = { on: instance, may: 'admin_users' } as const
  const refuses = { 404: 'No such user or address' }
  return [
    endpoint({
      ...theirs,
      method: 'GET',
      path: '/users/:id/emails',
      summary: 'List the further e-mail addresses of a user',
      paged: true,
      params: Fields({ id: Id() }),
      answers: ListOf(Email),
      refuses,
      read: ({ params, page }) => emails.listEmails(params.id, page),
      async handle({ params, rows }) {
        if (rows.length === 0 && !(await store.exists(db.reader, params.id))) throw notFound('User')
        return rows
      },
    }),

    endpoint({
      ...theirs,
      method: 'POST',
      path: '/users/:id/emails',
      summary: 'Add an e-mail address of a user',
      params: Fields({
        id: Id(),
        email: Text(),
        skip_confirmation: Optional(Flag({ description: 'It counts as confirmed' })),
      }),
      answers: Email,
      refuses: { ...refuses, 400: 'It is no address, or somebody has it' },
      async handle({ params }) {
        const user = await store.find(db.reader, params.id)
        if (user === undefined) throw notFound('User')
        const email = checkFurtherEmail(params.email)
        const confirmed = params.skip_confirmation === true
        return db.transaction(async (tx) => {
          const made = await emails.addEmail(tx, user.id, email, confirmed)
          if (!confirmed) await sendEmailConfirmation(tx, services, made, user)
          return made
        })
      },
    }),

    endpoint({
      ...theirs,
      method: 'DELETE',
      path: '/users/:id/emails/:email_id',
      summary: 'Delete a further e-mail address of a user',
      params: Fields({ id: Id(), ...byId }),
      record,
      answers: null,
      refuses: { ...refuses, ...whenChanged },
      read: ({ params }) => emails.oneEmail(params.id, params.email_id),
      async handle({ rows, request }) {
        requireUnmodified(request, rows[0]!.created_at)
        await db.transaction((tx) => emails.removeEmail(tx, rows[0]!.id))
      },
    }),
  ]
}
