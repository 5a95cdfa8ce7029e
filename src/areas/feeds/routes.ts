import { endpoint, instance, userOf } from '../../access/index.ts'
import { Fields, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { FeedServices } from './index.ts'
import { areOff, feedTokenOf, renewFeedToken } from './token.ts'

const FeedToken = Fields({ feed_token: Text({ description: 'Goes into the addresses of feeds' }) })
const own = {
  on: instance,
  may: 'read_instance',
  answers: FeedToken,
  refuses: { 404: 'The instance has no feed tokens' },
} as const

export function tokenEndpoints({ db, cipher, settings }: FeedServices): Endpoint[] {
  const needsTokens = (): void => {
    if (areOff(settings.values)) throw notFound('Feed Token')
  }
  return [
    endpoint({
      ...own,
      method: 'GET',
      path: '/user/feed_token',
      summary: 'Get the own feed token',
      description: 'It opens feeds of issues, `/group/project/-/issues.atom` and `.ics`, and nothing else.',
      async handle({ actor }) {
        needsTokens()
        return { feed_token: await feedTokenOf(db.reader, cipher, userOf(actor).id) }
      },
    }),

    endpoint({
      ...own,
      method: 'POST',
      path: '/user/feed_token/rotate',
      summary: 'Get another feed token; the one before opens nothing any more',
      async handle({ actor }) {
        needsTokens()
        return { feed_token: await renewFeedToken(db, cipher, userOf(actor).id) }
      },
    }),
  ]
}
