/** Beyond it nobody mistyped a key. */
const longest = 40

/**
 * The known word that was probably meant: one slip away, or two in a long word (a letter too many, too few, another, or
 * two swapped). Undefined when none is near.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > longest) return undefined
  const plain = word.toLowerCase().replaceAll('-', '_')
  let best: { word: string; slips: number } | undefined
  for (const one of known) {
    const most = one.length < 4 ? 0 : one.length < 8 ? 1 : 2
    if (Math.abs(one.length - plain.length) > most) continue
    const slips = distance(plain, one)
    if (slips <= most && slips < (best?.slips ?? Infinity)) best = { word: one, slips }
  }
  return best?.word
}

/** Optimal string alignment: neighbours that changed places count once. */
function distance(from: string, to: string): number {
  let [before, above]: number[][] = [[], Array.from({ length: to.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let least = Math.min(above![j]! + 1, row[j - 1]! + 1, above![j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (swapped) least = Math.min(least, before![j - 2]! + 1)
      row.push(least)
    }
    ;[before, above] = [above, row]
  }
  return above![to.length]!
}
