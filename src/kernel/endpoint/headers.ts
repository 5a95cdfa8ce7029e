import { hash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import mime from 'mime'

/** What every answer carries (conventions, 1.14). */
export function commonHeaders(requestId: string, startedAt: number): Record<string, string> {
  return {
    'x-request-id': requestId,
    'x-runtime': ((performance.now() - startedAt) / 1000).toFixed(6),
    vary: 'Origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'cache-control': 'max-age=0, private, must-revalidate',
    'x-gitlab-meta': `{"correlation_id":"${requestId}","version":"1"}`,
  }
}

/** An incoming id is kept when it is of a safe form. */
export function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && /^[\w.-]{1,100}$/.test(sent) ? sent : randomUUID()
}

export function weakEtag(body: string): string {
  return `W/"${hash('sha1', body, 'base64url')}"`
}

/** Whether one of the tags of `If-None-Match` is this one; weak and strong spellings are the same here. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const plain = (tag: string): string => tag.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((tag) => plain(tag) === plain(etag))
}

const json = /^(?:\*|\*\/\*|application\/\*|application\/(?:[^/]+\+)?json)$/

/** The format that a caller wants, of those whose `Accept` leaves no room for JSON. */
export function formatBesidesJson(accept: string | undefined): string | undefined {
  if (accept === undefined) return undefined
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]!.trim().toLowerCase())
  const [first] = ranges.filter((range) => range.includes('/'))
  if (first === undefined || ranges.some((range) => json.test(range))) return undefined
  return mime.getExtension(first) ?? first.slice(0, 100)
}

const exposed = [
  'Link',
  'X-Total',
  'X-Total-Pages',
  'X-Per-Page',
  'X-Page',
  'X-Next-Page',
  'X-Prev-Page',
  'X-Request-Id',
  'ETag',
  'Poll-Interval',
  ...[
    'Blob-Id',
    'Commit-Id',
    'Content-Sha256',
    'Encoding',
    'File-Name',
    'File-Path',
    'Last-Commit-Id',
    'Ref',
    'Size',
  ].map((name) => `X-Gitlab-${name}`),
].join(', ')

/** Any origin may call the API, without credentials of the browser; our own origin also with them. */
export function corsHeaders(origin: string, own: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin === own ? own : '*',
    ...(origin === own && { 'access-control-allow-credentials': 'true' }),
    'access-control-expose-headers': exposed,
  }
}

export function preflightHeaders(requestedHeaders: string | undefined): Record<string, string> {
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-allow-headers': requestedHeaders ?? '*',
    'access-control-max-age': '7200',
  }
}
