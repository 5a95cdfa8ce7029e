import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { SignJWT } from 'jose'
import { sql } from 'kysely'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { claims, subjectOf, type JobIdentity, type SubjectPart } from './claims.ts'
import { SigningKeys } from './keys.ts'

export type { JobIdentity } from './claims.ts'

export interface IdentityServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly externalUrl: () => string
}

const keysPath = '/oauth/discovery/keys'
/** Seconds a token lives whose job has no time limit. */
const shortLife = 300
const mostGroups = 200

/** Signs tokens by which jobs prove to others what they are. */
export class IdentityTokens {
  readonly #db: Database
  readonly #keys: SigningKeys
  readonly #externalUrl: () => string

  constructor(services: IdentityServices, keys: SigningKeys) {
    this.#db = services.db
    this.#keys = keys
    this.#externalUrl = services.externalUrl
  }

  /** One token for each audience, by the names of their variables. */
  async sign(
    identity: Omit<JobIdentity, 'groups'>,
    audiences: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<Record<string, string>> {
    const { kid, key } = await this.#keys.signing()
    const issuer = this.#externalUrl()
    const all = claims({ ...identity, groups: await this.#directGroups(identity.user.id) }, issuer)
    const subject = subjectOf(subjectParts(identity.project.settings), all)
    const now = Math.floor(Date.now() / 1000)
    const tokens = Object.entries(audiences).map(async ([name, audience]) => {
      const token = await new SignJWT(all)
        .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(subject)
        .setAudience(typeof audience === 'string' ? audience : [...audience])
        .setIssuedAt(now)
        .setNotBefore(now - 5)
        .setExpirationTime(now + (identity.job.timeout ?? shortLife))
        .setJti(randomUUID())
        .sign(key)
      return [name, token] as const
    })
    return Object.fromEntries(await Promise.all(tokens))
  }

  async #directGroups(userId: number): Promise<string[] | null> {
    const { rows } = await sql<{ full_path: string }>`
      select n.full_path from members m join namespaces n on n.id = m.namespace_id
      where m.user_id = ${userId} and n.kind = 'group' and m.state = 'active'
        and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
      order by n.id limit ${mostGroups + 1}`.execute(this.#db.reader)
    return rows.length > mostGroups ? null : rows.map((row) => row.full_path)
  }
}

function subjectParts(settings: Readonly<Record<string, unknown>>): readonly SubjectPart[] {
  const chosen = settings['ci_id_token_sub_claim_components']
  return Array.isArray(chosen) && chosen.length > 0
    ? (chosen as SubjectPart[])
    : ['project_path', 'ref_type', 'ref']
}

/** Identity tokens, and where whoever is shown one finds the keys to check it (OpenID Connect Discovery). */
export function identityTokens(services: IdentityServices): {
  tokens: IdentityTokens
  mount: (server: FastifyInstance) => void
  start: () => Promise<AsyncDisposable>
} {
  const keys = new SigningKeys(services)
  return {
    tokens: new IdentityTokens(services, keys),
    mount(server) {
      const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' }
      server.get('/.well-known/openid-configuration', (_, reply) =>
        reply.headers(headers).send(JSON.stringify(configuration(services.externalUrl()))),
      )
      server.get(keysPath, async (_, reply) =>
        reply.headers(headers).send(JSON.stringify({ keys: await keys.published() })),
      )
    },
    async start() {
      await keys.signing()
      return { [Symbol.asyncDispose]: () => Promise.resolve() }
    },
  }
}

function configuration(issuer: string): Record<string, unknown> {
  return {
    issuer,
    jwks_uri: `${issuer}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claim_types_supported: ['normal'],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'],
  }
}
