import type { Got } from '../../kernel/outbound/index.ts'
import { fieldsOf, jsonIn } from '../../kernel/lib/small-body.ts'
import type { Installation } from './store.ts'
import { signForTracker, type TokenServices } from './tokens.ts'

/** Milliseconds. */
const timeout = 10_000
const mostBytes = 200_000
const admins: ReadonlySet<unknown> = new Set(['site-admins', 'org-admins'])

/** A tracker that has the app, by its REST API. */
export class Tracker {
  readonly #services: TokenServices
  readonly #installation: Installation

  constructor(services: TokenServices, installation: Installation) {
    this.#services = services
    this.#installation = installation
  }

  /** Whether an account of the tracker administers it; undefined where the tracker does not say. */
  async isAdministrator(accountId: string): Promise<boolean | undefined> {
    const query = new URLSearchParams({ accountId, expand: 'groups' })
    const got = await this.#send('GET', '/rest/api/3/user', { query })
    if (!('status' in got) || got.status !== 200) return undefined
    const { items } = fieldsOf(fieldsOf(jsonIn(got.text))['groups'])
    return Array.isArray(items) && items.some((item) => admins.has(fieldsOf(item)['name']))
  }

  /** Answers why it did not go well. */
  async tell(path: string, body: object): Promise<string | undefined> {
    const got = await this.#send('POST', path, { body })
    if ('status' in got) return got.status < 300 ? undefined : `it answered ${got.status}`
    return 'blocked' in got ? `blocked: ${got.blocked}` : `no answer: ${got.failed}`
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    { query, body = {} }: { readonly query?: URLSearchParams; readonly body?: object },
  ): Promise<Got> {
    const { outbound } = this.#services
    const about = { method, path, ...(query !== undefined && { query }) }
    const authorization = `JWT ${await signForTracker(this.#services, this.#installation, about)}`
    const search = query === undefined ? '' : `?${query.toString()}`
    const url = `${this.#installation.base_url.replace(/\/+$/, '')}${path}${search}`
    const limits = { headers: { authorization }, maximumBytes: mostBytes, timeout }
    return method === 'GET'
      ? outbound.getText(url, limits)
      : outbound.postJson(url, body, { ...limits, follows: false })
  }
}
