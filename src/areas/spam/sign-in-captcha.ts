import type { SharedCounts } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Captcha } from './captcha.ts'

export interface SignInCaptchaServices {
  readonly settings: Pick<Settings, 'values'>
  readonly captcha: Captcha
  readonly counts: SharedCounts
}

const counted = 'failed sign-ins'
/** Failures of one address within the period that are still people's mistakes. */
const mistakes = 5
/** Seconds. */
const period = 3600

/** Asks those for a captcha from whose address many sign-ins have failed. */
export class SignInCaptcha {
  readonly #services: SignInCaptchaServices

  constructor(services: SignInCaptchaServices) {
    this.#services = services
  }

  /** What the page shows; undefined: nothing is asked. */
  shownTo(ip: string): { readonly siteKey: string; readonly script: Captcha['script'] } | undefined {
    const { settings, captcha, counts } = this.#services
    const { siteKey, script } = captcha
    if (!settings.values.login_recaptcha_protection_enabled || siteKey === undefined) return undefined
    return counts.peek(counted, ip, period) >= mistakes ? { siteKey, script } : undefined
  }

  /** Whether somebody may try; `answer` is that of his captcha. */
  async admits(ip: string, answer: string): Promise<boolean> {
    return this.shownTo(ip) === undefined || this.#services.captcha.isSolved(answer, ip)
  }

  noteFailure(ip: string): void {
    const { settings, counts } = this.#services
    if (settings.values.login_recaptcha_protection_enabled) counts.add(counted, ip, period)
  }
}
