import { isMap, type Data, type DataMap } from '../config/data.ts'
import { ConfigError } from '../config/config-error.ts'
import { isStrings } from '../entries/read.ts'
import { Spot } from '../entries/spot.ts'
import type { Expression } from '../expression/parser.ts'
import { components } from '../graph/components.ts'
import { entryText, inputText } from '../messages.ts'
import { readInput, type InputSpec } from './input-spec.ts'

export const componentWords = ['name', 'sha', 'version', 'reference'] as const
const specKeys = ['inputs', 'include', 'component']
const mostTexts = 3

/**
 * The inputs of a header document, with those that its includes declare. Throws a ConfigError, whose text holds the
 * first three faults.
 */
export function readHeader(header: DataMap, included: readonly DataMap[]): InputSpec[] {
  const errors: string[] = []
  const specs = read(header, included, new Spot(errors, 'header:spec'))
  if (errors.length > 0) throw new ConfigError(errors.slice(0, mostTexts).join(', '))
  return specs
}

function read(header: DataMap, included: readonly DataMap[], spot: Spot): InputSpec[] {
  const { spec } = header
  if (spec === null || spec === undefined) return []
  if (!isMap(spec)) {
    spot.fail(entryText.hash)
    return []
  }
  const unknown = Object.keys(spec).filter((key) => !specKeys.includes(key))
  if (unknown.length > 0) spot.fail(entryText.unknownKeys(unknown, specKeys))
  checkComponent(spec['component'] ?? null, spot.child('component'))
  const { inputs = null } = spec
  if (inputs !== null && !isMap(inputs)) {
    spot.child('inputs').fail(entryText.hash)
    return []
  }
  const declared = [...included, inputs ?? {}].flatMap((map) => Object.entries(map))
  const names = new Set<string>()
  const twice = new Set<string>()
  for (const [name] of declared) (names.has(name) ? twice : names).add(name)
  if (twice.size > 0) throw new ConfigError(inputText.duplicate([...twice]))

  const place = spot.child('inputs')
  const specs = declared.flatMap(([name, value]) => {
    return readInput(name, value, place.child(name), { withRules: true }) ?? []
  })
  if (spot.errors.length === 0) checkRules(specs, place)
  return specs
}

function checkComponent(value: Data, spot: Spot): void {
  if (value === null) return
  if (!isStrings(value)) spot.fail(entryText.stringArray)
  else {
    const unknown = value.filter((word) => !componentWords.some((known) => known === word))
    if (unknown.length > 0) spot.fail(entryText.unknownItems(unknown))
  }
}

/** Rules may look only at inputs that there are, and never in a circle. */
function checkRules(specs: readonly InputSpec[], spot: Spot): void {
  const declared = new Set(specs.map(({ name }) => name))
  const looksAt = new Map<string, string[]>()
  for (const { name, rules } of specs) {
    const named = rules.map((rule) => (rule.if === null ? [] : inputsIn(rule.if)))
    looksAt.set(name, named.flat())
    for (const [i, names] of named.entries()) {
      const undeclared = names.filter((other) => !declared.has(other))
      if (undeclared.length > 0) spot.child(name).fail(inputText.undefinedInRule(i, undeclared))
    }
  }
  const circle = components(looksAt.keys(), (name) => looksAt.get(name) ?? []).some(
    ([name, ...others]) => others.length > 0 || looksAt.get(name!)?.includes(name!) === true,
  )
  if (circle) spot.child(specs[0]!.name).fail(inputText.circular)
}

function inputsIn(expression: Expression): string[] {
  if ('left' in expression) return [...inputsIn(expression.left), ...inputsIn(expression.right)]
  return expression.is === 'input' ? [expression.name] : []
}
