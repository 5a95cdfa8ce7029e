import type { Json } from './world.ts'

const tokens = (value: unknown): string[] =>
  (typeof value === 'string' ? value : '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean)

/** How well a document fits a query of a search cluster; undefined: it does not. */
export function score(query: Json, source: Json): number | undefined {
  const [kind, of] = Object.entries(query)[0] as [string, Json]
  const [field = '', value] = Object.entries(of)[0] ?? []
  const stored: unknown = source[field.replace(/\.exact$/, '')]
  const fits = (is: boolean): number | undefined => (is ? 0 : undefined)
  switch (kind) {
    case 'bool': {
      const all = [of['filter'], of['must'], of['must_not'], of['should']].map((one) => (one ?? []) as Json[])
      const [filter, must, not, should] = all.map((some) => some.map((one) => score(one, source)))
      if ([...filter!, ...must!].includes(undefined) || not!.some((one) => one !== undefined))
        return undefined
      if (should!.length > 0 && should!.every((one) => one === undefined)) return undefined
      return must!.reduce<number>((sum, one) => sum + one!, 0)
    }
    case 'term':
      return fits(stored === value)
    case 'terms':
      return fits((value as unknown[]).includes(stored))
    case 'exists':
      return fits((source[value as string] ?? undefined) !== undefined)
    case 'wildcard': {
      const { value: pattern, case_insensitive: any } = value as { value: string; case_insensitive?: boolean }
      const expression = pattern.replace(/[.+^${}()|[\]]/g, '\\$&').replaceAll('*', '.*')
      return fits(new RegExp(`^${expression}$`, any === true ? 'i' : '').test(String(stored)))
    }
    case 'simple_query_string':
      return wordsScore(of, source)
    default:
      throw new Error(`no such query: ${kind}`)
  }
}

/** Of the operators it knows `"a b"`, `-a`, `a*` and, between words, `|`. */
function wordsScore({ query, fields }: Json, source: Json): number | undefined {
  const texts = (fields as string[]).map((field) => {
    const [name, boost = '1'] = field.split('^')
    return { words: ` ${tokens(source[name!]).join(' ')} `, boost: Number(boost) }
  })
  const one = (part: string): number => {
    const phrase = tokens(part).join(' ')
    const end = part.endsWith('*') ? '' : ' '
    return texts.reduce((sum, { words, boost }) => sum + (words.includes(` ${phrase}${end}`) ? boost : 0), 0)
  }
  const choices = (query as string).split('|').map((choice) => {
    const parts = choice.match(/-?"[^"]*"?|[^\s"]+/g) ?? []
    const scores = parts
      .filter((part) => tokens(part).length > 0)
      .map((part) => [part, one(part.replace(/^-/, ''))] as const)
    if (scores.some(([part, found]) => part.startsWith('-') === found > 0)) return undefined
    return scores.reduce((sum, [, found]) => sum + found, 0)
  })
  const found = choices.filter((choice) => choice !== undefined)
  return found.length === 0 ? undefined : Math.max(...found)
}
