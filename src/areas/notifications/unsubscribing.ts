import type { FastifyInstance } from 'fastify'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { setSubscription } from '../noteables/index.ts'

const context = 'mails.unsubscribe'

interface Wish {
  readonly user: number
  readonly type: 'Issue' | 'MergeRequest' | 'Epic'
  readonly id: number
}

/** The address at which the reader of a mail says, without signing in, that he wants to hear no more of a thing. */
export function unsubscribePath(cipher: Cipher, wish: Wish): string {
  return `/-/unsubscribe/${Buffer.from(cipher.seal(JSON.stringify(wish), context), 'base64').toString('base64url')}`
}

/** Programs look at addresses in mails by themselves: only a click, or the mail program's own button, has an effect. */
export function mountUnsubscribing(
  server: FastifyInstance,
  { db, cipher }: { readonly db: Database; readonly cipher: Cipher },
): void {
  const wishOf = (token: string): Wish | undefined => {
    const opened = cipher.tryOpen(Buffer.from(token, 'base64url').toString('base64'), context)
    return opened === undefined ? undefined : (JSON.parse(opened) as Wish)
  }
  const page = (text: string): string =>
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Unsubscribe</title><body>${text}</body></html>`

  server.get<{ Params: { token: string } }>('/-/unsubscribe/:token', async (request, reply) => {
    const known = wishOf(request.params.token) !== undefined
    return reply
      .code(known ? 200 : 404)
      .header('content-type', 'text/html; charset=utf-8')
      .header('referrer-policy', 'no-referrer')
      .send(
        Buffer.from(
          page(
            known
              ? '<form method="post"><button>Send me no more of this</button></form>'
              : 'This address is not known.',
          ),
        ),
      )
  })
  server.post<{ Params: { token: string } }>('/-/unsubscribe/:token', async (request, reply) => {
    const wish = wishOf(request.params.token)
    if (wish !== undefined)
      await db.transaction((tx) => setSubscription(tx, { type: wish.type, id: wish.id }, wish.user, false))
    return reply
      .code(wish === undefined ? 404 : 200)
      .header('content-type', 'text/html; charset=utf-8')
      .send(
        Buffer.from(
          page(wish === undefined ? 'This address is not known.' : 'You will hear no more of this.'),
        ),
      )
  })
}
