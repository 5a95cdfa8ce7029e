import { isMember } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Content } from './guard.ts'
import * as store from './store.ts'
import type { Answer, Question } from './spamcheck.ts'
import type { Verdict } from './verdict.ts'

export interface ServerServices {
  readonly db: Database
  readonly outbound: Outbound
  readonly settings: Pick<Settings, 'values'>
  readonly log: Logger
}

/** Characters of a text that are looked at. */
const longestText = 100_000
/** The port of the protocol, encrypted or not. */
const usualPort = 443

const verdictOf: Readonly<Record<string, Verdict>> = {
  CONDITIONAL_ALLOW: 'captcha',
  DISALLOW: 'refuse',
  BLOCK: 'refuse',
}

/** Asks the spam-check server that the administrator named; where it does not answer everything is allowed. */
export class SpamServer {
  readonly #services: ServerServices

  constructor(services: ServerServices) {
    this.#services = services
  }

  get isAsked(): boolean {
    const { values } = this.#services.settings
    // In silent mode nothing is posted to anybody.
    return (
      values.spam_check_endpoint_enabled &&
      Boolean(values.spam_check_endpoint_url) &&
      !values.silent_mode_enabled
    )
  }

  async verdict(content: Content): Promise<Verdict> {
    const { settings, outbound, log } = this.#services
    const url = new URL(settings.values.spam_check_endpoint_url!)
    const [host, port] = [url.hostname, Number(url.port) || usualPort]
    const found = await outbound.addressesFor({ host, port })
    if ('blocked' in found) {
      log.warn(found, 'the spam-check server may not be asked')
      return 'allow'
    }
    // Few have such a server, and the library is large.
    const { ask } = await import('./spamcheck.ts')
    const got = await ask(
      {
        host,
        port,
        addresses: found.addresses,
        encrypted: url.protocol === 'tls:',
        key: settings.values.spam_check_api_key,
      },
      await this.#question(content),
    )
    if ('failed' in got) {
      log.warn(got, 'the spam-check server did not say what is spam')
      return 'allow'
    }
    return this.#judge(got, content)
  }

  #judge({ verdict, error, reason, extraAttributes }: Answer, { author, kind }: Content): Verdict {
    const { log } = this.#services
    const about = { verdict, error, reason, userId: author.id, kind }
    if (error !== '') log.warn(about, 'the spam-check server has trouble of its own')
    // It is only being watched how it would decide.
    if (extraAttributes['monitorMode'] === 'true') return 'allow'
    if (verdict === 'BLOCK') log.warn(about, 'the spam-check server would block a user')
    return verdictOf[verdict] ?? 'allow'
  }

  async #question(content: Content): Promise<Question> {
    const { kind, author, place, before, files } = content
    const title = content.title ?? ''
    const text = content.text.slice(0, longestText)
    const person = await store.person(this.#services.db.reader, author.id)
    const asked = {
      user: {
        id: author.id,
        username: author.username,
        org: person.organization ?? '',
        createdAt: timestamp(person.created_at),
        emails: person.emails,
      },
      action: before === undefined ? 'CREATE' : 'UPDATE',
      ...(before !== undefined && {
        createdAt: timestamp(before.created_at),
        updatedAt: timestamp(before.updated_at),
      }),
      ...(place !== undefined && {
        userInProject: isMember(place),
        ...(place.kind === 'project' && { project: { projectId: place.id, projectPath: place.fullPath } }),
      }),
    } as const
    switch (kind) {
      case 'issue':
        return { method: 'CheckForSpamIssue', message: { ...asked, title, description: text } }
      case 'snippet': {
        const named = (files ?? []).map((path) => ({ path }))
        const message = { ...asked, title, description: text, visibility: 'public', files: named }
        return { method: 'CheckForSpamSnippet', message }
      }
      case 'comment':
        return { method: 'CheckForSpamGeneric', message: { ...asked, text, type: 'Note' } }
    }
  }
}

function timestamp(time: Date | string): { readonly seconds: number; readonly nanos: number } {
  const milliseconds = new Date(time).getTime()
  const seconds = Math.floor(milliseconds / 1000)
  return { seconds, nanos: (milliseconds - seconds * 1000) * 1e6 }
}
