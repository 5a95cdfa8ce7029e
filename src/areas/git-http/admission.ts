import {
  accountProblem,
  decide,
  enter,
  enterByLogin,
  isTokenUsable,
  noteTokenUse,
  project,
  type Actor,
  type Entrance,
  type Login,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Service } from '../../git/index.ts'
import { GitRefusal } from './refusal.ts'

export interface Admitted {
  readonly actor: Actor
  readonly project: ProjectSubject
  /** Reached by a path that the project had before. */
  readonly moved: boolean
}

export interface AdmissionServices {
  readonly db: Database
  readonly log: Logger
  readonly externalUrl: () => string
  readonly matchesPassword: (password: string, digest: string) => Promise<boolean>
}

/** Scopes of a token that let it fetch, and push; `api` and its like are in both (completions, 1.10). */
const scopes = {
  'git-upload-pack': ['api', 'read_api', 'read_repository', 'write_repository'],
  'git-receive-pack': ['api', 'write_repository'],
} as const

/** Who asks, for which project, and whether that is allowed: one statement. Throws the refusal in git's words. */
export async function admit(
  services: AdmissionServices,
  login: Login | 'unreadable' | undefined,
  fullPath: string,
  service: Service,
): Promise<Admitted> {
  if (login === 'unreadable') throw denied(services)
  const lookup = { id: fullPath, secretDigest: undefined }
  const entrance: Entrance<ProjectSubject, never> =
    login === undefined
      ? await enter(services.db, project, { kind: 'none', digest: undefined, sudo: undefined }, lookup)
      : await enterByLogin(services.db, project, login, lookup, services.matchesPassword)
  const actor = checkActor(services, entrance, service)
  const { subject } = entrance
  if (actor.user === null) {
    // Asking for credentials tells nothing about what there is.
    const open = subject !== undefined && decide(actor, 'download_code', subject).allowed
    if (!open || service === 'git-receive-pack') throw denied(services)
  }
  if (subject === undefined) throw missing()
  if (service === 'git-upload-pack') mustDownload(actor, subject)
  else mustUpload(actor, subject)
  return { actor, project: subject, moved: entrance.redirect }
}

function checkActor(
  services: AdmissionServices,
  { actor, token }: Entrance<ProjectSubject, never>,
  service: Service,
): Actor {
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

function mustDownload(actor: Actor, subject: ProjectSubject): void {
  const { allowed, hidden } = decide(actor, 'download_code', subject)
  if (hidden) throw missing()
  if (allowed) return
  if (actor.job !== null && actor.job.projectId !== subject.id) throw missing()
  throw new GitRefusal(403, 'You are not allowed to download code from this project.')
}

function mustUpload(actor: Actor, subject: ProjectSubject): void {
  const { allowed, hidden } = decide(actor, 'upload_code', subject)
  if (hidden) throw missing()
  if (allowed) return
  if (actor.job !== null) throw new GitRefusal(403, 'You are not allowed to upload code.')
  if (subject.archived) throw new GitRefusal(403, "You can't push code to an archived project.")
  throw new GitRefusal(403, 'You are not allowed to push code to this project.')
}

function missing(): GitRefusal {
  return new GitRefusal(
    404,
    "The project you were looking for could not be found or you don't have permission to view it.",
  )
}

function denied({ externalUrl }: AdmissionServices): GitRefusal {
  return new GitRefusal(
    401,
    'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
      "you're required to use a token instead of a password. If a token was provided, it was either incorrect, " +
      `expired, or improperly scoped. See ${externalUrl()}/-/api`,
  )
}
