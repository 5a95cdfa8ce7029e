import type { IncomingHttpHeaders } from 'node:http'
import { sql, type Reader } from '../kernel/db/index.ts'
import { digestToken } from '../kernel/lib/secrets.ts'
import type { Settings } from '../settings/index.ts'
import { sessionOf } from './credentials.ts'
import { sessionLives } from './caller.ts'

/** Who looks at a page. */
export interface Visitor {
  readonly id: number
  readonly username: string
  readonly kind: string
  readonly acceptedTerms: string | null
  /** The session, as its cookie carries it. */
  readonly session: string
}

/** Finds out who looks at pages, by the cookie. */
export class PageVisitors {
  readonly #db: { readonly reader: Reader }
  readonly #settings: Pick<Settings, 'values'>

  constructor(db: { readonly reader: Reader }, settings: Pick<Settings, 'values'>) {
    this.#db = db
    this.#settings = settings
  }

  /** Undefined for somebody who is not signed in; costs nothing without the cookie. */
  async of(headers: IncomingHttpHeaders): Promise<Visitor | undefined> {
    const session = sessionOf(headers)
    if (session === undefined) return undefined
    const { rows } = await sql<Omit<Visitor, 'session'>>`
      select u.id, u.username, u.kind, u.accepted_terms as "acceptedTerms"
      from user_sessions s join users u on u.id = s.user_id
      where s.digest = ${digestToken(session)} and u.state = 'active'
        and ${sessionLives(this.#settings.values.remember_me_enabled)}`.execute(this.#db.reader)
    return rows[0] && { ...rows[0], session }
  }
}
