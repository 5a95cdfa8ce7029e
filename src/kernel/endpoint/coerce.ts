import type { Static, TObject } from 'typebox'
import { parseJsonValue } from './json-body.ts'
import { compileRules, nameOf } from './param-rules.ts'
import {
  day,
  file,
  flag,
  float,
  integer,
  invalid,
  longInteger,
  moment,
  text,
  unlisted,
  type Check,
} from './scalars.ts'
import type { ParamRules } from './types.ts'

export type Coerced<T> = { value: T; faults?: undefined } | { value?: undefined; faults: string[] }

/**
 * Turns a declaration into the function that checks one request's parameters, coerced as the conventions (1.3) say.
 * All faults (1.4) are found, in declaration order, those of `rules` last; what is not declared is dropped.
 *
 * Null, or an empty text for a number, flag, date or object: stays null where the type is nullable, is `<p> is empty`
 * where blanks are refused, and otherwise counts as not given: the default stands, or the parameter is left out. A
 * required parameter that is null is `<p> is empty` (of an enum: `<p> does not have a valid value`).
 */
export function compileParams<T extends TObject>(
  schema: T,
  rules?: ParamRules,
): (bag: Readonly<Record<string, unknown>>) => Coerced<Static<T>> {
  const check = compileFields(schema, rules)
  return (bag) => {
    const faults: string[] = []
    const value = check(bag, '', faults)
    return faults.length > 0 ? { faults } : { value: value as Static<T> }
  }
}

/** The parameters a caller must give: the required ones that have no default. */
export function requiredOnInput(schema: TObject): string[] {
  const required = new Set<string>(schema.required)
  return Object.entries(schema.properties as Record<string, Schema>)
    .filter(([key, property]) => required.has(key) && property.default === undefined)
    .map(([key]) => key)
}

/** The keywords of JSON Schema that declarations use. */
interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  not?: { enum?: unknown[] }
  default?: unknown
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
  'x-blank'?: false
  'x-comma-separated'?: true
  'x-single'?: true
  'x-unchecked'?: true
  'x-rules'?: ParamRules
}

type Hash = Readonly<Record<string, unknown>>

function isHash(value: unknown): value is Hash {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function isBlank(value: unknown): boolean {
  if (value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  if (Array.isArray(value)) return value.length === 0
  return isHash(value) && Object.keys(value).length === 0
}

function typeOf(schema: Schema): string | undefined {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  if (types.length > 1) throw new TypeError(`No check for the types ${types.join(', ')}: use Either`)
  return types[0]
}

function isNullable(schema: Schema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some(isNullable)
  if (schema.type !== undefined) return [schema.type].flat().includes('null')
  return schema.enum === undefined && schema.const === undefined
}

/** The listed values of an enum, however it was written. */
function listed(schema: Schema): unknown[] | undefined {
  if (schema.enum !== undefined) return schema.enum.filter((value) => value !== null)
  if (schema.const !== undefined) return [schema.const]
  const choices = schema.anyOf?.filter((choice) => choice.type !== 'null')
  if (choices?.every((choice) => choice.const !== undefined)) return choices.map((choice) => choice.const)
  return undefined
}

function compile(schema: Schema): Check {
  if (schema['x-unchecked'] === true) return (value) => value
  const values = listed(schema)
  if (values !== undefined) return compileEnum(values)
  if (schema.anyOf !== undefined) return compileEither(schema.anyOf)
  switch (typeOf(schema)) {
    case 'string':
      return compileText(schema)
    case 'integer':
      return compileNumber(isLong(schema) ? longInteger : integer, schema)
    case 'number':
      return compileNumber(float, schema)
    case 'boolean':
      return flag
    case 'array':
      return compileList(schema)
    case 'object':
      return schema.properties === undefined ? compileHash(schema) : compileObject(schema)
    case undefined:
      return (value) => value
    default:
      throw new TypeError(`No check for the type ${String(schema.type)}`)
  }
}

function compileText(schema: Schema): Check {
  if (schema.format === 'date-time') return moment
  if (schema.format === 'date') return day
  if (schema.format === 'binary') return file
  if (schema.pattern === undefined) return text
  const pattern = new RegExp(schema.pattern, 'u')
  return (value, name, faults) => {
    const coerced = text(value, name, faults)
    return typeof coerced !== 'string' || pattern.test(coerced) ? coerced : invalid(name, faults)
  }
}

/** What declares a bound of its own is held against that one. */
function isLong({ format, maximum }: Schema): boolean {
  return format === 'int64' || maximum !== undefined
}

function compileNumber(check: Check, { minimum = -Infinity, maximum = Infinity, not }: Schema): Check {
  if (minimum === -Infinity && maximum === Infinity && not === undefined) return check
  const except = not?.enum ?? []
  return (value, name, faults) => {
    const number = check(value, name, faults)
    if (typeof number !== 'number') return number
    if (except.includes(number)) {
      faults.push(`${name} has a value not allowed`)
      return undefined
    }
    return number >= minimum && number <= maximum ? number : unlisted(name, faults)
  }
}

function compileEnum(values: unknown[]): Check {
  const set = new Set(values)
  const check = values.every((value) => typeof value === 'number') ? integer : text
  return (value, name, faults) => {
    const coerced = check(value, name, faults)
    return coerced === undefined || coerced === null || set.has(coerced) ? coerced : unlisted(name, faults)
  }
}

function compileEither(schemas: Schema[]): Check {
  const checks = schemas.filter((schema) => schema.type !== 'null').map(compile)
  return (value, name, faults) => {
    let empty = false
    for (const check of checks) {
      const own: string[] = []
      const coerced = check(value, name, own)
      if (own.length === 0 && coerced !== null) return coerced
      empty ||= coerced === null
    }
    return empty ? null : invalid(name, faults)
  }
}

function compileList(schema: Schema): Check {
  const items = schema.items ?? {}
  const check = compile(items)
  const nullable = isNullable(items)
  const ofObjects = typeOf(items) === 'object'
  const commaSeparated = schema['x-comma-separated'] === true
  const single = commaSeparated || schema['x-single'] === true
  return (value, name, faults) => {
    const given = elements(value, single, ofObjects)
    if (given === undefined) return invalid(name, faults)
    const list: unknown[] = []
    for (const [index, element] of (commaSeparated ? given.flatMap(pieces) : given).entries()) {
      let coerced: unknown = null
      if (ofObjects) {
        const object = typeof element === 'string' ? parsed(element) : element
        if (!isHash(object) && object !== null) return invalid(name, faults)
        if (object !== null) coerced = check(object, `${name}[${index}]`, faults)
        else if (!nullable) return invalid(name, faults)
      } else if (element !== null) {
        coerced = check(element, name, faults)
        if (coerced === undefined) return undefined
      }
      if (coerced !== null || nullable) list.push(coerced)
    }
    return list
  }
}

/** What was sent for a list, as an array; undefined if it cannot be one. */
function elements(value: unknown, single: boolean, ofObjects: boolean): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as unknown[]
  if (value === '') return []
  // A form may send objects as JSON text, each one or all of them.
  if (ofObjects && typeof value === 'string') {
    const list = parsed(value)
    return Array.isArray(list) ? list : single && isHash(list) ? [list] : undefined
  }
  if (isHash(value)) {
    const indexes = Object.keys(value)
    if (indexes.length > 0 && indexes.every((index) => /^\d+$/.test(index))) {
      return indexes.sort((a, b) => Number(a) - Number(b)).map((index) => value[index])
    }
    return single && ofObjects ? [value] : undefined
  }
  return single ? [value] : undefined
}

function pieces(element: unknown): unknown[] {
  if (typeof element !== 'string') return [element]
  const trimmed = element.split(',').map((piece) => piece.trim())
  return trimmed.filter((piece) => piece !== '')
}

function parsed(json: string): unknown {
  try {
    return parseJsonValue(json)
  } catch {
    return undefined
  }
}

function compileHash(schema: Schema): Check {
  const declared = schema.additionalProperties ?? Object.values(schema.patternProperties ?? {})[0]
  const values = typeof declared === 'object' ? declared : {}
  const check = compile(values)
  const nullable = isNullable(values)
  return (value, name, faults) => {
    const hash = Object.create(null) as Record<string, unknown>
    if (value === '') return hash
    if (!isHash(value)) return invalid(name, faults)
    for (const key of Object.keys(value)) {
      if (key === '__proto__') continue
      const entry = value[key]
      const coerced = entry === null ? null : check(entry, `${name}[${key}]`, faults)
      if (coerced === null && !nullable) invalid(`${name}[${key}]`, faults)
      hash[key] = coerced
    }
    return hash
  }
}

function compileObject(schema: Schema): Check {
  const check = compileFields(schema as unknown as TObject)
  return (value, name, faults) => {
    if (value === '') return null
    return isHash(value) ? check(value, name, faults) : invalid(name, faults)
  }
}

interface Field {
  key: string
  check: Check
  required: boolean
  nullable: boolean
  blank: boolean
  isEnum: boolean
  /** Undefined without a default; a default that could be changed is made anew each time. */
  byDefault: (() => unknown) | undefined
}

function compileField(key: string, schema: Schema, required: boolean): Field {
  const { default: byDefault } = schema
  const makeDefault =
    typeof byDefault === 'object' && byDefault !== null ? () => structuredClone(byDefault) : () => byDefault
  return {
    key,
    check: compile(schema),
    required,
    nullable: isNullable(schema),
    blank: schema['x-blank'] !== false,
    isEnum: listed(schema) !== undefined,
    byDefault: byDefault === undefined ? undefined : makeDefault,
  }
}

function compileFields(object: TObject, extra: ParamRules = {}) {
  const schema = object as Schema
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([key, property]) =>
    compileField(key, property, required.has(key)),
  )
  const rules = [...compileRules(schema['x-rules'] ?? {}), ...compileRules(extra)]

  return (bag: Hash, prefix: string, faults: string[]): Record<string, unknown> => {
    const value: Record<string, unknown> = {}
    for (const field of fields) {
      const { key } = field
      const given = Object.hasOwn(bag, key) ? bag[key] : undefined
      if (given === undefined) {
        if (field.byDefault !== undefined) value[key] = field.byDefault()
        else if (field.required) faults.push(`${nameOf(prefix, key)} is missing`)
        continue
      }
      if (!field.blank && isBlank(given)) {
        faults.push(`${nameOf(prefix, key)} is empty`)
        continue
      }
      const coerced = given === null ? null : field.check(given, nameOf(prefix, key), faults)
      if (coerced !== null) value[key] = coerced
      else if (field.nullable) value[key] = null
      else if (field.byDefault !== undefined) value[key] = field.byDefault()
      else if (field.required && field.isEnum) unlisted(nameOf(prefix, key), faults)
      else if (field.required) faults.push(`${nameOf(prefix, key)} is empty`)
    }
    for (const rule of rules) rule(bag, prefix, faults)
    return value
  }
}
