export interface Trailer {
  readonly key: string
  readonly value: string
}

const trailerLine = /^([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)$/
const generated = /^(?:Signed-off-by: |\(cherry picked from commit )/

/**
 * The trailers of a commit message, by the rules of git-interpret-trailers(1): they stand in the last paragraph,
 * which must not be the first, and which is made of trailers only, or of a quarter of them with one that git wrote.
 */
export function parseTrailers(message: string): Trailer[] {
  const lines = message.replace(/\s+$/, '').split('\n')
  let start = lines.length
  while (start > 0 && lines[start - 1]!.trim() !== '') start--
  // A message of one paragraph is a title, never a block of trailers.
  if (lines.slice(0, start).every((line) => line.trim() === '')) return []

  const trailers: { key: string; value: string }[] = []
  let others = 0
  let byGit = false
  let last: { key: string; value: string } | undefined
  let continues = false
  for (const line of lines.slice(start)) {
    if (line.startsWith('#')) continue
    if (/^[ \t]/.test(line)) {
      if (last !== undefined) last.value += ` ${line.trim()}`
      else if (!continues) others++
      continue
    }
    last = undefined
    continues = false
    if (generated.test(line)) byGit = true
    const found = trailerLine.exec(line)
    if (found !== null) {
      last = { key: found[1]!, value: found[2]!.trim() }
      trailers.push(last)
    } else if (generated.test(line)) {
      continues = true
    } else {
      others++
    }
  }
  const counted = trailers.length + (byGit && trailers.length === 0 ? 1 : 0)
  if (others > 0 && !(byGit && counted * 3 >= others)) return []
  return trailers
}
