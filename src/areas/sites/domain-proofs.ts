import { Resolver } from 'node:dns/promises'
import type { SiteServices } from './index.ts'
import * as store from './domains-store.ts'

/** The task that looks for the proof of one domain. */
export const verifyDomain = 'sites:verify-domain'

/** As it stands in the records of domains. */
const key = 'gitlab-pages-verification-code'

/** Finds out whether a domain is of those who have named it: its records, which only they write, have the code. */
export class DomainProofs {
  readonly #services: SiteServices
  readonly #resolver = new Resolver({ timeout: 3000, tries: 2 })

  constructor(services: SiteServices) {
    this.#services = services
    if (services.siteResolvers !== undefined) this.#resolver.setServers(services.siteResolvers)
  }

  /** Undefined: there is no such domain any more. */
  async verify(id: number): Promise<store.DomainRow | undefined> {
    const { db, settings } = this.#services
    const row = await store.find(db.reader, id)
    if (row === undefined) return undefined
    const proven = !settings.values.pages_domain_verification_enabled || (await this.#isProven(row))
    return store.noteCheck(db, id, proven)
  }

  async verifyDue(): Promise<void> {
    const { db, settings } = this.#services
    if (!settings.values.pages_domain_verification_enabled) return
    for (const id of await store.due(db.reader)) await this.verify(id)
  }

  /** At the domain itself, or, where that is another name of something, at one below it. */
  async #isProven({ domain, verification_code: code }: store.DomainRow): Promise<boolean> {
    for (const name of [domain, `_${key}.${domain}`]) {
      const words = (await this.#texts(name)).flatMap((text) => text.split(/\s+/))
      if (words.includes(code) || words.includes(`${key}=${code}`)) return true
    }
    return false
  }

  /** Whatever goes wrong with an answer, it proves nothing. */
  async #texts(name: string): Promise<string[]> {
    const records = await this.#resolver.resolveTxt(name).catch(() => [])
    return records.map((pieces) => pieces.join(''))
  }
}
