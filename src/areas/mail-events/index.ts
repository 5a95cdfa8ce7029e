import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { fieldsOf, jsonIn, readSmallBody } from '../../kernel/lib/small-body.ts'
import { nameRequest, type Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { invitationOfMail, markUndeliverable } from '../invitations/index.ts'
import { isGenuine, isOfNow, signatureIn, window } from './signatures.ts'

export interface MailEventServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly log: Logger
}

/** The second is where it was first, and providers may still be told so. */
const paths = ['/-/mailgun/webhooks', '/-/members/mailgun/permanent_failures']
/** Bytes; events have some thousand. */
const largest = 1_000_000
const forgetting = 'mail-events:forget'

/** Takes what the provider of mail tells of mails that did not arrive. */
export function mailEvents(services: MailEventServices): {
  mount: (server: FastifyInstance) => void
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    mount(server) {
      for (const path of paths) {
        server.post(path, async (request, reply) => {
          nameRequest('event of a mail')
          const status = await take(services, request.raw)
          // What is too large is not read.
          if (!request.raw.complete) void reply.header('connection', 'close')
          return reply.code(status).send()
        })
      }
    },
    tasks: [
      {
        name: forgetting,
        run: async () => {
          await sql`
            delete from mail_events e where e.received_at < now() - make_interval(secs => ${2 * window})`.execute(
            services.db.writer,
          )
        },
      },
    ],
    schedules: [{ task: forgetting, pattern: '25 0 * * *' }],
  }
}

/** The status of the answer. 406 tells the provider that there is no use in trying again. */
async function take(services: MailEventServices, body: IncomingMessage): Promise<number> {
  const { db, cipher, settings, log } = services
  if (!settings.values.mailgun_events_enabled) return 406
  const text = (await readSmallBody(body, largest))?.toString('utf8') ?? ''
  const sent = jsonIn(text)
  const signature = signatureIn(sent)
  if (signature === undefined || !isGenuine(signature, settings.values.mailgun_signing_key)) return 404
  if (!isOfNow(signature)) return 406
  const event = fieldsOf(fieldsOf(sent)['event-data'])
  const lasting = event['event'] === 'failed' && event['severity'] === 'permanent'
  const { invite_token: token } = fieldsOf(event['user-variables'])
  const invitationId = lasting ? invitationOfMail(cipher, token) : undefined
  const fresh = await db.transaction(async (tx) => {
    const { rows } = await sql`
      insert into mail_events (token) values (${signature.token}) on conflict do nothing returning token`.execute(
      tx,
    )
    if (rows.length > 0 && invitationId !== undefined) await markUndeliverable(tx, invitationId)
    return rows.length > 0
  })
  if (fresh)
    log.info(
      { event: event['event'], severity: event['severity'], invitation: invitationId },
      'a mail failed',
    )
  return fresh ? 200 : 406
}
