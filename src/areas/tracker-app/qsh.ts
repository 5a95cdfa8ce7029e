import { hash } from 'node:crypto'

/** In tokens that stand for a person, and for no one request. */
export const contextQsh = 'context-qsh'

/**
 * The claim `qsh` of a request, by which a token is good for that alone: a digest of its method, of its path below
 * the address of the app or of the tracker, and of its query but for the token itself.
 */
export function queryStringHash(method: string, path: string, query = new URLSearchParams()): string {
  const names = [...new Set(query.keys())].filter((name) => name !== 'jwt').toSorted()
  const pairs = names.map(
    (name) => `${encoded(name)}=${query.getAll(name).map(encoded).toSorted().join(',')}`,
  )
  const canonical = [method.toUpperCase(), path.replace(/\/+$/, '') || '/', pairs.join('&')].join('&')
  return hash('sha256', canonical, 'hex')
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
