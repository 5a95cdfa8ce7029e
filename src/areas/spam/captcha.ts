import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'

export interface CaptchaServices {
  readonly outbound: Outbound
  readonly settings: Pick<Settings, 'values'>
  readonly log: Logger
}

/** The field in which its script leaves the answer. */
export const captchaAnswer = 'g-recaptcha-response'

/** Milliseconds for the provider to say whether a captcha was solved. */
const timeout = 5000
const mostBytes = 10_000
/** Characters; those of the provider have some 2,000. */
const longestAnswer = 10_000

const usualUrl = 'https://www.google.com/recaptcha/api'
/** Where the provider keeps the larger part of its script, whichever address it is reached at. */
const usualSource = 'https://www.gstatic.com/recaptcha/'

/** The provider of captchas, whose script shows them in the browser and who tells us whether they were solved. */
export class Captcha {
  readonly #url: string
  readonly #services: CaptchaServices

  /** `url`: of another provider that speaks the same. */
  constructor(url: URL | undefined, services: CaptchaServices) {
    this.#url = url?.href.replace(/\/$/, '') ?? usualUrl
    this.#services = services
  }

  /** The key that pages and clients show the captcha with; undefined: none can be shown. */
  get siteKey(): string | undefined {
    const { recaptcha_site_key: site, recaptcha_private_key: secret } = this.#services.settings.values
    return site && secret ? site : undefined
  }

  /** The script that shows captchas, and where it loads more from. */
  get script(): { readonly address: string; readonly sources: readonly string[] } {
    return { address: `${this.#url}.js`, sources: [new URL(this.#url).origin, usualSource] }
  }

  /** Whether an answer solves a captcha of ours; where the provider cannot be asked nothing is solved. */
  async isSolved(answer: string, ip: string): Promise<boolean> {
    const { outbound, settings, log } = this.#services
    const secret = settings.values.recaptcha_private_key
    if (this.siteKey === undefined || secret === null) return false
    if (answer === '' || answer.length > longestAnswer) return false
    const got = await outbound.postForm(
      `${this.#url}/siteverify`,
      { secret, response: answer, remoteip: ip },
      { headers: {}, maximumBytes: mostBytes, timeout, follows: false },
    )
    if ('status' in got && got.status === 200) {
      try {
        return (JSON.parse(got.text) as { success?: unknown } | null)?.success === true
      } catch {
        // Told below.
      }
    }
    const said = 'status' in got ? { status: got.status } : got
    log.warn({ answer: said }, 'the provider of captchas did not say whether one was solved')
    return false
  }
}
