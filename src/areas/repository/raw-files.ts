import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  decide,
  enter,
  entryProblem,
  isTokenUsable,
  pageCredentials,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { findBlob, parsePath, resolve, rootPath, type Oid, type Repository } from '../../git/index.ts'
import type { SharedCounts } from '../../kernel/db/index.ts'
import { Answer, requestFacts, send } from '../../kernel/endpoint/index.ts'
import { rawAnswer } from './blob-answer.ts'
import { contentDisposition } from './header-text.ts'
import { readable, refsOf, revOf } from './looking.ts'
import type { RepositoryServices } from './services.ts'

type RawServices = RepositoryServices & { readonly counts: SharedCounts }

const place = /^\/((?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]+)\/-\/raw\/(.+)$/u
const longest = 8192
const tooMany = 'You cannot access the raw file. Please wait a minute.'

/** Files as browsers link to them: `/group/project/-/raw/main/docs/logo.png`. Undefined for other addresses. */
export function rawFiles(services: RawServices) {
  return (method: string, path: string) => {
    const [, fullPath, named] = (path.length <= longest && place.exec(decoded(path))) || []
    if (fullPath === undefined || named === undefined || method !== 'GET') return undefined
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
      send(reply, await answer(services, { fullPath, named }, request, reply))
  }
}

function text(status: number, words: string): Answer {
  return new Answer(status, { 'content-type': 'text/plain' }, words)
}

const missing = text(404, 'Not found\n')

async function answer(
  services: RawServices,
  { fullPath, named }: { readonly fullPath: string; readonly named: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Answer> {
  const { settings, counts, externalUrl } = services
  const entered = await enterFrom(services, fullPath, request)
  if (entered === undefined) return missing
  const { actor, project } = entered
  const { allowed } = decide(actor, 'read_code', project)
  if (!allowed && actor.user === null) return new Answer(302, { location: `${externalUrl()}/users/sign_in` })
  if (!allowed) return missing
  const most = settings.values.raw_blob_request_limit
  if (most > 0 && counts.add('raw_blob_request_limit', `${project.id} ${named}`, 60).count > most) {
    return text(429, tooMany)
  }
  const repository = await readable(services.places, project)
  const found = repository && (await findNamed(services, repository, project, named))
  if (repository === undefined || found === undefined) return missing
  const { oid, size, path } = found
  return rawAnswer({ repository, oid, size }, requestFacts(request, reply), {
    'content-disposition': contentDisposition('inline', path.slice(path.lastIndexOf('/') + 1)),
  })
}

/** Who looks, by the session of the browser or a token; whoever may not come in is nobody. */
async function enterFrom(
  { db, settings, externalUrl }: RawServices,
  fullPath: string,
  request: FastifyRequest,
): Promise<{ actor: Actor; project: ProjectSubject } | undefined> {
  const credentials = pageCredentials(request.headers, settings.values)
  const lookup = { id: fullPath, secretDigest: undefined }
  const { actor, token, subject } = await enter<ProjectSubject>(db, projectKind, credentials, lookup)
  if (actor === undefined || subject === undefined) return undefined
  if (token !== undefined && !isTokenUsable(token)) return undefined
  if (actor.token !== null && !actor.token.scopes.some((scope) => scopes.has(scope))) return undefined
  const house = { values: settings.values, externalUrl: externalUrl() }
  if (actor.user !== null && entryProblem(actor.user, house) !== undefined) return undefined
  return { actor, project: subject }
}

const scopes: ReadonlySet<string> = new Set(['api', 'read_api', 'read_repository'])

/** `feature/x/docs/a.md`: names of branches and tags have slashes, too, and the longest one counts. */
async function findNamed(
  { places }: RawServices,
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

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
