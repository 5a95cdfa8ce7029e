import type { Reply } from './client.ts'
import type { Json } from './world.ts'

/** What an answer holds: one thing. */
export function bodyOf(reply: Reply): Json {
  return reply.body as Json
}

/** What an answer holds: a list of things. */
export function rowsOf(reply: Reply): Json[] {
  return reply.body as Json[]
}
