import type { IncomingMessage } from 'node:http'

/** The body of a request that is not large, whole. Undefined for one of more than `most` bytes. */
export async function readSmallBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  // What says that it is too large is not read at all.
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined
  return readSmall(request, most)
}

/** What comes, whole. Undefined for more than `most` bytes. */
export async function readSmall(body: AsyncIterable<unknown>, most: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Undefined for what is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** What is no object has no fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
