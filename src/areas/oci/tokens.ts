import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { standingOf, type Bearer } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'
import { digestToken, type Cipher } from '../../kernel/lib/secrets.ts'
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
  readonly bearer: Bearer
}

export interface Claims {
  readonly subject: string
  readonly access: readonly Access[]
  /** In milliseconds. */
  readonly expiresAt: number
  readonly bearer: Bearer
  /** What the token was given for; it is good only while that stays as it is. */
  readonly standing: string
}

/** For so long, in milliseconds, it is believed that a token still is good. */
const freshness = 500

const nobody: Bearer = { userId: null, tokenId: null, jobId: null, deployTokenId: null }

function projectsOf(access: readonly Access[]): number[] {
  return access.flatMap(({ meta }) => (meta === undefined ? [] : [meta.project_id]))
}

/** Tokens whose signature was looked at lately. */
const rememberedTokens = 5000

/** Signs the tokens of the registry, and knows them again. */
export class Tokens {
  readonly #services: { readonly db: Database; readonly cipher: Cipher }
  readonly #known = new LruMap<string, Claims>(rememberedTokens)
  readonly #checked = new LruMap<string, number>(rememberedTokens)
  #key: Promise<SigningKey> | undefined

  constructor(services: { readonly db: Database; readonly cipher: Cipher }) {
    this.#services = services
  }

  /** What somebody's token will be given for; asked before what it gives is decided. */
  standing(bearer: Bearer): Promise<string> {
    return standingOf(this.#services.db.reader, bearer, [])
  }

  /** `life` in minutes, `standing` from before the decision. */
  async sign(
    holder: Holder,
    access: readonly Access[],
    { life, standing }: { readonly life: number; readonly standing: string },
  ): Promise<string> {
    const key = await this.#loadKey()
    const now = Math.floor(Date.now() / 1000)
    const header = { typ: 'JWT', alg: algorithm, kid: key.id }
    const user = await new SignJWT({ user_info: holder.user })
      .setProtectedHeader(header)
      .setIssuedAt(now)
      .sign(key.privateKey)
    const projects = await standingOf(this.#services.db.reader, nobody, projectsOf(access))
    return new SignJWT({
      access,
      auth_type: holder.authType,
      user,
      bearer: holder.bearer,
      standing: digestToken(`${standing} ${projects}`),
    })
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
    if (known !== undefined) return known.expiresAt > Date.now() ? this.#stillGood(token, known) : undefined
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
        bearer: payload['bearer'] as Bearer,
        standing: payload['standing'] as string,
      }
      this.#known.set(token, claims)
      return await this.#stillGood(token, claims)
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }

  /** The claims, unless what they were given for is another now: then their holder has to ask again. */
  async #stillGood(token: string, claims: Claims): Promise<Claims | undefined> {
    const now = Date.now()
    if (now - (this.#checked.get(token) ?? 0) < freshness) return claims
    const { reader } = this.#services.db
    const [standing, projects] = await Promise.all([
      standingOf(reader, claims.bearer, []),
      standingOf(reader, nobody, projectsOf(claims.access)),
    ])
    if (digestToken(`${standing} ${projects}`) !== claims.standing) return undefined
    this.#checked.set(token, now)
    return claims
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
