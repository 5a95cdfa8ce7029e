import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { SignJWT } from 'jose'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { claims, subjectOf, type JobIdentity, type SubjectPart } from './claims.ts'
import { SigningKeys } from './keys.ts'

export type { JobIdentity } from './claims.ts'

export interface IdentityServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly externalUrl: () => string
}

export const keysPath = '/oauth/discovery/keys'
/** Seconds a token lives whose job has no time limit. */
const shortLife = 300
const mostGroups = 200

/** Signs tokens by which jobs, and people, prove to others who they are. */
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
    const groups = await this.#directGroups(identity.user.id)
    const all = claims({ ...identity, groups }, this.#externalUrl())
    const subject = subjectOf(subjectParts(identity.project.settings), all)
    const life = identity.job.timeout ?? shortLife
    const tokens = Object.entries(audiences).map(async ([name, audience]) => {
      return [name, await this.signFor(subject, { audience, life, claims: all })] as const
    })
    return Object.fromEntries(await Promise.all(tokens))
  }

  /** A token about a subject, for an audience, that lives so many seconds. */
  async signFor(
    subject: string,
    {
      audience,
      life,
      claims: told,
    }: { audience: string | readonly string[]; life: number; claims: Record<string, unknown> },
  ): Promise<string> {
    const { kid, key } = await this.#keys.signing()
    const now = Math.floor(Date.now() / 1000)
    return new SignJWT(told)
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
      .setIssuer(this.#externalUrl())
      .setSubject(subject)
      .setAudience(typeof audience === 'string' ? audience : [...audience])
      .setIssuedAt(now)
      .setNotBefore(now - 5)
      .setExpirationTime(now + life)
      .setJti(randomUUID())
      .sign(key)
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

/** Identity tokens, and where whoever is shown one finds the keys to check it. */
export function identityTokens(services: IdentityServices): {
  tokens: IdentityTokens
  mount: (server: FastifyInstance) => void
} {
  const keys = new SigningKeys(services)
  return {
    tokens: new IdentityTokens(services, keys),
    mount(server) {
      const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' }
      server.get(keysPath, async (_, reply) =>
        reply.headers(headers).send(JSON.stringify({ keys: await keys.published() })),
      )
    },
  }
}
