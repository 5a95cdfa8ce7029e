import { endpoint, instance, userOf } from '../../access/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { basicUser, BasicUser } from '../users/index.ts'
import type { AbuseReportServices } from './index.ts'
import { reportMail } from './mail.ts'
import * as store from './store.ts'

const categories = [
  'spam',
  'offensive',
  'phishing',
  'crypto',
  'credentials',
  'copyright',
  'malware',
  'other',
] as const

const AbuseReport = Fields({
  id: Id(),
  user: BasicUser,
  reporter: BasicUser,
  category: Text(),
  message: Text(),
  reported_from_url: Nullable(Text()),
  created_at: Timestamp(),
})

const longest = { message: 10_000, reported_from_url: 512 } as const
const path = '/abuse_reports'
const record = 'Abuse Report'

export function abuseReportEndpoints({ db, settings, mail, externalUrl }: AbuseReportServices): Endpoint[] {
  const administrators = { on: instance, may: 'admin_users' } as const
  const shown = (row: store.ReportRow) => ({
    ...row,
    user: basicUser(row.user, externalUrl()),
    reporter: basicUser(row.reporter, externalUrl()),
  })
  return [
    endpoint({
      on: instance,
      may: 'read_instance',
      method: 'POST',
      path,
      summary: 'Report a user for abuse',
      description:
        'It is mailed to `abuse_notification_email`, if there is one. Everybody reports a user once.',
      params: Fields({
        user_id: Id(),
        category: OneOf(categories, {}),
        message: Text({ blank: false, maxLength: longest.message }),
        reported_from_url: Optional(
          Text({ maxLength: longest.reported_from_url, description: 'Where it was seen' }),
        ),
      }),
      record: 'User',
      answers: AbuseReport,
      refuses: { 400: 'The caller has reported the user already, or means himself', 404: 'No such user' },
      read: ({ params }) => store.reported(params.user_id),
      async handle({ actor, params }) {
        for (const name of ['message', 'reported_from_url'] as const) {
          if ((params[name] ?? '').length > longest[name]) {
            throw invalid({ [name]: [`is too long (maximum is ${longest[name]} characters)`] })
          }
        }
        const { abuse_notification_email: address } = settings.values
        return db.transaction(async (tx) => {
          const report = await store.add(tx, userOf(actor).id, {
            ...params,
            reported_from_url: params.reported_from_url ?? null,
          })
          if (address !== null && address !== '')
            await mail.queue(tx, reportMail(report, address, externalUrl()))
          return shown(report)
        })
      },
    }),
    endpoint({
      ...administrators,
      method: 'GET',
      path,
      summary: 'List who was reported for abuse, the newest report first',
      paged: true,
      answers: ListOf(AbuseReport),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map(shown),
    }),
    endpoint({
      ...administrators,
      method: 'DELETE',
      path: `${path}/:id`,
      summary: 'Remove a report of abuse that has been looked after',
      params: Fields({ id: Id() }),
      answers: null,
      refuses: { 404: 'There is no such report' },
      async handle({ params }) {
        if (!(await db.transaction((tx) => store.remove(tx, params.id)))) throw notFound(record)
      },
    }),
  ]
}
