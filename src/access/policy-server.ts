import { createHash } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import { sql, type Database } from '../kernel/db/index.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Logger } from '../kernel/log/index.ts'
import type { Outbound } from '../kernel/outbound/index.ts'
import type { Settings } from '../settings/index.ts'
import { isAdministrator, type Actor, type User } from './actor.ts'
import type { AnySubject, ProjectSubject } from './subjects.ts'

export interface PolicyServices {
  readonly db: Database
  readonly outbound: Outbound
  readonly settings: Pick<Settings, 'values'>
  readonly log: Logger
}

/** Milliseconds for which a verdict holds: six hours. */
const heldFor = 6 * 3600_000
/** Verdicts in memory. */
const remembered = 10_000
/** Seconds, where the instance names none. */
const usualTimeout = 0.5
/** Of an answer, of which nothing but a reason is of interest. */
const mostBytes = 10_000
/** Longest text of a reason in the log. */
const longestReason = 500

interface Verdict {
  readonly allowed: boolean
  readonly expiresAt: number
  /** Why not, of one that the server has just given. */
  readonly reason?: string | undefined
}

interface Question {
  readonly url: string
  readonly label: string
  readonly key: string
}

/**
 * The server that an instance may ask who gets to which projects (completions of part 3, 8.8), on top of all other
 * rules and for administrators, too. Only its clear yes opens a project. It is asked about a person and a label, so once
 * for all projects with that label, and what it says, yes or no, holds for six hours on all nodes; where it says
 * neither, nobody gets in, and the next request asks again.
 *
 * Silent mode does not keep it from being asked: nobody could work any more, and nothing is changed by a question.
 */
export class PolicyServer {
  readonly #services: PolicyServices
  readonly #verdicts = new LruMap<string, Verdict>(remembered)
  readonly #asking = new Map<string, Promise<boolean>>()

  constructor(services: PolicyServices) {
    this.#services = services
  }

  /** Without an address labels are only shown. */
  get isAsked(): boolean {
    return this.#url !== null
  }

  /** Whether an actor gets to a project as far as the server is concerned. Who is nobody in particular does not. */
  async admits({ user }: Pick<Actor, 'user'>, subject: AnySubject): Promise<boolean> {
    const url = this.#url
    if (url === null || subject.kind !== 'project') return true
    if (user === null) return false
    const question = questionOf(url, this.#labelOf(subject))
    const key = `${user.id} ${question.key}`
    const known = this.#verdicts.get(key)
    if (known !== undefined && known.expiresAt > Date.now()) return known.allowed
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#find(user, question, subject.fullPath).finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking
  }

  /** Why a user would not get to projects with this label, were it the usual one; undefined: he would. */
  async refusalOf(user: User, label: string): Promise<string | undefined> {
    const url = this.#url
    if (url === null) return undefined
    const verdict = await this.#ask(user, questionOf(url, label))
    if (verdict === undefined) return 'External Policy Server did not respond'
    return verdict.allowed ? undefined : (verdict.reason ?? 'access is denied')
  }

  /**
   * For lists: whether the server has said yes to user `actor.id` for the project with this id, in SQL. Who has not come
   * to a project with that label for six hours is left out, since a list cannot wait for answers.
   */
  hasAdmitted(projectId: RawBuilder<unknown>): RawBuilder<unknown> {
    const url = this.#url
    if (url === null) return sql`true`
    const { external_authorization_service_default_label: usual } = this.#services.settings.values
    return sql`exists (
      select from projects labelled join policy_verdicts verdict
        on verdict.question = encode(sha256(convert_to(${`${url}\n`}::text || coalesce(
          nullif(labelled.settings ->> 'external_authorization_classification_label', ''), ${usual ?? ''}::text), 'UTF8')), 'hex')
      where labelled.id = ${projectId} and verdict.user_id = actor.id and verdict.allowed and verdict.expires_at > now())`
  }

  get #url(): string | null {
    const { external_authorization_service_enabled: enabled, external_authorization_service_url: url } =
      this.#services.settings.values
    return enabled && url !== null && url !== '' ? url : null
  }

  #labelOf({ settings }: ProjectSubject): string {
    const own = settings['external_authorization_classification_label']
    if (typeof own === 'string' && own !== '') return own
    return this.#services.settings.values.external_authorization_service_default_label ?? ''
  }

  async #find(user: User, question: Question, path: string): Promise<boolean> {
    const stored = await this.#stored(user.id, question)
    const verdict = stored ?? (await this.#ask(user, question, path))
    if (verdict === undefined) return false
    this.#verdicts.set(`${user.id} ${question.key}`, verdict)
    if (stored === undefined) await this.#store(user.id, question, verdict)
    return verdict.allowed
  }

  /** Undefined: it said neither yes nor no. */
  async #ask(user: User, { url, label }: Question, path?: string): Promise<Verdict | undefined> {
    const { outbound, settings, log } = this.#services
    const { values } = settings
    const identities = await this.#identitiesOf(user.id)
    const directory = identities.find(({ provider }) => provider.startsWith('ldap'))
    const { external_auth_client_cert: cert, external_auth_client_key: key } = values
    const passphrase = values.external_auth_client_key_pass
    const got = await outbound.postJson(
      url,
      {
        user_identifier: user.email,
        project_classification_label: label,
        identities,
        ...(directory !== undefined && { user_ldap_dn: directory.extern_uid }),
      },
      {
        headers: {},
        maximumBytes: mostBytes,
        timeout: 1000 * (values.external_authorization_service_timeout ?? usualTimeout),
        // Where it leads to, somebody else might say yes to anything: a page that asks for a password.
        follows: false,
        ...(cert !== null &&
          key !== null && { identity: { cert, key, ...(passphrase !== null && { passphrase }) } }),
      },
    )
    const about = { userId: user.id, label, project: path }
    if (!('status' in got) || ![200, 401, 403].includes(got.status)) {
      const answer = 'status' in got ? { status: got.status } : got
      log.warn({ ...about, answer }, 'the policy server did not say who gets to a project')
      return undefined
    }
    const allowed = got.status === 200
    const reason = allowed ? undefined : reasonOf(got.text)
    log.info({ ...about, allowed, reason }, 'the policy server said who gets to a project')
    return { allowed, expiresAt: Date.now() + heldFor, reason }
  }

  async #identitiesOf(userId: number): Promise<readonly { provider: string; extern_uid: string }[]> {
    const { rows } = await sql<{ provider: string; extern_uid: string }>`
      select i.provider, i.extern_uid from user_identities i where i.user_id = ${userId}
      union all select 'group_saml', s.extern_uid from saml_identities s where s.user_id = ${userId}
      order by 1, 2`.execute(this.#services.db.reader)
    return rows
  }

  async #stored(userId: number, { key }: Question): Promise<Verdict | undefined> {
    const { rows } = await sql<{ allowed: boolean; expires_at: Date }>`
      select v.allowed, v.expires_at from policy_verdicts v
      where v.user_id = ${userId} and v.question = ${key} and v.expires_at > now()`.execute(
      this.#services.db.reader,
    )
    return rows[0] && { allowed: rows[0].allowed, expiresAt: rows[0].expires_at.getTime() }
  }

  async #store(userId: number, { key }: Question, { allowed, expiresAt }: Verdict): Promise<void> {
    // The account may be gone by now. What has run out goes on the way.
    await sql`
      with outdated as (
        delete from policy_verdicts v where v.user_id = ${userId} and v.question <> ${key} and v.expires_at <= now())
      insert into policy_verdicts (user_id, question, allowed, expires_at)
      select u.id, ${key}, ${allowed}, ${new Date(expiresAt)} from users u where u.id = ${userId}
      on conflict (user_id, question) do update
        set allowed = excluded.allowed, expires_at = excluded.expires_at`.execute(this.#services.db.writer)
  }
}

function questionOf(url: string, label: string): Question {
  return { url, label, key: createHash('sha256').update(`${url}\n${label}`).digest('hex') }
}

function reasonOf(text: string): string | undefined {
  try {
    const { reason } = JSON.parse(text) as { reason?: unknown }
    return typeof reason === 'string' ? reason.slice(0, longestReason) : undefined
  } catch {
    return undefined
  }
}

/**
 * By database: an entrance is found with nothing else, and so no place that finds one can forget to ask.
 */
const servers = new WeakMap<object, PolicyServer>()

/** From now on entrances that are found in this database are open only to whom the server lets in. */
export function openPolicyServer(services: PolicyServices): PolicyServer {
  const server = new PolicyServer(services)
  servers.set(services.db, server)
  servers.set(services.db.writer, server)
  return server
}

/** Whether the policy server of this database, if one is asked, lets an actor in. */
export async function isAdmitted(
  db: object,
  actor: Pick<Actor, 'user'>,
  subject: AnySubject,
): Promise<boolean> {
  return (await servers.get(db)?.admits(actor, subject)) ?? true
}

/** Whether an actor may look at several projects at once: while each would have to be asked about, administrators may. */
export function readsAcrossProjects(db: object, actor: Actor): boolean {
  return servers.get(db)?.isAsked !== true || isAdministrator(actor)
}
