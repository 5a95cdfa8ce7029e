import type { Static, TSchema } from 'typebox'
import { timestampText } from './time-text.ts'

/**
 * Turns an answer's schema into the function that writes a value as compact JSON: the declared keys only, in declared
 * order. A required key without a value is null, an optional one is left out; integers that the database gave as text
 * become numbers, moments `YYYY-MM-DDTHH:MM:SS.mmmZ`.
 *
 * The value is cut to its declared shape, which the engine's own `JSON.stringify` then writes: that is as fast as
 * generated string building, and takes nulls, dates and free values as they come.
 */
export function compileAnswer(schema: TSchema): (value: unknown) => string {
  const shape = compile(schema)
  return (value) => JSON.stringify(shape(value))
}

/** The same as a value: for what an answer holds whose schema does not tell of it. */
export function compileEntity<T extends TSchema>(schema: T): (value: unknown) => Static<T> {
  return compile(schema) as (value: unknown) => Static<T>
}

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
}

/** Never gives undefined: what is missing is null. */
type Shape = (value: unknown) => unknown

const free: Shape = (value) => value ?? null

const text: Shape = (value) => {
  if (typeof value === 'string') return value
  try {
    return (value as number | null | undefined)?.toString() ?? null
  } catch {
    // JSON from outside may have a `toString` that is no function, and an array calls those of its elements.
    return null
  }
}

const number: Shape = (value) =>
  typeof value === 'number' ? value : value === undefined || typeof value === 'object' ? null : Number(value)

const flag: Shape = (value) =>
  typeof value === 'boolean' ? value : (value ?? null) === null ? null : Boolean(value)

const timestamp: Shape = (value) =>
  value instanceof Date || typeof value === 'string' ? timestampText(value) : null

const day: Shape = (value) =>
  value instanceof Date ? timestamp(value)?.toString().slice(0, 10) : free(value)

function compile(schema: Schema): Shape {
  if (schema.anyOf !== undefined) return compileEither(schema.anyOf)
  if (schema.const !== undefined || schema.enum !== undefined) return free
  switch ([schema.type].flat().find((type) => type !== 'null')) {
    case 'string':
      return schema.format === 'date-time' ? timestamp : schema.format === 'date' ? day : text
    case 'integer':
    case 'number':
      return number
    case 'boolean':
      return flag
    case 'array':
      return compileList(compile(schema.items ?? {}))
    case 'object':
      return schema.properties === undefined ? compileHash(schema) : compileFields(schema)
    default:
      return free
  }
}

function compileList(item: Shape): Shape {
  return (value) => (Array.isArray(value) ? value.map((element) => item(element)) : null)
}

function compileHash(schema: Schema): Shape {
  const declared = schema.additionalProperties ?? Object.values(schema.patternProperties ?? {})[0]
  const shape = compile(typeof declared === 'object' ? declared : {})
  return (value) => {
    if (typeof value !== 'object' || value === null) return null
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shape(entry)]))
  }
}

function compileFields({ properties = {}, required = [] }: Schema): Shape {
  const keys = Object.keys(properties)
  const shapes = keys.map((key) => compile(properties[key]!))
  const field = (key: string, index: number) => {
    const name = JSON.stringify(key)
    const shaped = `shape${index}(value[${name}])`
    return `${name}: ${required.includes(key) ? shaped : `value[${name}] === undefined ? undefined : ${shaped}`}`
  }
  // An object literal made for the schema is three times as fast as a loop over its keys. Only names that we declare
  // ourselves become code, and those as JSON strings.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function(
    ...shapes.map((_, index) => `shape${index}`),
    `return (value) => (value === null || typeof value !== 'object' ? null : { ${keys.map(field).join(', ')} })`,
  ) as (...shapes: Shape[]) => Shape
  return make(...shapes)
}

/** Of several objects the first whose required keys and constants the value has; scalars pass as they are. */
function compileEither(schemas: Schema[]): Shape {
  const list = schemas.find((schema) => schema.type === 'array')
  const listed = list === undefined ? undefined : compile(list)
  const objects = schemas
    .filter((schema) => schema.type === 'object')
    .map((schema) => ({ fits: compileTest(schema), shape: compile(schema) }))
  return (value) => {
    if (Array.isArray(value)) return listed?.(value) ?? null
    if (value instanceof Date) return timestamp(value)
    if (typeof value !== 'object' || value === null) return free(value)
    return objects.find((choice) => choice.fits(value))?.shape(value) ?? null
  }
}

function compileTest({ properties = {}, required = [] }: Schema): (value: object) => boolean {
  const constants = Object.entries(properties).flatMap(([key, { const: only, enum: listed }]) => {
    const values = listed ?? (only === undefined ? [] : [only])
    return values.length > 0 && required.includes(key) ? [[key, new Set(values)] as const] : []
  })
  return (value) =>
    required.every((key) => Reflect.has(value, key)) &&
    constants.every(([key, values]) => values.has(Reflect.get(value, key)))
}
