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

/** An answer with what it holds under both names, to be taken apart at once. */
export async function answerOf(
  reply: Promise<Reply>,
): Promise<Omit<Reply, 'body'> & { readonly body: Json; readonly rows: Json[] }> {
  const answer = await reply
  return { ...answer, body: bodyOf(answer), rows: rowsOf(answer) }
}
