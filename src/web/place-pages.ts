import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Elsewhere } from '../kernel/endpoint/index.ts'
import { html, pageHeaders } from '../kernel/pages/index.ts'
import type { PageOptions } from './index.ts'
import { placeAt } from './places.ts'
import { scriptedPage } from './scripted-page.ts'

const headers = {
  ...pageHeaders(["'self'"], [], true),
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  vary: 'accept',
}

/**
 * Answers browsers with the page of the place that an address names, and programs with nothing. The page is the same for
 * everybody, and for places that are not there: it says which script to run, which asks the API.
 */
export function placePages({
  detour,
  joinsCohorts,
}: Pick<PageOptions, 'detour' | 'joinsCohorts'>): Elsewhere {
  return (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    if (!wantsPage(request.headers.accept)) return undefined
    const [path = ''] = request.url.split('?', 1)
    const found = placeAt(path.replace(/(?:\.git)?\/?$/, ''))
    const named = found && decoded(found.named)
    return named && send(request, reply, { script: `places/${found.value}.js`, named, depth: depthOf(path) })
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    { script, named, depth }: { script: string; named: Readonly<Record<string, string>>; depth: number },
  ): Promise<FastifyReply> {
    const elsewhere = await detour(request.headers)
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 302)
    const root = depth === 0 ? '.' : Array<string>(depth).fill('..').join('/')
    const styles = html`<link rel="stylesheet" href="${root}/-/assets/places.css" />`
    const page = await scriptedPage({ root, script, named, head: styles })
    if (!joinsCohorts()) void reply.header('permissions-policy', 'interest-cohort=()')
    return reply.code(200).headers(headers).send(page.text)
  }
}

function wantsPage(accept = ''): boolean {
  return accept.split(',').some((one) => /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/.test(one))
}

/** How many folders deep an address lies. */
const depthOf = (path: string): number => path.split('/').length - 2

/** Undefined where a part cannot be decoded. */
function decoded(named: Readonly<Record<string, string>>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(Object.entries(named).map(([name, text]) => [name, decodeURIComponent(text)]))
  } catch {
    return undefined
  }
}
