import type { FastifyInstance } from 'fastify'
import type { PolicyServer } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Events } from '../../tasks/index.ts'
import { followEvents } from './mails.ts'
import { settingEndpoints } from './routes.ts'
import { mountUnsubscribing } from './unsubscribing.ts'

export interface NotificationServices {
  readonly db: Database
  readonly events: Events
  readonly cipher: Cipher
  readonly mail: Mailer
  readonly policy: PolicyServer
  readonly externalUrl: () => string
}

/** Who wants to be told of what, and the mails that tell it. */
export function notifications(services: NotificationServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
} {
  if (services.mail.enabled) followEvents(services)
  return {
    endpoints: settingEndpoints(services),
    mount: (server) => mountUnsubscribing(server, services),
  }
}
