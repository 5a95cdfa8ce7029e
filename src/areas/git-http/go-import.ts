import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from '../../kernel/db/index.ts'
import { html, pageHeaders, type Html } from '../../kernel/pages/index.ts'
import { cloneRoot } from '../projects/index.ts'
import { admitByAnyProtocol, type AdmissionServices } from './admission.ts'
import { readLogin } from './login.ts'
import { GitRefusal } from './refusal.ts'

export interface GoServices extends AdmissionServices {
  readonly sshPlace: () => { readonly host: string; readonly port: number }
}

const segment = /^[\p{L}\p{N}_.][\p{L}\p{N}_.-]*$/u
/** Groups in groups, and the project. */
const deepest = 21
const longest = 2048

/** The path that the `go` command asks about as a module or a package in one; undefined for other requests. */
export function goPackage(path: string, query: URLSearchParams): readonly string[] | undefined {
  if (query.get('go-get') !== '1' || path.length > longest) return undefined
  const parts = decoded(path).slice(1).split('/')
  const end = parts.findIndex((part) => !segment.test(part))
  const named = end === -1 ? parts : parts.slice(0, end)
  return named.length < 2 ? undefined : named.slice(0, deepest)
}

/**
 * Tells the `go` command which repository a package is in: the project that the path begins with. Who may not know of
 * that project gets the first two parts of the path, as who asks for nothing that is there; so either looks the same, and
 * a private project right in its group is found by git with its own credentials.
 */
export async function sendGoImport(
  services: GoServices,
  parts: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const guess = parts.slice(0, 2).join('/')
  const known = await knownPath(services, parts, guess, request)
  return reply
    .code(known === undefined ? 404 : 200)
    .headers({ ...pageHeaders(["'none'"]), 'content-type': 'text/html; charset=utf-8' })
    .header('cache-control', 'private, no-store')
    .send(known === undefined ? 'Not found\n' : pageOf(services, known).text)
}

function pageOf(services: GoServices, fullPath: string): Html {
  const url = services.externalUrl()
  const module = `${url.slice(url.indexOf('://') + 3)}/${fullPath}`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="go-import" content="${module} git ${repositoryUrl(services, fullPath)}" />
        <title>${module}</title>
      </head>
      <body>
        go get ${module}
      </body>
    </html> `
}

/** As it is cloned; the `go` command takes no address without a scheme. */
function repositoryUrl({ settings, externalUrl, sshPlace }: GoServices, fullPath: string): string {
  const { values } = settings
  if (values.enabled_git_access_protocol !== 'ssh')
    return `${cloneRoot(values, externalUrl())}/${fullPath}.git`
  const { host, port } = sshPlace()
  return `ssh://git@${host}${port === 22 ? '' : `:${port}`}/${fullPath}.git`
}

/** The path of the project, or the guess; undefined for credentials that are none. */
async function knownPath(
  services: GoServices,
  parts: readonly string[],
  guess: string,
  { headers, ip }: FastifyRequest,
): Promise<string | undefined> {
  const login = readLogin(headers.authorization)
  const fullPath = (await projectAbove(services, parts)) ?? guess
  try {
    // Asked in any case: a wrong password is told in the same way wherever it is shown.
    const { target } = await admitByAnyProtocol(services, login, { fullPath, address: ip }, 'git-upload-pack')
    return target.project?.fullPath ?? guess
  } catch (error) {
    if (!(error instanceof GitRefusal)) throw error
    return error.status === 401 && login !== undefined ? undefined : guess
  }
}

/** The full path of the project that a path begins with; there is no more than one. */
async function projectAbove(
  { db }: Pick<GoServices, 'db'>,
  parts: readonly string[],
): Promise<string | undefined> {
  const paths = parts.map((_, index) =>
    parts
      .slice(0, index + 1)
      .join('/')
      .toLowerCase(),
  )
  const { rows } = await sql<{ full_path: string }>`
    select p.full_path from routes r join projects p on p.id = r.project_id
    where r.path_key = any (${paths.slice(1)}::text[]) and not r.redirect`.execute(db.reader)
  return rows[0]?.full_path
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
