import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import mime from 'mime'
import type { Blobs } from '../../blobs/index.ts'
import { Answer } from '../../kernel/endpoint/index.ts'
import { matchesEtag } from '../../kernel/endpoint/headers.ts'
import { html } from '../../kernel/pages/index.ts'
import { byteRange } from '../repository/index.ts'
import type { ServedFile } from './choose.ts'

interface Asked {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** A file of a site. `open`: everybody may read it, and keep it for a while. */
export function fileAnswer(
  content: Blobs,
  file: ServedFile,
  { method, headers: asked }: Asked,
  { status = 200, open }: { readonly status?: 200 | 404; readonly open: boolean },
): Answer {
  const etag = `"${file.digest}"`
  const headers = {
    ...keeping(open),
    etag,
    'content-type': typeOf(file.path),
    'content-length': String(file.size),
    'accept-ranges': 'bytes',
  }
  if (status === 200 && matchesEtag(asked['if-none-match'], etag))
    return new Answer(304, { ...keeping(open), etag })
  // With a body that is a stream the length is what the header says.
  if (method === 'HEAD') return new Answer(status, headers, Readable.from([]))
  // A part of an older file is of no use: `If-Range` names the one that the rest was of.
  const ranged = status === 200 && (asked['if-range'] === undefined || asked['if-range'] === etag)
  const range = ranged ? byteRange(asked['range'], file.size) : undefined
  if (range === 'unsatisfiable') return new Answer(416, { 'content-range': `bytes */${file.size}` })
  if (file.size === 0) return new Answer(status, headers, Buffer.alloc(0))
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  const body = content.read(file.content, { start: file.start + start, end: file.start + end })
  if (range === undefined) return new Answer(status, headers, body)
  return new Answer(
    206,
    {
      ...headers,
      'content-length': String(end - start + 1),
      'content-range': `bytes ${start}-${end}/${file.size}`,
    },
    body,
  )
}

/** Others than the reader keep only what is everybody's; pages of other origins may read that, too. */
function keeping(open: boolean): Record<string, string> {
  return open
    ? { 'cache-control': 'public, max-age=600', 'access-control-allow-origin': '*' }
    : { 'cache-control': 'private, no-cache' }
}

function typeOf(path: string): string {
  const type = mime.getType(path) ?? 'application/octet-stream'
  return /^text\/|[+/](?:javascript|json|xml)$/.test(type) ? `${type}; charset=utf-8` : type
}

export function missingAnswer(): Answer {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>404</title>
      </head>
      <body>
        <h1>404</h1>
        <p>There is no page at this address.</p>
      </body>
    </html> `
  return new Answer(
    404,
    { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    page.text,
  )
}

export function sentOn(location: string, cookie?: string): Answer {
  return new Answer(302, {
    location,
    'cache-control': 'no-store',
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  })
}
