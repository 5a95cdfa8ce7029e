/** Schemes that run what they are given, or show it as if it were ours. */
const dangerous: ReadonlySet<string> = new Set([
  'data:',
  'vbscript:',
  'javascript:',
  'blob:',
  'file:',
  'about:',
])
/** Only on these, which no other machine can be, does an address change its port between registration and use. */
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]'])

/** What is wrong with an address that users of an application are to be sent back to; undefined when nothing is. */
export function redirectFault(uri: string): string | undefined {
  const parsed = URL.parse(uri)
  if (parsed === null)
    return /^[a-z][a-z0-9+.-]*:/i.test(uri) ? 'must be a valid URI.' : 'must be an absolute URI.'
  if (dangerous.has(parsed.protocol)) return 'is forbidden by the server.'
  if (parsed.hash !== '' || uri.endsWith('#')) return 'cannot contain a fragment.'
  return undefined
}

/** The addresses in a text, one a line. */
export function urisIn(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((uri) => uri !== ''))]
}

/** Whether a user may be sent back to an address that was asked for: one that is registered, letter by letter. */
export function isRegistered(registered: readonly string[], asked: string): boolean {
  return registered.includes(asked) || registered.some((uri) => isOnAnotherPort(uri, asked))
}

/** Programs of the user's own machine listen where there is room (RFC 8252, 7.3). */
function isOnAnotherPort(registered: string, asked: string): boolean {
  const [one, other] = [URL.parse(registered), URL.parse(asked)]
  if (one === null || other === null || one.protocol !== 'http:' || !loopback.has(one.hostname)) return false
  one.port = ''
  other.port = ''
  return one.href === other.href
}

/** An address with more in its query. */
export function withQuery(uri: string, query: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return url.href
}

/** Where a form may lead to, for the policy of the page that it stands on. */
export function formTarget(uri: string): string {
  const { protocol, origin } = new URL(uri)
  return origin === 'null' ? protocol : origin
}
