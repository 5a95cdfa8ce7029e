import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportSPKI, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { queryStringHash } from '../../src/areas/tracker-app/qsh.ts'
import type { Json } from './world.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: Json
  readonly authorization: string
}

const secret = 'a secret that both share, of some length'
const hour = 3600

/** A small cloud of an issue tracker: it installs the app, keeps the keys for that, and hears what happens. */
export class Tracker implements AsyncDisposable {
  readonly url: string
  readonly secret = secret
  readonly clientKey: string
  readonly asked: Asked[] = []
  /** Groups of accounts. */
  readonly groups: Record<string, readonly string[]> = { admin: ['site-admins'], person: ['users'] }
  /** What it answers instead, under `/rest`. */
  says: { status: number; text: string } | undefined
  readonly #server: Server
  readonly #key: CryptoKey

  private constructor(server: Server, key: CryptoKey, clientKey: string) {
    this.#server = server
    this.#key = key
    this.clientKey = clientKey
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(clientKey = 'client-key'): Promise<Tracker> {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    const pem = await exportSPKI(publicKey)
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const { pathname, searchParams } = new URL(request.url!, tracker.url)
        const { method = '', headers } = request
        const sent = body === '' ? {} : (JSON.parse(body) as Json)
        tracker.asked.push({
          method,
          path: pathname,
          body: sent,
          authorization: headers.authorization ?? '',
        })
        if (pathname.endsWith('/a-key')) return response.end(pem)
        if (!pathname.startsWith('/rest')) return response.writeHead(404).end()
        if (tracker.says !== undefined) return response.writeHead(tracker.says.status).end(tracker.says.text)
        return void tracker
          .#isSigned(method, pathname, searchParams, headers.authorization)
          .then((signed) => {
            const groups = tracker.groups[searchParams.get('accountId') ?? ''] ?? []
            response
              .writeHead(signed ? 200 : 401, { 'content-type': 'application/json' })
              .end(JSON.stringify({ groups: { items: groups.map((name) => ({ name })) } }))
          })
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const tracker = new Tracker(server, privateKey, clientKey)
    return tracker
  }

  /** What came under this path. */
  at(path: string): Json[] {
    return this.asked.filter((one) => one.path === path).map(({ body }) => body)
  }

  /** Tells of the app, as the cloud signs it. `forged` overrides claims. */
  async lifecycle(
    base: string,
    kind: 'installed' | 'uninstalled',
    {
      forged = {},
      key = this.#key,
      kid = 'a-key',
      body = {},
    }: {
      forged?: Json
      key?: CryptoKey
      kid?: string
      body?: Json
    } = {},
  ): Promise<number> {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: this.clientKey,
      aud: [`${base}/-/jira_connect`],
      iat: now,
      exp: now + hour,
      qsh: queryStringHash('POST', `/events/${kind}`),
      ...forged,
    }
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(key)
    const sent = { clientKey: this.clientKey, sharedSecret: secret, baseUrl: this.url, ...body }
    const { status } = await fetch(`${base}/-/jira_connect/events/${kind}`, {
      method: 'POST',
      body: JSON.stringify(sent),
      headers: { 'content-type': 'application/json', authorization: `JWT ${token}` },
    })
    return status
  }

  /** A token that stands for an account, as the app gets it in the browser. */
  token(
    account: string | undefined,
    { forged = {}, by = secret }: { forged?: Json; by?: string } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: this.clientKey,
      ...(account !== undefined && { sub: account }),
      iat: now,
      exp: now + hour,
      qsh: 'context-qsh',
      ...forged,
    }
    return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(by))
  }

  async #isSigned(
    method: string,
    path: string,
    query: URLSearchParams,
    authorization = '',
  ): Promise<boolean> {
    try {
      const { payload } = await jwtVerify(
        authorization.replace('JWT ', ''),
        new TextEncoder().encode(secret),
        {
          algorithms: ['HS256'],
          requiredClaims: ['exp', 'iat', 'iss'],
        },
      )
      return payload['qsh'] === queryStringHash(method, path, query)
    } catch {
      return false
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
