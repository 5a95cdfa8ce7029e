import {
  enter,
  enterByAnyLogin,
  noCredentials,
  letsMachinesIn,
  entryProblem,
  isDisabledToken,
  isShownTo,
  isTokenUsable,
  noteTokenUse,
  type Actor,
  type Login,
  type Passwords,
  type Throttles,
} from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Service } from '../../git/index.ts'
import type { Settings } from '../../settings/index.ts'
import { findWanted, openTarget, type EnterFor, type Found } from './find-target.ts'
import { wantedByPush } from './push-to-create.ts'
import { GitRefusal } from './refusal.ts'
import { missingAt, type Target, type TargetServices } from './target.ts'

export interface Admitted {
  readonly actor: Actor
  readonly target: Target
  /** Reached by a path that the project had before. */
  readonly moved: boolean
}

export interface AdmissionServices extends TargetServices {
  readonly log: Logger
  readonly plan: Plan
  readonly settings: Settings
  readonly throttles: Throttles
  readonly externalUrl: () => string
  readonly passwords: Passwords
  /** Notes that somebody fetches code; true: it was too much, and he is shut out. */
  readonly noteDownload: (actor: Actor, projectId: number) => Promise<boolean>
  /** Counts that code was fetched. */
  readonly noteFetch: (projectId: number) => void
}

/** Scopes of a token that let it fetch, and push; `api` and its like are in both (completions, 1.10). */
const scopes = {
  'git-upload-pack': ['api', 'read_api', 'read_repository', 'write_repository'],
  'git-receive-pack': ['api', 'write_repository'],
} as const

/**
 * Who asks, for what, and whether that is allowed: one statement for code. `creates`: where nothing is, a project is
 * made for whoever may. Throws the refusal in git's words.
 */
export async function admit(
  services: AdmissionServices,
  login: Login | 'unreadable' | undefined,
  asked: { readonly fullPath: string; readonly address: string; readonly creates?: boolean },
  service: Service,
): Promise<Admitted> {
  if (services.settings.values.enabled_git_access_protocol === 'ssh') {
    throw new GitRefusal(403, 'Git access over HTTP is not allowed')
  }
  return admitByAnyProtocol(services, login, asked, service)
}

/** As `admit`, where git may be served over SSH alone. */
export async function admitByAnyProtocol(
  services: AdmissionServices,
  login: Login | 'unreadable' | undefined,
  asked: { readonly fullPath: string; readonly address: string; readonly creates?: boolean },
  service: Service,
): Promise<Admitted> {
  const { fullPath, address, creates = false } = asked
  if (login === 'unreadable') throw denied(services)
  const find = (): Promise<Found> => findWanted(services, fullPath, enterWith(services, login))
  const entrance = await find()
  const actor = checkActor(services, entrance, service)
  if (actor.user === null && actor.deployToken === undefined) {
    // Asking for credentials tells nothing about what there is.
    const open = entrance.wanted?.mayDownload(actor).allowed === true
    if (!open || service === 'git-receive-pack') throw denied(services)
  }
  const wanted = creates ? await wantedByPush(services, actor, asked, entrance.wanted, find) : entrance.wanted
  if (wanted === undefined) throw new GitRefusal(404, missingAt(fullPath))
  const house = { values: services.settings.values, plan: services.plan }
  if (wanted.subject !== undefined && !isShownTo(wanted.subject, actor, address, house)) {
    throw new GitRefusal(404, missingAt(fullPath))
  }
  const target = await openTarget(actor, wanted, service)
  return { actor, target, moved: entrance.redirect }
}

/** By a token or password, or as nobody. */
function enterWith(services: AdmissionServices, login: Login | undefined): EnterFor {
  const { db, settings } = services
  const machines = letsMachinesIn(settings.values)
  return (kind, fullPath) => {
    const lookup = { id: fullPath, secretDigest: undefined }
    return login === undefined
      ? enter(db, kind, noCredentials, lookup)
      : enterByAnyLogin(db, kind, login, lookup, passwordsFor(services), machines)
  }
}

/** The instance may take nothing but tokens for git. */
function passwordsFor({ settings, passwords }: AdmissionServices): Passwords {
  return settings.values.password_authentication_enabled_for_git
    ? passwords
    : { matches: async () => false, authenticate: async () => undefined }
}

function checkActor(services: AdmissionServices, { actor, token }: Found, service: Service): Actor {
  if (actor === undefined || (token !== undefined && !isTokenUsable(token))) throw denied(services)
  if (token !== undefined && isDisabledToken(actor, services.settings.values)) throw denied(services)
  const house = { values: services.settings.values, externalUrl: services.externalUrl() }
  const problem = actor.user === null ? undefined : entryProblem(actor.user, house)
  if (problem !== undefined) throw new GitRefusal(403, problem)
  if (token !== undefined) noteTokenUse(services, token)
  if (actor.token !== null) {
    const held = new Set(actor.token.scopes)
    if (!scopes['git-upload-pack'].some((scope) => held.has(scope))) throw denied(services)
    if (service === 'git-receive-pack' && !scopes[service].some((scope) => held.has(scope))) {
      throw new GitRefusal(403, 'You are not allowed to upload code.')
    }
  }
  return actor
}

function denied({ externalUrl }: AdmissionServices): GitRefusal {
  return new GitRefusal(
    401,
    'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
      "you're required to use a token instead of a password. If a token was provided, it was either incorrect, " +
      `expired, or improperly scoped. See ${externalUrl()}/-/api`,
  )
}
