/** Images are named by paths, of which the registry itself says what is one. */
const ofRegistry = /^\/v2(?:\/|$)/

/** The address with one slash where clients that put addresses together sent several; the query stays as it is. */
export function withOneSlash(url: string): string {
  if (!url.includes('//')) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  // With scheme and host, as for a proxy, the slashes there are none of the path.
  if (!path.startsWith('/') || ofRegistry.test(path)) return url
  return path.replaceAll(/\/{2,}/g, '/') + url.slice(path.length)
}
