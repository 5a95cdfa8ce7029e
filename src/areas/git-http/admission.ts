import {
  accountProblem,
  enter,
  enterByLogin,
  group,
  isTokenUsable,
  noteTokenUse,
  project,
  type Actor,
  type Entrance,
  type GroupSubject,
  type Login,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Service } from '../../git/index.ts'
import type { Settings } from '../../settings/index.ts'
import { containerOfWiki } from './address.ts'
import { GitRefusal } from './refusal.ts'
import { codeOf, projectMissing, wikiOf, type Target, type TargetServices, type Wanted } from './target.ts'

export interface Admitted {
  readonly actor: Actor
  readonly target: Target
  /** Reached by a path that the project had before. */
  readonly moved: boolean
}

export interface AdmissionServices extends TargetServices {
  readonly db: Database
  readonly log: Logger
  readonly plan: Plan
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly matchesPassword: (password: string, digest: string) => Promise<boolean>
}

/** Scopes of a token that let it fetch, and push; `api` and its like are in both (completions, 1.10). */
const scopes = {
  'git-upload-pack': ['api', 'read_api', 'read_repository', 'write_repository'],
  'git-receive-pack': ['api', 'write_repository'],
} as const

type Found = Entrance<ProjectSubject | GroupSubject, never> & { readonly wanted: Wanted | undefined }

/** Who asks, for what, and whether that is allowed: one statement for code. Throws the refusal in git's words. */
export async function admit(
  services: AdmissionServices,
  login: Login | 'unreadable' | undefined,
  fullPath: string,
  service: Service,
): Promise<Admitted> {
  if (services.settings.values.enabled_git_access_protocol === 'ssh') {
    throw new GitRefusal(403, 'Git access over HTTP is not allowed')
  }
  if (login === 'unreadable') throw denied(services)
  const entrance = await find(services, login, fullPath)
  const actor = checkActor(services, entrance, service)
  const { wanted } = entrance
  if (actor.user === null) {
    // Asking for credentials tells nothing about what there is.
    const open = wanted?.mayDownload(actor).allowed === true
    if (!open || service === 'git-receive-pack') throw denied(services)
  }
  if (wanted === undefined) throw new GitRefusal(404, projectMissing)
  if (service === 'git-upload-pack') mustDownload(actor, wanted)
  else mustUpload(actor, wanted)
  const target = await wanted.target(wanted.mayUpload(actor).allowed)
  if (target === undefined) throw new GitRefusal(404, 'A repository for this wiki does not exist yet.')
  return { actor, target, moved: entrance.redirect }
}

/** `a/b.wiki` is the wiki of the project or group `a/b`; only where there is none, a project of that very name. */
async function find(services: AdmissionServices, login: Login | undefined, fullPath: string): Promise<Found> {
  const container = containerOfWiki(fullPath)
  if (container !== undefined) {
    const inProject = await enterFor<ProjectSubject>(services, project, login, container)
    if (inProject.subject !== undefined) {
      return { ...inProject, wanted: wikiOf(services, inProject.subject, inProject.visible) }
    }
    const inGroup = await enterFor<GroupSubject>(services, group, login, container)
    if (inGroup.subject !== undefined && services.plan !== 'free') {
      return { ...inGroup, wanted: wikiOf(services, inGroup.subject, inGroup.visible) }
    }
  }
  const entrance = await enterFor<ProjectSubject>(services, project, login, fullPath)
  return { ...entrance, wanted: entrance.subject && codeOf(services, entrance.subject) }
}

function enterFor<Subject>(
  { db, matchesPassword }: AdmissionServices,
  kind: typeof project | typeof group,
  login: Login | undefined,
  fullPath: string,
): Promise<Entrance<Subject, never>> {
  const lookup = { id: fullPath, secretDigest: undefined }
  return login === undefined
    ? enter(db, kind, { kind: 'none', digest: undefined, sudo: undefined }, lookup)
    : enterByLogin(db, kind, login, lookup, matchesPassword)
}

function checkActor(services: AdmissionServices, { actor, token }: Found, service: Service): Actor {
  if (actor === undefined || (token !== undefined && !isTokenUsable(token, new Date())))
    throw denied(services)
  if (token !== undefined) noteTokenUse(services, token)
  const problem = actor.user === null ? undefined : accountProblem(actor.user)
  if (problem !== undefined) throw new GitRefusal(403, problem)
  if (actor.token !== null) {
    const held = new Set(actor.token.scopes)
    if (!scopes['git-upload-pack'].some((scope) => held.has(scope))) throw denied(services)
    if (service === 'git-receive-pack' && !scopes[service].some((scope) => held.has(scope))) {
      throw new GitRefusal(403, 'You are not allowed to upload code.')
    }
  }
  return actor
}

function mustDownload(actor: Actor, { mayDownload, subject, words }: Wanted): void {
  const { allowed, hidden } = mayDownload(actor)
  if (hidden) throw new GitRefusal(404, words.missing)
  if (allowed) return
  if (actor.job !== null && actor.job.projectId !== subject.id) throw new GitRefusal(404, words.missing)
  throw new GitRefusal(403, words.download)
}

function mustUpload(actor: Actor, { mayUpload, subject, words }: Wanted): void {
  const { allowed, hidden } = mayUpload(actor)
  if (hidden) throw new GitRefusal(404, words.missing)
  if (allowed) return
  if (actor.job !== null) throw new GitRefusal(403, 'You are not allowed to upload code.')
  if (subject.kind === 'project' && subject.archived) {
    throw new GitRefusal(403, "You can't push code to an archived project.")
  }
  throw new GitRefusal(403, words.upload)
}

function denied({ externalUrl }: AdmissionServices): GitRefusal {
  return new GitRefusal(
    401,
    'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
      "you're required to use a token instead of a password. If a token was provided, it was either incorrect, " +
      `expired, or improperly scoped. See ${externalUrl()}/-/api`,
  )
}
