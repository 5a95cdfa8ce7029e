import { owesTerms, type PageVisitors } from '../access/index.ts'
import { appearancePath } from '../areas/appearance/index.ts'
import { Texts } from '../areas/markdown/index.ts'
import type { PageOptions } from '../web/index.ts'
import type { Services } from './services.ts'

/** What the sign-in page tells people who were sent there. */
const notices: Readonly<Record<string, string>> = {
  sign_ups_disabled:
    'Sign-ups are currently disabled. Please contact a Guildhall administrator if you need an account.',
  waits_for_approval:
    'You have signed up. You cannot sign in before an administrator has approved your account.',
  waits_for_confirmation: 'You have signed up. Please open the address in the mail that was sent to you.',
  password_link_sent: 'If there is such an account, a mail with a link is on its way.',
  passwords_unavailable: 'Password authentication is unavailable.',
  password_chosen: 'Your password is set. Sign in with it.',
  confirmation_sent: 'If somebody waits for a confirmation at this address, a mail is on its way.',
  confirmed: 'Your e-mail address has been confirmed.',
  provider_disabled: 'Signing in with this provider is disabled.',
  provider_failed: 'The provider could not tell who you are. Please try again.',
  terms_declined: 'You have declined the Terms of Service, and were signed out.',
}

/** What the settings say of the pages. */
export function pageOptions(services: Services, visitors: PageVisitors): PageOptions {
  const { settings, externalUrl, singleSignOn } = services
  const texts = new Texts(services)
  return {
    home() {
      const { home_page_url: address, sign_in_restrictions } = settings.values
      // To itself it would lead round in a circle.
      if (address === null || isSame(address, externalUrl())) return undefined
      return { address, forGood: sign_in_restrictions.root_moved_permanently_redirection === true }
    },
    async detour(headers) {
      if (!settings.values.enforce_terms) return undefined
      const visitor = await visitors.of(headers)
      return visitor !== undefined && owesTerms(visitor, settings.values)
        ? `${externalUrl()}/-/users/terms`
        : undefined
    },
    notice: (name) => notices[name],
    async appearance() {
      const { title, description, logo } = settings.appearance
      if (title === '' && description === '' && logo === null) return undefined
      return {
        title,
        description: await texts.render({ text: description, language: 'markdown' }),
        logo: appearancePath('logo', logo),
      }
    },
    captcha: (ip) => services.signInCaptcha.shownTo(ip),
    providers: () => singleSignOn.offered(),
    securityText: () => settings.values.security_txt_content,
    joinsCohorts: () => settings.values.floc_enabled,
  }
}

function isSame(address: string, own: string): boolean {
  return address.replace(/\/$/, '') === own
}
