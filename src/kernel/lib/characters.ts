/* Limits of texts are in characters, of which some are two units of a JavaScript text. */

export function isLonger(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || Array.from(text).length > limit)
}

/** The first so many characters, none of them cut in two. */
export function cutTo(text: string, limit: number): string {
  if (text.length <= limit) return text
  return Array.from(text.slice(0, 2 * limit))
    .slice(0, limit)
    .join('')
}
