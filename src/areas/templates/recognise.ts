import { licenseNames, readLicense } from './licenses.ts'

/** The share of their pairs of words that two texts of one license have in common, at the least. */
const likeness = 0.95

let known: readonly { readonly key: string; readonly pairs: ReadonlySet<string> }[] | undefined

/** The license that a text is, whoever holds the copyright and however its lines are broken; undefined: none we know. */
export function recogniseLicense(text: string): string | undefined {
  known ??= licenseNames().map(({ key }) => ({ key, pairs: pairsOf(readLicense(key) ?? '') }))
  const pairs = pairsOf(text)
  let best: { key: string; share: number } | undefined
  for (const one of known) {
    const share = shared(pairs, one.pairs)
    if (share >= likeness && share > (best?.share ?? 0)) best = { key: one.key, share }
  }
  return best?.key
}

/** Pairs of words that follow each other, without the lines that name the holder of the copyright. */
function pairsOf(text: string): Set<string> {
  const words = text
    .split('\n')
    .filter((line) => !/^\W*(copyright\b|\(c\)|©)/i.test(line))
    .join('\n')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  const pairs = new Set<string>()
  words?.forEach((word, at) => at > 0 && pairs.add(`${words[at - 1]!} ${word}`))
  return pairs
}

function shared(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0
  let both = 0
  for (const pair of one) if (other.has(pair)) both += 1
  return (2 * both) / (one.size + other.size)
}
