/** A NUL, which no parameter takes. */
const unreadable = '%00'

/**
 * An address of the API with a NUL for each segment of the path that is no text: so the endpoint that it leads to is
 * found, and refuses the parameter by its name; where it leads to none, that is told. Others are refused as a whole.
 */
export function withReadablePath(url: string): string {
  if (!url.startsWith('/api/') || !url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (isReadable(path)) return url
  const segments = path.split('/').map((segment) => (isReadable(segment) ? segment : unreadable))
  return segments.join('/') + url.slice(path.length)
}

function isReadable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
