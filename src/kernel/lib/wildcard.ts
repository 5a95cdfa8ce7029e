/**
 * Whether all of `text` fits `pattern`, where `*` stands for any run of characters (also `/`, also none) and nothing
 * else is special. Linear in the length of the text for each star: a pattern cannot make it run long.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [head, ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === text
  const tail = rest.pop()!
  if (text.length < head!.length + tail.length || !text.startsWith(head!) || !text.endsWith(tail))
    return false
  let at = head!.length
  const end = text.length - tail.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
