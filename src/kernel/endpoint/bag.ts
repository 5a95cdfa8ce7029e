import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { invalidParameters, tooLarge, unsupportedContentType } from '../errors/index.ts'
import type { Endpoint } from './endpoint.ts'
import { isUnfit, jsonTooLarge, parseJson } from './json-body.ts'
import { readMultipart, type MultipartOptions } from './multipart.ts'
import { mergeParams, parseQuery } from './nested-params.ts'

/**
 * Bytes of a JSON body or form; files of a multipart form have limits of their own. Pages of wikis and files of snippets
 * of 50 MiB have room in it, as their settings allow, and longer ones get to where they are refused by these.
 */
export const bodyLimit = 64 * 1024 * 1024

type Bag = Record<string, unknown>

/** One bag of all that was sent: the path wins over the query, the query over the body. */
export async function readBag(
  endpoint: Endpoint,
  request: IncomingMessage,
  path: Readonly<Record<string, string>>,
  query: string,
): Promise<Bag> {
  for (const [name, value] of Object.entries(path)) {
    if (isUnfit(value)) throw invalidParameters([`${name} is invalid`])
  }
  const queried = query === '' ? {} : parseQuery(query)
  if (endpoint.body === 'stream' || !hasBody(request)) return mergeParams(path, queried)
  return mergeParams(path, queried, await readBody(endpoint, request))
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

async function readBody({ method, plainText, takeFile }: Endpoint, request: IncomingMessage): Promise<Bag> {
  const form = await readForm(request, { takeFile, fieldBytes: bodyLimit })
  if (form !== undefined) return form
  // A body on a GET or DELETE is nobody's concern; elsewhere it must be something that can be read.
  if (method === 'GET' || method === 'DELETE') return {}
  if (plainText === true && typeOf(request) === 'text/plain') return {}
  throw unsupportedContentType(request.headers['content-type'] ?? '')
}

function typeOf({ headers }: Sent): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
}

type Sent = Readable & { readonly headers: IncomingHttpHeaders }

/** What a body holds, of whichever type it is of those that are read; undefined for others. */
export async function readForm(request: Sent, options: MultipartOptions): Promise<Bag | undefined> {
  switch (typeOf(request)) {
    case 'application/json':
      return parseJson(await readWhole(request, jsonTooLarge))
    case 'application/x-www-form-urlencoded':
      return parseQuery((await readWhole(request, tooLarge)).toString('latin1'))
    case 'multipart/form-data':
      return readMultipart(request, options)
    default:
      return undefined
  }
}

async function readWhole(request: Sent, refusal: () => Error): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw refusal()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bodyLimit) throw refusal()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
}
