import type { FastifyRequest } from 'fastify'

/** Browsers say from whose page a request comes. */
export function isOwnPage({ headers, host }: FastifyRequest): boolean {
  if (headers['sec-fetch-site'] !== undefined && headers['sec-fetch-site'] !== 'same-origin') {
    return headers['sec-fetch-site'] === 'none'
  }
  return headers.origin === undefined || URL.parse(headers.origin)?.host === host
}
