import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Content, Uploads } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Caller } from './authorize.ts'
import type { Tokens } from './tokens.ts'

export interface RegistryServices {
  readonly db: Database
  readonly log: Logger
  readonly externalUrl: () => string
  readonly content: Content
  readonly uploads: Uploads
  readonly tokens: Tokens
}

/** One request below `/v2/`. */
export interface RegistryCall {
  readonly services: RegistryServices
  readonly caller: Caller
  readonly query: URLSearchParams
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly method: string
}

/** What never changes under its name may be kept for ever. */
export const immutable = 'private, max-age=31536000'

/** Bytes, since Fastify adds a charset to the content type of a text. */
export function sendJson(
  reply: FastifyReply,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  return reply
    .headers({ 'content-type': 'application/json', ...headers })
    .send(Buffer.from(JSON.stringify(body)))
}

/** The link to what follows on a list, with the same parameters. */
export function nextLink(path: string, params: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `<${path}?${new URLSearchParams(given).toString()}>; rel="next"`
}
