import type { Settings } from '../settings/index.ts'
import type { PageOptions } from '../web/index.ts'

/** What the settings say of the pages. */
export function pageOptions(settings: Pick<Settings, 'values'>, externalUrl: () => string): PageOptions {
  return {
    home() {
      const { home_page_url: address, sign_in_restrictions } = settings.values
      // To itself it would lead round in a circle.
      if (address === null || isSame(address, externalUrl())) return undefined
      return { address, forGood: sign_in_restrictions.root_moved_permanently_redirection === true }
    },
    securityText: () => settings.values.security_txt_content,
    joinsCohorts: () => settings.values.floc_enabled,
  }
}

function isSame(address: string, own: string): boolean {
  return address.replace(/\/$/, '') === own
}
