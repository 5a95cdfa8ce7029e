import { fieldsOf, jsonIn } from '../../kernel/lib/small-body.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'

export interface PlatformServices {
  readonly outbound: Outbound
  readonly log: Logger
}

/** What the platform says to a call: what was asked for, or why not, in its word or ours. */
export type Said =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string }

const usualUrl = 'https://slack.com/api'
/** Where people say that the app may come to their workspace. */
const usualConsent = 'https://slack.com/oauth/v2/authorize'
/** Milliseconds. */
const timeout = 10_000
const mostBytes = 100_000
const longestError = 200

/** The chat platform that the chat app lives on, by its web API. */
export class ChatPlatform {
  readonly #url: string
  readonly #consent: string
  readonly #services: PlatformServices

  /** `url`: of another platform that speaks the same. */
  constructor(url: URL | undefined, services: PlatformServices) {
    this.#url = url?.href.replace(/\/$/, '') ?? usualUrl
    this.#consent = url === undefined ? usualConsent : new URL('/oauth/v2/authorize', url).href
    this.#services = services
  }

  /** Where a browser is sent to install the app. */
  consentAddress(query: Readonly<Record<string, string>>): string {
    return `${this.#consent}?${new URLSearchParams(query).toString()}`
  }

  /** As the app in a workspace. */
  call(method: string, token: string, fields: object): Promise<Said> {
    const url = `${this.#url}/${method}`
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json; charset=utf-8',
    }
    return this.#said(method, this.#services.outbound.postJson(url, fields, { headers, ...limits }))
  }

  /** The call that changes the code of a consent for a token. */
  exchange(fields: Readonly<Record<string, string>>): Promise<Said> {
    const method = 'oauth.v2.access'
    const sent = this.#services.outbound.postForm(`${this.#url}/${method}`, fields, {
      headers: {},
      ...limits,
    })
    return this.#said(method, sent)
  }

  async #said(method: string, sent: ReturnType<Outbound['postText']>): Promise<Said> {
    const got = await sent
    const said = readAnswer(got)
    if (!said.ok) this.#services.log.warn({ method, error: said.error }, 'the chat platform refused a call')
    return said
  }
}

const limits = { maximumBytes: mostBytes, timeout, follows: false } as const

function readAnswer(got: Awaited<ReturnType<Outbound['postText']>>): Said {
  if ('blocked' in got) return { ok: false, error: `URL is blocked: ${got.blocked}` }
  if ('failed' in got) return { ok: false, error: 'The platform could not be reached' }
  if (got.status !== 200) return { ok: false, error: `The platform answered ${got.status}` }
  const value = fieldsOf(jsonIn(got.text))
  if (value['ok'] === true) return { ok: true, value }
  const error = value['error']
  return {
    ok: false,
    error:
      typeof error === 'string' ? error.slice(0, longestError) : 'The answer of the platform makes no sense',
  }
}
