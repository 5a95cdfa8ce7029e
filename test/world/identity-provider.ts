import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export interface Identity {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
  readonly preferred_username?: string
}

export const client = { id: 'guildhall', secret: 'a secret of the client' }

/** A small provider of OpenID Connect that lets in whoever it is told to, without asking. */
export class IdentityProvider implements AsyncDisposable {
  readonly url: string
  /** Who comes to it next. */
  identity: Identity = { sub: 'nobody' }
  /** Overrides a claim of the next tokens. */
  forged: Readonly<Record<string, unknown>> = {}
  readonly #stop: () => Promise<void>

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url
    this.#stop = stop
  }

  static async start(): Promise<IdentityProvider> {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
    const asked = new Map<string, { query: URLSearchParams; identity: Identity }>()
    const server = createServer((request, response) => {
      const address = new URL(request.url!, provider.url)
      const answer = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      void (async () => {
        switch (address.pathname) {
          case '/.well-known/openid-configuration': {
            answer(200, {
              issuer: provider.url,
              authorization_endpoint: `${provider.url}/authorize`,
              token_endpoint: `${provider.url}/token`,
              jwks_uri: `${provider.url}/keys`,
              response_types_supported: ['code'],
              subject_types_supported: ['public'],
              id_token_signing_alg_values_supported: ['RS256'],
            })
            return
          }
          case '/keys': {
            answer(200, { keys: [jwk] })
            return
          }
          case '/authorize': {
            const code = randomUUID()
            asked.set(code, { query: address.searchParams, identity: provider.identity })
            const back = new URL(address.searchParams.get('redirect_uri')!)
            back.searchParams.set('code', code)
            back.searchParams.set('state', address.searchParams.get('state')!)
            response.writeHead(302, { location: back.href }).end()
            return
          }
          case '/token': {
            const form = new URLSearchParams(await text(request))
            const known = asked.get(form.get('code') ?? '')
            asked.delete(form.get('code') ?? '')
            const challenge = createHash('sha256')
              .update(form.get('code_verifier') ?? '')
              .digest('base64url')
            if (
              form.get('client_secret') !== client.secret ||
              known?.query.get('redirect_uri') !== form.get('redirect_uri') ||
              known.query.get('code_challenge') !== challenge
            ) {
              answer(400, { error: 'invalid_grant' })
              return
            }
            const claims = { ...known.identity, nonce: known.query.get('nonce'), ...provider.forged }
            const id_token = await new SignJWT(claims)
              .setProtectedHeader({ alg: 'RS256', kid: 'one' })
              .setIssuer(provider.url)
              .setAudience(client.id)
              .setIssuedAt()
              .setExpirationTime('5m')
              .sign(privateKey)
            answer(200, {
              access_token: randomUUID(),
              token_type: 'Bearer',
              expires_in: 300,
              id_token,
            })
            return
          }
          default: {
            answer(404, {})
            return
          }
        }
      })()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const provider = new IdentityProvider(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      () =>
        new Promise((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    )
    return provider
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop()
  }
}

async function text(request: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
