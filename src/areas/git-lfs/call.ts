import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseJson } from '../../kernel/endpoint/json-body.ts'
import { GitRefusal } from '../git-http/index.ts'
import type { Admitted } from './admission.ts'
import type { LfsServices } from './index.ts'

/** One request about large files, from somebody who was let in. */
export interface LfsRequest extends Admitted {
  readonly services: LfsServices
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Of the large files of the repository, without a slash at the end. */
  readonly base: string
}

export const mediaType = 'application/vnd.git-lfs+json'

export function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .header('content-type', mediaType)
    .send(Buffer.from(JSON.stringify(body)))
}

/** Bytes; a question about ten thousand objects has less. */
const longestQuestion = 4 * 1024 * 1024

/** The JSON object of a body. */
export async function readQuestion(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > longestQuestion) throw new GitRefusal(413, 'The question is too long.')
    chunks.push(chunk)
  }
  return parseJson(Buffer.concat(chunks))
}
