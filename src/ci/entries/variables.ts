import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { Variable } from '../types.ts'
import { collect, isStrings } from './read.ts'
import type { Read, Spot } from './spot.ts'

/** A variable of the file's first level; the additions only prefill the form that starts a pipeline. */
export interface GlobalVariable extends Variable {
  description?: string
  options?: string[]
}

export const globalVariables = variablesWith(['value', 'description', 'options', 'expand'])
export const jobVariables: Read<Variable[]> = variablesWith(['value', 'expand'])

function variablesWith(keys: readonly string[]): Read<GlobalVariable[]> {
  return (value, spot) => {
    if (!isMap(value)) return spot.fail(entryText.hash)
    return collect(Object.entries(value), ([key, definition]) =>
      variable(key, definition, keys, spot.child(key)),
    )
  }
}

function variable(
  key: string,
  definition: unknown,
  keys: readonly string[],
  spot: Spot,
): GlobalVariable | undefined {
  const plain = scalarText(definition)
  if (plain !== null) return { key, value: plain }
  if (!isMap(definition)) return spot.failPlain(entryText.variableShape)

  const invalid = Object.keys(definition).filter((name) => !keys.includes(name))
  if (invalid.length > 0) return spot.fail(entryText.variableKeys(invalid))
  const { value = null, description = null, options = null, expand = null } = definition
  const text = scalarText(value)
  if (value !== null && text === null) return spot.fail(entryText.variableValue)
  if (expand !== null && typeof expand !== 'boolean') return spot.key('expand').fail(entryText.boolean)
  if (description !== null && typeof description !== 'string')
    return spot.key('description').fail(entryText.string)
  const found: GlobalVariable = { key, value: text ?? '' }
  if (expand === false) found.raw = true
  if (description !== null) found.description = description
  if (options === null) return found

  const choices: unknown = Array.isArray(options) ? options.map(scalarText) : options
  if (!isStrings(choices)) return spot.key('options').fail(entryText.stringArray)
  if (text === null || !choices.includes(text)) return spot.fail(entryText.variableOptions)
  return { ...found, options: choices }
}

/** Texts, numbers and booleans are values; null for anything else. */
export function scalarText(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null
}
