import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Content } from './guard.ts'

export interface FilterServices {
  readonly outbound: Outbound
  readonly settings: Pick<Settings, 'values'>
  readonly externalUrl: () => string
  readonly log: Logger
}

/** Milliseconds that a writer waits for the verdict at most. */
const timeout = 2000
const mostBytes = 1000
/** Characters of a text that are looked at. */
const longestText = 100_000

const usualUrl = 'https://rest.akismet.com/1.1'

/** Asks the hosted filter for comment spam; where it does not answer nothing is spam. */
export class SpamFilter {
  readonly #url: string
  readonly #services: FilterServices

  /** `url`: of another filter that speaks the same. */
  constructor(url: URL | undefined, services: FilterServices) {
    this.#url = url?.href.replace(/\/$/, '') ?? usualUrl
    this.#services = services
  }

  get isAsked(): boolean {
    const { values } = this.#services.settings
    // In silent mode nothing is posted to anybody.
    return values.spamfilter_enabled && Boolean(values.spamfilter_api_key) && !values.silent_mode_enabled
  }

  async isSpam({ title, text, author, request }: Content): Promise<boolean> {
    const { outbound, settings, externalUrl, log } = this.#services
    const header = (name: 'user-agent' | 'referer'): string => request.headers[name] ?? ''
    const got = await outbound.postForm(
      `${this.#url}/comment-check`,
      {
        api_key: settings.values.spamfilter_api_key ?? '',
        blog: externalUrl(),
        user_ip: request.ip,
        user_agent: header('user-agent'),
        referrer: header('referer'),
        comment_type: 'comment',
        comment_author: author.name,
        comment_author_email: author.email,
        comment_content: [title, text]
          .filter((part) => part)
          .join('\n\n')
          .slice(0, longestText),
      },
      { headers: {}, maximumBytes: mostBytes, timeout, follows: false },
    )
    if ('status' in got && got.status === 200) {
      const verdict = got.text.trim()
      if (verdict === 'true' || verdict === 'false') return verdict === 'true'
    }
    const said = 'status' in got ? { status: got.status } : got
    log.warn({ answer: said }, 'the spam filter did not say what is spam')
    return false
  }
}
