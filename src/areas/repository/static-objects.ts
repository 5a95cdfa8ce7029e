import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  decide,
  enter,
  enterToRead,
  entryProblem,
  isDisabledToken,
  isShownTo,
  isTokenUsable,
  noCredentials,
  pageCredentials,
  project as projectKind,
  type Actor,
  type Entrance,
  type ProjectSubject,
} from '../../access/index.ts'
import { findBlob, parsePath, resolve, rootPath, type Oid, type Repository } from '../../git/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { SharedCounts } from '../../kernel/db/index.ts'
import { Answer, requestFacts, send } from '../../kernel/endpoint/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { ArchiveAnswers, WantedArchive } from './archive-answer.ts'
import { rawAnswer } from './blob-answer.ts'
import {
  addressThere,
  askedBy,
  externalStorage,
  staticObjectToken,
  tokenShown,
  userOfToken,
} from './external-storage.ts'
import { contentDisposition } from './header-text.ts'
import { readable, refsOf, revOf } from './looking.ts'
import type { RepositoryServices } from './services.ts'
import { wantedAt, type StaticObject } from './static-object-address.ts'

export interface StaticObjectServices extends RepositoryServices {
  readonly counts: SharedCounts
  readonly cipher: Cipher
  readonly plan: Plan
  readonly archiveAnswer: ArchiveAnswers
}

type Query = Readonly<Record<string, unknown>>

/**
 * Raw files and archives as browsers link to them: `/group/project/-/raw/main/docs/logo.png`,
 * `/group/project/-/archive/v1/project-v1.zip`. Undefined for other addresses.
 */
export function staticObjects(services: StaticObjectServices) {
  return (method: string, path: string) => {
    const wanted = method === 'GET' || method === 'HEAD' ? wantedAt(path) : undefined
    if (wanted === undefined) return undefined
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const given = await answer(services, { wanted, path }, request, reply).catch(inWords)
      return send(reply, given)
    }
  }
}

function text(status: number, words: string): Answer {
  return new Answer(status, { 'content-type': 'text/plain' }, words)
}

const missing = text(404, 'Not found\n')
const tooMany = 'You cannot access the raw file. Please wait a minute.'

/** A refusal of the API for people. */
function inWords(refusal: unknown): Answer {
  if (!(refusal instanceof ApiError)) throw refusal
  const { status, body } = refusal
  const { error } = 'message' in body && typeof body.message === 'object' ? (body.message as Query) : {}
  if (status === 404) return missing
  return text(status, typeof error === 'string' ? error : `${status}\n`)
}

async function answer(
  services: StaticObjectServices,
  { wanted, path }: { readonly wanted: StaticObject; readonly path: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Answer> {
  const { settings, counts, externalUrl, cipher } = services
  const query = request.query as Query
  const storage = externalStorage(settings.values)
  const by = storage === undefined ? 'somebody' : askedBy(storage, request.headers)
  if (by === 'impostor') return text(403, 'Forbidden\n')
  const token = by === 'storage' ? tokenShown(request.headers, query) : undefined
  const inNameOf = token === undefined ? undefined : userOfToken(cipher, token, wanted.fullPath)
  if (token !== undefined && inNameOf === undefined) return text(401, 'Unauthorized\n')
  const credentials = by === 'storage' ? undefined : pageCredentials(request.headers, settings.values)
  const lookup = { id: wanted.fullPath, secretDigest: undefined }
  const entered = admitted(
    services,
    inNameOf === undefined
      ? await enter<ProjectSubject>(services.db, projectKind, credentials ?? noCredentials, lookup)
      : await enterToRead<ProjectSubject>(
          services.db,
          projectKind,
          { userId: inNameOf, adminMode: settings.values.admin_mode },
          lookup,
        ),
    request,
  )
  if (entered === undefined) return missing
  const { actor, project } = entered
  if (!decide(actor, 'read_code', project).allowed) {
    return actor.user === null ? new Answer(302, { location: `${externalUrl()}/users/sign_in` }) : missing
  }
  if (by === 'somebody' && wanted.kind === 'raw') {
    const most = settings.values.raw_blob_request_limit
    const key = `${project.id} ${wanted.named}`
    if (most > 0 && counts.add('raw_blob_request_limit', key, 60).count > most) return text(429, tooMany)
  }
  if (storage === undefined) return content(services, { ...entered, wanted, query }, request, reply)
  const open = await isOpenToAll(services, lookup, project)
  if (by === 'somebody' && (open || actor.user !== null)) {
    const own =
      open || actor.user === null
        ? undefined
        : staticObjectToken(cipher, { userId: actor.user.id, fullPath: wanted.fullPath })
    const location = addressThere(storage, path, query, own)
    return new Answer(302, { location, 'cache-control': 'private, no-store' })
  }
  return content(services, { ...entered, wanted, query }, request, reply, open ? kept(wanted) : {})
}

const scopes: ReadonlySet<string> = new Set(['api', 'read_api', 'read_repository'])

/** Who looks, and at what; whoever may not come in is nobody. */
function admitted(
  { settings, externalUrl, plan }: StaticObjectServices,
  { actor, token, subject }: Entrance<ProjectSubject, never>,
  request: FastifyRequest,
): { readonly actor: Actor; readonly project: ProjectSubject } | undefined {
  if (actor === undefined || subject === undefined) return undefined
  const { values } = settings
  if (token !== undefined && (!isTokenUsable(token) || isDisabledToken(actor, values))) return undefined
  if (actor.token !== null && !actor.token.scopes.some((scope) => scopes.has(scope))) return undefined
  const house = { values, externalUrl: externalUrl() }
  if (actor.user !== null && entryProblem(actor.user, house) !== undefined) return undefined
  return isShownTo(subject, actor, request.ip, { values, plan }) ? { actor, project: subject } : undefined
}

/** Whether the cache may give it to everybody who asks, from wherever he does. */
async function isOpenToAll(
  { db }: StaticObjectServices,
  lookup: { readonly id: string; readonly secretDigest: undefined },
  { admittedAddresses }: ProjectSubject,
): Promise<boolean> {
  if (admittedAddresses !== null && admittedAddresses !== '') return false
  const { actor, subject } = await enter<ProjectSubject>(db, projectKind, noCredentials, lookup)
  return actor !== undefined && subject !== undefined && decide(actor, 'read_code', subject).allowed
}

/** How long caches need not ask again; what a commit names stays as it is. */
function kept(wanted: StaticObject): Record<string, string> {
  const ref = wanted.kind === 'raw' ? wanted.named.split('/')[0]! : wanted.ref
  const seconds = /^[0-9a-f]{40}$/.test(ref) ? 3600 : 60
  return { 'cache-control': `max-age=${seconds}, public, must-revalidate` }
}

interface Looked {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly wanted: StaticObject
  readonly query: Query
}

async function content(
  services: StaticObjectServices,
  { actor, project, wanted, query }: Looked,
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const facts = requestFacts(request, reply)
  if (wanted.kind === 'archive') {
    const archive = archiveOf(project, wanted, query)
    return services.archiveAnswer({ actor, project }, archive, facts, headers)
  }
  const repository = await readable(services.places, project)
  const found = repository && (await findNamed(services, repository, project, wanted.named))
  if (repository === undefined || found === undefined) return missing
  const { oid, size, path } = found
  return rawAnswer({ repository, oid, size }, facts, {
    ...headers,
    'content-disposition': contentDisposition('inline', path.slice(path.lastIndexOf('/') + 1)),
  })
}

/** `project-v1.zip` of `v1` is called just that; another name tells the commit as well. */
function archiveOf(
  project: ProjectSubject,
  { ref, name, format }: Extract<StaticObject, { kind: 'archive' }>,
  { path, append_sha: append }: Query,
): WantedArchive {
  const plain = name === `${project.path}-${ref.replaceAll('/', '-')}`
  return {
    sha: ref,
    path: typeof path === 'string' ? path : undefined,
    exclude_paths: [],
    include_lfs_blobs: true,
    format,
    namesCommit: append === 'true' || (append !== 'false' && !plain),
  }
}

/** `feature/x/docs/a.md`: names of branches and tags have slashes, too, and the longest one counts. */
async function findNamed(
  { places }: RepositoryServices,
  repository: Repository,
  project: ProjectSubject,
  named: string,
): Promise<{ oid: Oid; size: number; path: string } | undefined> {
  const refs = await refsOf(places, project)
  const names = new Set([...(refs?.branches ?? []), ...(refs?.tags ?? [])].map(({ name }) => name))
  const parts = named.split('/')
  for (let count = parts.length - 1; count > 0; count -= 1) {
    const ref = parts.slice(0, count).join('/')
    if (count > 1 && !names.has(ref)) continue
    const rev = revOf(ref)
    const path = parts.slice(count).join('/')
    const parsed = parsePath(path)
    const commit = rev && (await resolve(repository, rev))
    if (commit === undefined || parsed === undefined || parsed === rootPath) continue
    const found = await findBlob(repository, commit, parsed)
    if (found !== undefined) return { ...found, path }
  }
  return undefined
}
