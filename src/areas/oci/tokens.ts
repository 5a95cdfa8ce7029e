import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Database } from '../../kernel/db/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { loadKey, type SigningKey } from './keys.ts'

export const serviceName = 'container_registry'
const issuer = 'guildhall'
const algorithm = 'RS256'
/** Clocks of nodes may differ by so many seconds. */
const clockSkew = 5

export type Action = 'pull' | 'push' | 'delete' | '*'

/** What one entry of a token lets its holder do. */
export interface Access {
  readonly type: 'repository' | 'registry'
  readonly name: string
  readonly actions: readonly Action[]
  /** Of a repository. */
  readonly meta?: {
    readonly project_path: string
    readonly project_id: number
    readonly root_namespace_id: number
    readonly tag_deny_access_patterns: {
      readonly push: readonly string[]
      readonly delete: readonly string[]
    }
    readonly tag_immutable_patterns: readonly string[]
  }
}

export interface Holder {
  /** Empty for nobody. */
  readonly name: string
  readonly authType: string | null
  readonly user: Readonly<Record<string, unknown>>
}

export interface Claims {
  readonly subject: string
  readonly access: readonly Access[]
  /** In milliseconds. */
  readonly expiresAt: number
}

/** Tokens whose signature was looked at lately. */
const rememberedTokens = 5000

/** Signs the tokens of the registry, and knows them again. */
export class Tokens {
  readonly #services: { readonly db: Database; readonly cipher: Cipher }
  readonly #known = new LruMap<string, Claims>(rememberedTokens)
  #key: Promise<SigningKey> | undefined

  constructor(services: { readonly db: Database; readonly cipher: Cipher }) {
    this.#services = services
  }

  /** `life` in minutes. */
  async sign(holder: Holder, access: readonly Access[], life: number): Promise<string> {
    const key = await this.#loadKey()
    const now = Math.floor(Date.now() / 1000)
    const header = { typ: 'JWT', alg: algorithm, kid: key.id }
    const user = await new SignJWT({ user_info: holder.user })
      .setProtectedHeader(header)
      .setIssuedAt(now)
      .sign(key.privateKey)
    return new SignJWT({ access, auth_type: holder.authType, user })
      .setProtectedHeader(header)
      .setIssuer(issuer)
      .setAudience(serviceName)
      .setSubject(holder.name)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setNotBefore(now - clockSkew)
      .setExpirationTime(now + life * 60)
      .sign(key.privateKey)
  }

  /** Undefined for a token that is not ours, or not any more. */
  async verify(token: string): Promise<Claims | undefined> {
    const known = this.#known.get(token)
    if (known !== undefined) return known.expiresAt > Date.now() ? known : undefined
    const { publicKey } = await this.#loadKey()
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        issuer,
        audience: serviceName,
        algorithms: [algorithm],
        requiredClaims: ['exp'],
      })
      const claims = {
        subject: payload.sub ?? '',
        access: payload['access'] as Access[],
        expiresAt: payload.exp! * 1000,
      }
      this.#known.set(token, claims)
      return claims
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }

  #loadKey(): Promise<SigningKey> {
    const { db, cipher } = this.#services
    this.#key ??= loadKey(db, cipher).catch((error: unknown) => {
      this.#key = undefined
      throw error
    })
    return this.#key
  }
}
