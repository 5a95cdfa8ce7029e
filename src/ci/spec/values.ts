import { ConfigError } from '../config/config-error.ts'
import { isMap, type Data, type DataMap } from '../config/data.ts'
import { holds, type Scope } from '../expression/evaluate.ts'
import { inputText } from '../messages.ts'
import { compilePattern, Patterns } from '../text/regex.ts'
import type { InputRule, InputSpec, InputType } from './input-spec.ts'

const mostTexts = 3

/** The value of every input: what was given, else its default. Throws a ConfigError with the first three faults. */
export function resolveInputs(specs: readonly InputSpec[], given: DataMap): Map<string, Data> {
  const declared = new Set(specs.map(({ name }) => name))
  const unknown = Object.keys(given).filter((name) => !declared.has(name))
  const errors = unknown.length > 0 ? [inputText.unknown(unknown)] : []
  const values = new Map<string, Data>(Object.entries(given))
  const patterns = new Patterns()
  for (const spec of specs) {
    const value = given[spec.name] ?? null
    const rule = matchingRule(spec.rules, values, patterns)
    const byDefault = rule?.default ?? spec.default
    const faults = faultsOf(spec, rule, value, byDefault)
    errors.push(...faults.map((text) => inputText.of(spec.name, text)))
    values.set(spec.name, coerce(value ?? byDefault ?? null, spec.type))
  }
  if (errors.length > 0) throw new ConfigError(errors.slice(0, mostTexts).join(', '))
  return values
}

/** The values of inputs that are left alone. */
export function defaultValues(specs: readonly InputSpec[]): Record<string, Data> {
  return Object.fromEntries(specs.map((spec) => [spec.name, coerce(spec.default ?? null, spec.type)]))
}

/** What is wrong with an input whose value is nothing but its default. */
export function faultsOfDefault(spec: InputSpec): string[] {
  return faultsOf(spec, null, null, spec.default).map((text) => inputText.of(spec.name, text))
}

function faultsOf(
  spec: InputSpec,
  rule: InputRule | null,
  value: Data,
  byDefault: Data | undefined,
): string[] {
  if (value === null && byDefault === undefined && !hasDefault(spec)) return [inputText.required]
  const options = rule?.options ?? spec.options
  return [
    ...(byDefault === undefined ? [] : faultsOfValue(spec, byDefault, options, 'default')),
    ...(value === null ? [] : faultsOfValue(spec, value, options, 'provided')),
  ]
}

/** A rule may give the default, and one without a condition stands for none being needed. */
function hasDefault({ rules }: InputSpec): boolean {
  return rules.some((rule) => rule.default !== undefined || rule.if === null)
}

function faultsOfValue(
  { type, regex, options: own }: InputSpec,
  written: Data,
  options: readonly Data[] | null,
  origin: 'default' | 'provided',
): string[] {
  const value = coerce(written, type)
  const faults: string[] = []
  if (!isOfType[type](value)) faults.push(inputText.wrongType(origin, type))
  else if (type === 'boolean' && own !== null) faults.push(inputText.optionsMisplaced)
  else if (options !== null && !isAmong(options, value, type)) faults.push(inputText.notAnOption(value, type))
  if (regex === null) return faults
  if (type !== 'string') return [...faults, inputText.regexMisplaced]
  const pattern = compilePattern(regex)
  if (pattern === null) return [...faults, inputText.badRegex]
  if (typeof value === 'string' && !pattern.test(value)) faults.push(inputText.noMatch(origin))
  return faults
}

const isOfType: Record<InputType, (value: Data) => boolean> = {
  array: (value) => Array.isArray(value),
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
}

function isAmong(options: readonly Data[], value: Data, type: InputType): boolean {
  if (type === 'array') return Array.isArray(value) && value.every((item) => options.includes(item))
  return type === 'number' ? options.includes(value) : options.some((option) => scalarOf(option) === value)
}

/** Forms and variables carry texts only, so a text that says a value of the type is one. */
function coerce(value: Data, type: InputType): Data {
  if (type === 'string') return scalarOf(value) ?? value
  if (typeof value !== 'string') return value
  try {
    const parsed = JSON.parse(value) as Data
    return isOfType[type](parsed) ? parsed : value
  } catch {
    return value
  }
}

/** Nothing is the empty text; null for lists and maps. */
function scalarOf(value: Data): string | null {
  if (value === null) return ''
  return typeof value === 'object' ? null : String(value)
}

function matchingRule(
  rules: readonly InputRule[],
  values: ReadonlyMap<string, Data>,
  patterns: Patterns,
): InputRule | null {
  const scope: Scope = {
    patterns,
    variable: () => undefined,
    input(name) {
      const value = values.get(name) ?? null
      return Array.isArray(value) || isMap(value) || typeof value === 'object' ? null : value
    },
  }
  return rules.find((rule) => rule.if === null || holds(rule.if, scope)) ?? null
}
