import type { Client, Reply } from './client.ts'
import type { Json } from './world.ts'

/** Sends a query as clients of GraphQL do. */
export function sendQuery(
  by: Client,
  query: string,
  variables: Json = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return by.post(`${by.base}/api/graphql`, { query, variables }, headers)
}

/** What a query finds; there must be no errors. */
export async function data(by: Client, query: string, variables: Json = {}): Promise<Json> {
  const reply = await sendQuery(by, query, variables)
  const { data: found, errors } = reply.body as { data?: Json; errors?: unknown }
  if (reply.status !== 200 || errors !== undefined || found === undefined)
    throw new Error(`expected data, got ${reply.status}: ${reply.text}`)
  return found
}

/** The texts of the errors that a query is answered with; the status must be 200. */
export async function errors(by: Client, query: string, variables: Json = {}): Promise<string[]> {
  const reply = await sendQuery(by, query, variables)
  if (reply.status !== 200) throw new Error(`expected 200, got ${reply.status}: ${reply.text}`)
  return ((reply.body as Json)['errors'] as Json[] | undefined)?.map(({ message }) => message as string) ?? []
}
