import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isOpenSite, readsSite } from '../../access/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import { Answer, send } from '../../kernel/endpoint/index.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { hasControlCharacters } from '../../kernel/lib/control-characters.ts'
import type { SiteHost } from './addresses.ts'
import { fileAnswer, missingAnswer, sentOn } from './answer.ts'
import { choose } from './choose.ts'
import { passPath, sendToEntrance, takePass, visitorOf } from './entrance.ts'
import { findSite, type FoundSite } from './find-site.ts'
import type { SiteServices } from './index.ts'

export interface ServeServices extends SiteServices {
  readonly content: Blobs
}

/** Answers all requests for hosts of sites; nothing of the service itself is there, and no site is where the service is. */
export function mountSites(server: FastifyInstance, services: ServeServices): void {
  const { sites } = services
  if (sites.host === undefined) return
  server.addHook('onRequest', async (request, reply) => {
    const host = request.hostname.toLowerCase()
    if (isOurs(services, host)) return
    const site = sites.siteOf(host)
    const answer = site === undefined ? missingAnswer() : await answerOf(services, site, host, request)
    if (answer === undefined) return
    nameRequest('look at a site')
    // What a request brings is not read.
    if (!request.raw.complete && request.method !== 'GET') void reply.header('connection', 'close')
    return send(reply, answer)
  })
}

/** By the name that people know, or one that no site can have. */
function isOurs({ externalUrl }: SiteServices, host: string): boolean {
  return (
    host === new URL(externalUrl()).hostname ||
    isIP(host.replaceAll(/[[\]]/g, '')) !== 0 ||
    !host.includes('.')
  )
}

/** Undefined: the host is of no site, and may be another name of the service. */
async function answerOf(
  services: ServeServices,
  site: SiteHost,
  host: string,
  request: FastifyRequest,
): Promise<Answer | undefined> {
  const { sites } = services
  const { pathname, search, path } = partsOf(request.originalUrl)
  const found =
    path === undefined
      ? undefined
      : await findSite(services, visitorOf(services, host, request.headers), site, path, request.ip)
  if (found === undefined) return site.kind === 'domain' ? undefined : missingAnswer()
  if (request.method !== 'GET' && request.method !== 'HEAD') return new Answer(405, { allow: 'GET, HEAD' })
  const { project } = found
  const here = `${sites.origin(host)}${pathname}`
  if (
    request.headers['x-forwarded-proto'] === 'http' &&
    request.protocol === 'http' &&
    sites.forcesHttps(project)
  )
    return sentOn(`${here}${search}`)
  const open = isOpenSite(project)
  if (site.kind === 'namespace') {
    if (!open) return missingAnswer()
    if (sites.isUnique(project))
      return sentOn(
        `${sites.urlOf(project)}/${insideOf(found).split('/').map(encodeURIComponent).join('/')}${search}`,
      )
  } else if (!open && pathname === passPath) {
    return takePass(services, host, request.headers, new URLSearchParams(search))
  }
  if (!readsSite(found.actor, project)) {
    return found.actor.user === null
      ? sendToEntrance(services, host, `${pathname}${search}`)
      : missingAnswer()
  }
  return fileOf(services, found, request, { here, search, open })
}

async function fileOf(
  { content }: ServeServices,
  { files }: FoundSite,
  request: FastifyRequest,
  { here, search, open }: { readonly here: string; readonly search: string; readonly open: boolean },
): Promise<Answer> {
  const choice = choose(files, here.endsWith('/'))
  if (choice.kind === 'folder') return sentOn(`${here}/${search}`)
  const file = choice.kind === 'file' ? choice.file : choice.page
  // Another deployment may have taken its place since.
  if (file === undefined || !(await content.has(file.content))) return missingAnswer()
  return fileAnswer(content, file, request, { status: choice.kind === 'file' ? 200 : 404, open })
}

/** `path`: decoded, without the first slash; undefined where it names nothing. */
function partsOf(url: string): { pathname: string; search: string; path: string | undefined } {
  const at = url.indexOf('?')
  const [pathname, search] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)]
  return { pathname, search, path: pathname.startsWith('/') ? decoded(pathname.slice(1)) : undefined }
}

function decoded(path: string): string | undefined {
  try {
    const text = decodeURIComponent(path)
    return text.length > 4096 || hasControlCharacters(text) || !text.isWellFormed() ? undefined : text
  } catch {
    return undefined
  }
}

function insideOf({ files }: FoundSite): string {
  return files.find(({ path_prefix }) => path_prefix === '')?.inside ?? ''
}
