import { sql, type Database, type SharedCounts } from '../kernel/db/index.ts'
import {
  Answer,
  type Check,
  type Endpoint,
  type Loaded,
  type Read,
  type RequestFacts,
} from '../kernel/endpoint/endpoint.ts'
import type { PageInput } from '../kernel/endpoint/pagination.ts'
import {
  forbidden,
  insufficientScope,
  invalidParameters,
  notFound,
  recordNotFound,
  refused,
  unauthorized,
} from '../kernel/errors/index.ts'
import { includesPlan, type Plan } from '../kernel/config/index.ts'
import { requestContext, type Logger } from '../kernel/log/index.ts'
import type { SettingName, Settings } from '../settings/index.ts'
import { looksAcrossProjects } from './across-projects.ts'
import { entryProblem, hidesUsers } from './admission.ts'
import { isShownTo, type AddressHouse } from './admitted-addresses.ts'
import {
  accountProblem,
  anonymous,
  checkScopes,
  checkToken,
  isDisabledToken,
  type Actor,
  type User,
} from './actor.ts'
import { machineSecret, noCredentials, readCredentials, type Credentials } from './credentials.ts'
import { findUser } from './caller.ts'
import { decide } from './decide.ts'
import { letsMachinesIn } from './deploy-token.ts'
import { enterByDeployToken, enterInNameOf, type Entrance } from './enter.ts'
import { EndpointLimits } from './endpoint-limits.ts'
import { userInWhoseName } from './in-name-of.ts'
import { isAdmitted, readsAcrossProjects } from './policy-server.ts'
import { Entrances } from './remembered.ts'
import type { AnyKind, AnySubject, GroupSubject, ProjectSubject } from './subjects.ts'
import { noteTokenUse, SessionUse } from './token-use.ts'
import type { Caller, Throttles } from './throttles.ts'
import type { UniqueAddresses } from './unique-addresses.ts'
import { LruMap } from '../kernel/lib/lru.ts'

export interface Passed {
  readonly actor: Actor
  readonly subject: AnySubject
  readonly params: Record<string, unknown>
  readonly loaded: Loaded<unknown>
}

export interface GateCall {
  readonly endpoint: Endpoint
  readonly bag: Readonly<Record<string, unknown>>
  /** Values of the path's parameters as sent. */
  readonly path: Readonly<Record<string, string>>
  /** The checked parameters, or the faults in them. */
  readonly params: { readonly value: Record<string, unknown> } | { readonly faults: readonly string[] }
  readonly page: PageInput
  readonly request: RequestFacts
  /** All that the answer hangs on besides the caller and what is stored; undefined where that cannot be told. */
  readonly asked: string | undefined
  /** The address to send a caller to who uses the old path of a project, from its id. */
  readonly movedTo: (id: number) => string
}

export interface GateServices {
  readonly db: Database
  readonly plan: Plan
  readonly settings: Pick<Settings, 'values'>
  readonly counts: SharedCounts
  readonly throttles: Throttles
  readonly addresses: UniqueAddresses
  readonly log: Logger
  readonly externalUrl: () => string
}

/**
 * The door every endpoint is entered through: finds out who asks, what about and with which role in one statement,
 * and makes the endpoint's checks in their order. Nothing else decides who may call.
 */
export class Gate {
  readonly #db: Database
  readonly #entrances: Entrances
  readonly #plan: Plan
  readonly #log: Logger
  readonly #settings: Pick<Settings, 'values'>
  readonly #limits: EndpointLimits
  readonly #throttles: Throttles
  readonly #externalUrl: () => string
  readonly #addresses: UniqueAddresses
  readonly #sessions: SessionUse
  /** Whose token it was, so that one too many is refused without asking the database. */
  readonly #users = new LruMap<string, number>(10_000)

  constructor({ db, plan, settings, counts, throttles, addresses, log, externalUrl }: GateServices) {
    this.#db = db
    this.#externalUrl = externalUrl
    this.#settings = settings
    this.#limits = new EndpointLimits(settings, counts)
    this.#throttles = throttles
    this.#addresses = addresses
    this.#entrances = new Entrances(db)
    this.#sessions = new SessionUse(db, log, settings)
    this.#plan = plan
    this.#log = log
  }

  /** The subject and what else the handler needs, or the answer that sends a caller on; throws the refusal. */
  async pass(call: GateCall): Promise<Passed | Answer> {
    const { endpoint, params, request } = call
    const kind = endpoint.on as AnyKind
    const { switchedBy } = endpoint
    if (switchedBy !== undefined && this.#settings.values[switchedBy as SettingName] !== true)
      throw notFound()
    const checks = endpoint.checks ?? defaultChecks(endpoint)
    if (checks[0] === 'params' && 'faults' in params) throw invalidParameters(params.faults)

    const machine = kind.name === 'runner' || kind.name === 'job' ? kind.name : undefined
    const credentials: Credentials =
      machine === undefined
        ? {
            ...shownBy(call),
            adminMode: this.#settings.values.admin_mode,
            remembers: this.#settings.values.remember_me_enabled,
          }
        : noCredentials
    // Runners and jobs ask as often as they have to.
    if (machine === undefined && credentials.kind === 'none') {
      const throttled = this.#throttled(call, credentials, { address: request.ip })
      if (throttled !== undefined) return throttled
    }
    const before = credentials.digest === undefined ? undefined : this.#users.get(credentials.digest)
    if (before !== undefined) {
      const throttled = this.#throttled(call, credentials, { user: before })
      if (throttled !== undefined) return throttled
    }
    if (checks[0] === 'credentials') {
      // Who brings none where some are needed is counted as well.
      if (credentials.kind === 'none' && endpoint.anonymous !== true && machine === undefined)
        this.#limits.before({ endpoint, user: null, address: request.ip })
      needsCredentials(credentials, endpoint, machine !== undefined)
    }

    if (credentials.kind === 'deploy' && !letsMachinesIn(this.#settings.values)) throw unauthorized()

    const lookup = {
      id: call.path['id'],
      secretDigest: machine && machineSecret(machine, request.headers, call.bag),
    }
    const read = (): Read<unknown> | undefined =>
      'value' in params ? endpoint.read?.({ params: params.value, page: call.page }) : undefined
    let entrance =
      credentials.kind === 'deploy'
        ? await enterByDeployToken<AnySubject, unknown>(this.#db, kind, credentials, lookup, read())
        : await this.#entrances.enter<AnySubject, unknown>(kind, credentials, lookup, {
            read,
            paged: endpoint.paged === true,
            asked: call.asked,
          })
    let { actor, subject } = entrance
    if (before === undefined && credentials.digest !== undefined) {
      const user = actor?.user ?? null
      if (user !== null) this.#users.set(credentials.digest, user.id)
      const caller = user === null ? { address: request.ip } : { user: user.id }
      const throttled = this.#throttled(call, credentials, caller)
      if (throttled !== undefined) return throttled
    }
    const limited = { endpoint, user: actor?.user ?? null, address: request.ip }
    if (machine === undefined) this.#limits.before(limited)
    for (const check of checks) {
      switch (check) {
        case 'credentials':
          actor = await this.#checkCredentials(endpoint, credentials, entrance, machine !== undefined)
          if (actor.user !== null && !(await this.#addresses.admits(actor.user.id, request.ip))) {
            throw forbidden()
          }
          if (endpoint.may === 'read_users' && hidesUsers(actor, this.#settings.values)) {
            throw forbidden(`Not authorized to access /api/v4${endpoint.path}`)
          }
          if (credentials.sudo !== undefined && actor.user !== null) {
            // Role, visibility and rows are those of the user in whose name the administrator acts.
            entrance = await enterInNameOf(this.#db, kind, actor.user, lookup, read())
            subject = entrance.subject
          }
          break
        case 'params':
          if ('faults' in params) throw invalidParameters(params.faults)
          break
        case 'subject':
          if (subject === undefined || !entrance.visible || isShut(actor, subject)) throw kind.missing()
          if (isPlace(subject) && !isShownTo(subject, actor, request.ip, this.#house)) throw kind.missing()
          if (!(await isAdmitted(this.#db, actor ?? anonymous, subject))) throw kind.missing()
          if (entrance.redirect) {
            const moved = this.#moved(request.method, 'id' in subject ? subject.id : 0, call)
            if (moved !== undefined) return moved
          }
          if ('id' in subject) this.#limits.within({ ...limited, subject: subject.id })
          if (endpoint.plan !== undefined && !includesPlan(this.#plan, endpoint.plan)) {
            throw endpoint.missingBelowPlan === undefined ? forbidden() : notFound(endpoint.missingBelowPlan)
          }
          break
        case 'record':
          if (endpoint.record !== undefined && entrance.loaded.rows.length === 0) {
            // With faults in the parameters nothing was read; they are told when their turn comes.
            if ('faults' in params) break
            throw endpoint.record === true ? recordNotFound() : notFound(endpoint.record)
          }
          break
        case 'may':
          if (!decide(actor!, endpoint.may as never, subject as never, true).allowed) throw forbidden()
          if (isAtRest(endpoint, subject!)) throw forbidden()
          if (looksAcrossProjects(endpoint) && !readsAcrossProjects(this.#db, actor!)) {
            throw forbidden('Projects are looked at one by one while an external policy decides about them')
          }
          break
      }
    }
    if ('faults' in params) throw invalidParameters(params.faults)
    if (endpoint.pollable !== undefined) this.#tellInterval(endpoint.pollable)
    return { actor: actor!, subject: subject!, params: params.value, loaded: entrance.loaded }
  }

  /** -1: nobody is to ask again and again. */
  #tellInterval(milliseconds: number): void {
    const context = requestContext()
    const interval = Math.trunc(milliseconds * this.#settings.values.polling_interval_multiplier)
    if (context === undefined) return
    context.headers = { ...context.headers, 'poll-interval': String(interval === 0 ? -1 : interval) }
  }

  get #house(): AddressHouse {
    return { values: this.#settings.values, plan: this.#plan }
  }

  async #checkCredentials(
    endpoint: Endpoint,
    credentials: Credentials,
    { actor, token }: Entrance<unknown, unknown>,
    machine: boolean,
  ): Promise<Actor> {
    needsCredentials(credentials, endpoint, machine)
    if (actor === undefined) throw unauthorized()
    if (token !== undefined && isDisabledToken(actor, this.#settings.values)) throw unauthorized()
    if (token !== undefined) {
      if (token.revoked && token.id !== null && isRotation(endpoint)) await this.#revokeFamily(token.id)
      checkToken(token)
    }
    if (actor.user !== null) this.#checkAccount(actor.user, endpoint)
    if (token !== undefined) noteTokenUse({ db: this.#db, log: this.#log }, token)
    if (credentials.kind === 'session') this.#sessions.note(credentials.digest!)
    if (actor.job !== null && endpoint.jobToken !== true) throw unauthorized()
    if (actor.token !== null) checkScopes(actor.token.scopes, scopesOf(endpoint))
    return credentials.sudo === undefined ? actor : this.#actAs(actor, credentials.sudo)
  }

  #checkAccount(user: User, { beforeTerms }: Endpoint): void {
    const house = { values: this.#settings.values, externalUrl: this.#externalUrl() }
    const problem = beforeTerms === true ? accountProblem(user, house.externalUrl) : entryProblem(user, house)
    if (problem !== undefined) throw forbidden(problem)
  }

  /** What our own pages send counts as one of them. */
  #throttled({ endpoint, bag }: GateCall, { fromPage }: Credentials, caller: Caller): Answer | undefined {
    return fromPage === true && 'user' in caller
      ? this.#throttles.count('web', caller)
      : this.#throttles.ofEndpoint(endpoint, caller, bag)
  }

  async #actAs(actor: Actor, name: string): Promise<Actor> {
    if (actor.token === null) {
      throw forbidden('Must be authenticated using an OAuth or personal access token to use sudo')
    }
    if (actor.user?.admin !== true) throw forbidden('Must be admin to use sudo')
    if (!actor.token.scopes.includes('sudo')) throw insufficientScope(['sudo'])
    const user = await findUser(this.#db.reader, name)
    if (user === undefined) throw notFound(`User with ID or username '${name}'`)
    return { ...actor, user }
  }

  #moved(method: string, id: number, { movedTo }: GateCall): Answer | undefined {
    if (method !== 'GET' && method !== 'HEAD') {
      throw refused(405, 'Non GET methods are not allowed for moved projects')
    }
    const location = movedTo(id)
    const body = `This resource has been moved permanently to ${location}`
    return new Answer(301, { location, 'content-type': 'text/plain' }, body)
  }

  /**
   * A token that was rotated is used to rotate again: somebody else has one of the line, so all of them end. Other
   * calls with an old token are only refused: a forgotten script does no harm.
   */
  async #revokeFamily(id: number): Promise<void> {
    await sql`
      update personal_access_tokens t set revoked = true from personal_access_tokens old
      where old.id = ${id} and coalesce(old.family_id, old.id) in (t.id, t.family_id) and not t.revoked`.execute(
      this.#db.writer,
    )
  }
}

/** Who acts in somebody's name inside the service shows nothing of his own. */
function shownBy({ request, bag, endpoint }: GateCall): Credentials {
  const userId = userInWhoseName()
  return userId === undefined
    ? readCredentials(request.headers, bag, request.method, endpoint)
    : { kind: 'user', digest: String(userId), sudo: undefined }
}

/** A job does not learn of private projects that do not let it in, whatever its user may see. */
function isShut(actor: Actor | undefined, subject: AnySubject): boolean {
  if (actor?.job == null || subject.kind !== 'project') return false
  return !decide(actor, 'reach_project', subject, true).allowed
}

function isPlace(subject: AnySubject): subject is GroupSubject | ProjectSubject {
  return subject.kind === 'group' || subject.kind === 'project'
}

/** Projects and groups that are archived, or are about to go, are only read (7.1). */
function isAtRest({ method, whileArchived }: Endpoint, subject: AnySubject): boolean {
  if (method === 'GET' || whileArchived === true || !isPlace(subject)) return false
  return subject.archived || subject.deleting
}

/** Where a token is replaced by a new one. */
function isRotation({ method, path }: Endpoint): boolean {
  return method === 'POST' && path.endsWith('/rotate')
}

function needsCredentials(credentials: Credentials, endpoint: Endpoint, machine: boolean): void {
  if (credentials.kind === 'none' && endpoint.anonymous !== true && !machine) throw unauthorized()
}

/** `api`, `read_api` for what only reads, and what the endpoint takes besides. */
export function scopesOf({ method, scopes = [] }: Endpoint): string[] {
  return ['api', ...(method === 'GET' ? ['read_api'] : []), ...scopes]
}

function defaultChecks({ anonymous }: Endpoint): readonly Check[] {
  return anonymous === true
    ? ['params', 'credentials', 'subject', 'record', 'may']
    : ['credentials', 'params', 'subject', 'may', 'record']
}
