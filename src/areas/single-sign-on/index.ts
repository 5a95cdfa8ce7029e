import type { FastifyInstance } from 'fastify'
import type { Settings } from '../../settings/index.ts'
import type { SignInServices } from '../sessions/index.ts'
import type { ProviderConfig } from './config.ts'
import { mountSingleSignOn } from './pages.ts'
import { Provider } from './provider.ts'

export { readSingleSignOn, type ProviderConfig } from './config.ts'

/** The providers of OpenID Connect that people sign in with. */
export class SingleSignOn {
  readonly #providers: readonly Provider[]
  readonly #settings: Pick<Settings, 'values'>

  constructor(configs: readonly ProviderConfig[], settings: Pick<Settings, 'values'>) {
    this.#providers = configs.map((config) => new Provider(config))
    this.#settings = settings
  }

  find(name: string): Provider | undefined {
    return this.#providers.find(({ config }) => config.name === name)
  }

  isDisabled(name: string): boolean {
    return this.#settings.values.disabled_oauth_sign_in_sources.includes(name)
  }

  /** What the sign-in page offers. */
  offered(): { readonly name: string; readonly label: string }[] {
    return this.#providers.map(({ config }) => config).filter(({ name }) => !this.isDisabled(name))
  }
}

/** Sign-in by providers of OpenID Connect. */
export function singleSignOn(services: SignInServices & { readonly singleSignOn: SingleSignOn }): {
  mount: (server: FastifyInstance) => void
} {
  return { mount: (server) => mountSingleSignOn(server, services) }
}
