import { components } from '../graph/components.ts'
import { pipelineText } from '../messages.ts'
import type { Variable } from '../types.ts'
import { mergeVariables } from './merge.ts'

/** `$$` and `%%` are escapes for the shell and stay; then `$NAME`, `${NAME}`, `%NAME%`. */
const reference = /\$\$|%%|\$(\w+)|\$\{(\w+)\}|%(\w+)%/g
/** Characters that all values together may grow to. */
const largest = 4 * 1024 * 1024

export type Lookup = (key: string) => Variable | undefined

/** Puts values in for references, once; unknown ones stay, and so do those to files, which only the runner knows. */
export function replaceReferences(text: string, lookup: Lookup): string {
  if (!holdsReference(text)) return text
  return text.replaceAll(reference, (whole, ...groups: (string | undefined)[]) => {
    const key = groups[0] ?? groups[1] ?? groups[2]
    const variable = key === undefined ? undefined : lookup(key)
    return variable === undefined || variable.file === true ? whole : variable.value
  })
}

function referencedKeys(text: string): string[] {
  if (!holdsReference(text)) return []
  const keys: string[] = []
  reference.lastIndex = 0
  for (let match = reference.exec(text); match !== null; match = reference.exec(text)) {
    const key = match[1] ?? match[2] ?? match[3]
    if (key !== undefined) keys.push(key)
  }
  return keys
}

/** Far quicker than the pattern, and most texts hold none. */
const holdsReference = (text: string) => text.includes('$') || text.includes('%')

/**
 * Expands the values of a list (low to high; the last of a key wins) in one another. Raw values are not expanded, and
 * references to raw and file variables are left to the runner, as is a variable within itself. The error of a circle
 * names its keys.
 */
export function expandVariables<V extends Variable>(
  list: readonly V[],
): { variables: V[] } | { error: string } {
  const merged = mergeVariables(list)
  const known = new Map(merged.map((variable) => [variable.key, variable]))
  const expands = (key: string) =>
    known.has(key) && known.get(key)!.raw !== true && known.get(key)!.file !== true
  const needs = new Map(
    merged.map(({ key, value, raw }) => [
      key,
      raw === true ? [] : [...new Set(referencedKeys(value))].filter(expands),
    ]),
  )

  let size = 0
  for (const [key, ...others] of components(known.keys(), (node) => needs.get(node)!)) {
    if (others.length > 0) return { error: pipelineText.circularVariables([key!, ...others]) }
    const variable = known.get(key!)!
    if (needs.get(key!)!.length > 0) {
      const lookup: Lookup = (name) => (name !== key && expands(name) ? known.get(name) : undefined)
      // Each reference may bring in another value of the largest size: look before building the text.
      size += variable.value.length
      for (const name of referencedKeys(variable.value)) size += lookup(name)?.value.length ?? 0
      if (size > largest) return { error: pipelineText.variablesTooBig }
      known.set(key!, { ...variable, value: replaceReferences(variable.value, lookup) })
    }
  }
  return { variables: [...known.values()] }
}

/** Expands some texts with the variables they lead to, and only these. */
export function expandTexts(
  texts: readonly string[],
  lookup: Lookup,
): { texts: string[] } | { error: string } {
  const reached = new Map<string, Variable>()
  const waiting = texts.flatMap(referencedKeys)
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const variable = reached.has(key) ? undefined : lookup(key)
    if (variable === undefined) continue
    reached.set(key, variable)
    if (variable.raw !== true) waiting.push(...referencedKeys(variable.value))
  }
  const nested = reached.values().some(({ value, raw }) => raw !== true && holdsReference(value))
  const expanded = nested ? expandVariables([...reached.values()]) : undefined
  if (expanded !== undefined && 'error' in expanded) return expanded
  const values =
    expanded === undefined ? reached : new Map(expanded.variables.map((one) => [one.key, one] as const))
  const result: string[] = []
  let size = 0
  for (const text of texts) {
    size += text.length
    for (const key of referencedKeys(text)) size += values.get(key)?.value.length ?? 0
    if (size > largest) return { error: pipelineText.variablesTooBig }
    result.push(replaceReferences(text, (key) => values.get(key)))
  }
  return { texts: result }
}

/** One text with variables whose values are final; for texts that the shell around this core expands. */
export function expandText(text: string, variables: readonly Variable[]): string {
  const known = new Map(variables.map((variable) => [variable.key, variable]))
  return replaceReferences(text, (key) => known.get(key))
}
