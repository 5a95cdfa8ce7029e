import * as oidc from 'openid-client'
import type { ProviderConfig } from './config.ts'

/** Who somebody is, as a provider says. */
export interface Claims {
  readonly sub: string
  readonly name: string | undefined
  readonly username: string | undefined
  readonly email: string | undefined
  readonly emailVerified: boolean | undefined
}

/** What is remembered of a sign-in that has begun, until the browser comes back. */
export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Seconds that an answer of the provider is waited for. */
const patience = 10
/** Milliseconds that what the provider says of itself is believed. */
const memory = 3_600_000

/** A provider of OpenID Connect: the authorization code flow, with PKCE. */
export class Provider {
  readonly config: ProviderConfig
  #discovered: { readonly at: number; readonly configuration: oidc.Configuration } | undefined

  constructor(config: ProviderConfig) {
    this.config = config
  }

  /** Where the browser is sent, and what to compare when it comes back to `callback`. */
  async begin(callback: string): Promise<{ address: string; begun: Begun }> {
    const begun = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const address = oidc.buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: callback,
      scope: this.config.scopes.join(' '),
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    })
    return { address: address.href, begun }
  }

  /** Who came back to `returned`. Throws when the provider does not say so, or not to this browser. */
  async finish(returned: URL, { state, nonce, verifier }: Begun): Promise<Claims> {
    const configuration = await this.#configuration()
    const tokens = await oidc.authorizationCodeGrant(configuration, returned, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const { sub, ...told } = tokens.claims()!
    const more =
      configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await oidc.fetchUserInfo(configuration, tokens.access_token, sub)
    return claimsOf(sub, { ...told, ...more })
  }

  async #configuration(): Promise<oidc.Configuration> {
    if (this.#discovered !== undefined && Date.now() - this.#discovered.at < memory) {
      return this.#discovered.configuration
    }
    const { issuer, clientId, clientSecret } = this.config
    const configuration = await oidc.discovery(issuer, clientId, clientSecret, undefined, {
      timeout: patience,
      // Whoever configures an address without TLS wants it, as for a provider on the same machine.
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so that it stands out: there is no other way
      ...(issuer.protocol === 'http:' && { execute: [oidc.allowInsecureRequests] }),
    })
    this.#discovered = { at: Date.now(), configuration }
    return configuration
  }
}

function claimsOf(sub: string, told: Readonly<Record<string, unknown>>): Claims {
  const text = (name: string): string | undefined => {
    const value = told[name]
    // A database knows no NUL in a text.
    return typeof value === 'string' && value.trim() !== '' ? value.replaceAll('\0', '').trim() : undefined
  }
  const { email_verified: verified } = told
  return {
    sub,
    name: text('name'),
    username: text('preferred_username') ?? text('nickname'),
    email: text('email'),
    emailVerified: typeof verified === 'boolean' ? verified : undefined,
  }
}
