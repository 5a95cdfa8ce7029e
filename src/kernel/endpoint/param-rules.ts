import type { ParamRules } from './types.ts'

/** A parameter's name within the one that holds it: `key`, `variables[0][key]`. */
export function nameOf(prefix: string, key: string): string {
  return prefix === '' ? key : `${prefix}[${key}]`
}

type Bag = Readonly<Record<string, unknown>>
export type Rule = (bag: Bag, prefix: string, faults: string[]) => void

/** The relations as checks, in the order exclusive, at least one, exactly one. */
export function compileRules({
  mutuallyExclusive = [],
  atLeastOneOf = [],
  exactlyOneOf = [],
}: ParamRules): Rule[] {
  const names = (keys: readonly string[], prefix: string) => keys.map((key) => nameOf(prefix, key)).join(', ')
  const sent = (keys: readonly string[], bag: Bag) =>
    keys.filter((key) => Object.hasOwn(bag, key) && bag[key] !== undefined)
  const exclusive = (keys: readonly string[]): Rule => {
    return (bag, prefix, faults) => {
      const several = sent(keys, bag)
      if (several.length > 1) faults.push(`${names(several, prefix)} are mutually exclusive`)
    }
  }
  const needed = (keys: readonly string[], number: string): Rule => {
    return (bag, prefix, faults) => {
      if (sent(keys, bag).length > 0) return
      faults.push(`${names(keys, prefix)} are missing, ${number} parameter must be provided`)
    }
  }
  return [
    ...mutuallyExclusive.map(exclusive),
    ...atLeastOneOf.map((keys) => needed(keys, 'at least one')),
    ...exactlyOneOf.flatMap((keys) => [needed(keys, 'exactly one'), exclusive(keys)]),
  ]
}
