import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../kernel/errors/index.ts'
import { readForm } from '../sessions/index.ts'
import { OAuthError } from './refusal.ts'
import type { Form } from './visitor.ts'

/** Answers a form with JSON, which nobody keeps; a refusal of OAuth in its own form. */
export async function answerOAuth(
  request: FastifyRequest,
  reply: FastifyReply,
  handle: (form: Form) => Promise<object>,
): Promise<FastifyReply> {
  try {
    const form = await readForm(request.raw)
    if (form === undefined) throw new OAuthError('invalid_request', 'The form could not be read.')
    return await sendJson(reply, 200, await handle(form))
  } catch (error) {
    if (error instanceof OAuthError) return sendRefusal(reply, error)
    // One too many from this address; the rest is not of OAuth.
    if (error instanceof ApiError && error.status === 429) {
      return sendRefusal(reply, new OAuthError('slow_down', 'Retry later', 429))
    }
    throw error
  }
}

export function sendRefusal(reply: FastifyReply, { code, message, status }: OAuthError): FastifyReply {
  if (status === 401) void reply.header('www-authenticate', `Bearer realm="Guildhall", error="${code}"`)
  return sendJson(reply, status, { error: code, error_description: message })
}

export function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' })
    .send(Buffer.from(JSON.stringify(body)))
}
