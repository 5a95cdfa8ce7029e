import { isMap, type Data, type DataMap } from '../config/data.ts'
import { collect } from '../entries/read.ts'
import type { Spot } from '../entries/spot.ts'
import { scalarText } from '../entries/variables.ts'
import { parseExpression, type Expression } from '../expression/parser.ts'
import { entryText, inputText } from '../messages.ts'

export const inputTypes = ['array', 'boolean', 'number', 'string'] as const
export type InputType = (typeof inputTypes)[number]

/** What a file, or a job, says about a value it takes. */
export interface InputSpec {
  name: string
  type: InputType
  description: string | null
  /** Undefined: there is none, a value has to be given. */
  default: Data | undefined
  options: Data[] | null
  /** RE2, as written. */
  regex: string | null
  rules: InputRule[]
}

/** The first whose condition holds decides; none without one comes after. */
export interface InputRule {
  if: Expression | null
  options: Data[] | null
  default: Data | undefined
}

const mostOptions = 50
const keys = ['default', 'description', 'options', 'regex', 'type']
const ruleKeys = ['if', 'options', 'default']

/** Reports to the spot, which is the place of the input, and returns undefined when something is wrong. */
export function readInput(
  name: string,
  value: Data,
  spot: Spot,
  { withRules }: { withRules: boolean },
): InputSpec | undefined {
  const before = spot.errors.length
  if (value !== null && !isMap(value)) return spot.fail(entryText.hash)
  const given: DataMap = value ?? {}
  const unknown = Object.keys(given).filter((key) => !keys.includes(key) && !(withRules && key === 'rules'))
  if (unknown.length > 0) spot.fail(entryText.unknownKeys(unknown, keys))
  for (const other of withRules ? ['options', 'default'] : []) {
    if (isThere(given['rules']) && other in given) spot.fail(entryText.together(['rules', other]))
  }
  const { description = null, regex = null, type = null, rules = null } = given
  if (description !== null && scalarText(description) === null)
    spot.key('input_description').fail(inputText.words)
  if (regex !== null && typeof regex !== 'string') spot.key('input_regex').fail(entryText.string)
  if (type !== null && !inputTypes.some((known) => known === type)) {
    spot.key('input_type').fail(entryText.unknownValue(type))
  }
  const options = readOptions(given['options'] ?? null, spot, 'input_options')
  const read = rules === null || !withRules ? [] : readRules(rules, spot)
  if (spot.errors.length > before) return undefined
  return {
    name,
    type: (type as InputType | null) ?? 'string',
    description: scalarText(description),
    default: given['default'],
    options: options ?? null,
    regex: regex as string | null,
    rules: read ?? [],
  }
}

function readOptions(value: Data, spot: Spot, key: string): Data[] | null | undefined {
  if (value === null) return null
  if (!Array.isArray(value)) return spot.key(key).fail(entryText.array)
  if (value.length > mostOptions) return spot.fail(inputText.tooManyOptions(mostOptions))
  return value.includes(null) ? spot.fail(inputText.nullOption) : value
}

function readRules(value: Data, spot: Spot): InputRule[] | undefined {
  if (!Array.isArray(value) || !value.every(isMap)) return spot.key('rules').fail(entryText.hashes)
  return collect(value, (rule) => readRule(rule, spot.child('rules').child('rule')))
}

function readRule(rule: DataMap, spot: Spot): InputRule | undefined {
  const unknown = Object.keys(rule).filter((key) => !ruleKeys.includes(key))
  if (unknown.length > 0) return spot.fail(entryText.unknownKeys(unknown, ruleKeys))
  const { if: condition = null } = rule
  const expression = typeof condition === 'string' ? parseExpression(condition) : null
  if (condition !== null && expression === null) return spot.key('if').fail(entryText.expression)
  const options = readOptions(rule['options'] ?? null, spot, 'options')
  if (options === undefined) return undefined
  if (options === null && condition === null) return spot.fail(inputText.fallbackRule)
  if (options === null && !('default' in rule)) return spot.fail(inputText.emptyRule)
  return { if: expression, options, default: rule['default'] }
}

const isThere = (value: Data | undefined) => value !== undefined && value !== null
