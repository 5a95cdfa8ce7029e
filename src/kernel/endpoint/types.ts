import Type, { type Static, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox'

/*
 * The words parameters and answers are declared with. Every one is plain JSON Schema 2020-12, so a declaration goes
 * into the OpenAPI document as it stands, and infers the type of the checked value. What JSON Schema cannot say is an
 * `x-` annotation, read by `coerce.ts`.
 *
 * A parameter with a `default` is always there: declare it without `Optional`. A parameter that is not `Nullable` is
 * never null: sent as null (or as an empty number, flag or date) it counts as not given; see `coerce.ts`.
 */

/** Fit for every type. `blank: false` refuses null, empty and white text with `<p> is empty`. */
export interface Options {
  description?: string
  deprecated?: boolean
  examples?: unknown[]
  blank?: false
}

export interface TextOptions extends Options {
  default?: string
  /** A JavaScript pattern of ours, never a user's; a mismatch is `<p> is invalid`. */
  pattern?: string
  /** For the document only: resources have their own words for what is too long. */
  maxLength?: number
}

export interface NumberOptions extends Options {
  default?: number
  /** Beyond the bounds is `<p> does not have a valid value`. */
  minimum?: number
  maximum?: number
  /** Values refused with `<p> has a value not allowed`. */
  except?: readonly number[]
}

export interface ListOptions extends Options {
  default?: readonly unknown[]
  /** Also takes `a,b`: split at commas, trimmed, empty pieces dropped; so are texts inside an array. */
  commaSeparated?: boolean
  /** A single value stands for a list of one. */
  single?: boolean
}

/** Relations between parameters of one object, checked by what was sent (null counts as sent). */
export interface ParamRules {
  mutuallyExclusive?: readonly (readonly string[])[]
  atLeastOneOf?: readonly (readonly string[])[]
  exactlyOneOf?: readonly (readonly string[])[]
}

function make<T>(type: string, { blank, ...options }: Options, more: object = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type, ...options, ...more, ...(blank === false && { 'x-blank': false }) })
}

export function Text(options: TextOptions = {}): TUnsafe<string> {
  return make('string', options)
}

/** A 64-bit id. Beyond 2^53 it is `<p> is invalid`: no row has such an id. */
export function Id(options: NumberOptions = {}): TUnsafe<number> {
  return numeric('integer', options, { format: 'int64' })
}

/** 32 bits unless `maximum` is more. */
export function Int(options: NumberOptions = {}): TUnsafe<number> {
  return numeric('integer', options)
}

/** A number that may have a fraction. */
export function Float(options: NumberOptions = {}): TUnsafe<number> {
  return numeric('number', options)
}

function numeric(type: string, { except, ...options }: NumberOptions, more: object = {}): TUnsafe<number> {
  return make(type, options, except === undefined ? more : { ...more, not: { enum: [...except] } })
}

/** true or false; as a parameter also 1/0, t/f, y/n, yes/no, on/off. */
export function Flag(options: Options & { default?: boolean } = {}): TUnsafe<boolean> {
  return make('boolean', options)
}

/** A point in time given by the caller (ISO 8601, UTC where no offset is given). */
export function DateTime(options: Options = {}): TUnsafe<Date> {
  return make('string', options, { format: 'date-time' })
}

/** A point in time in an answer: a Date or the database's text goes in, `YYYY-MM-DDTHH:MM:SS.mmmZ` comes out. */
export function Timestamp(options: Options = {}): TUnsafe<Date | string> {
  return make('string', options, { format: 'date-time' })
}

/** A calendar day, `YYYY-MM-DD`, kept as text: a Date would drag a time zone in. */
export function DateOnly(options: Options = {}): TUnsafe<string> {
  return make('string', options, { format: 'date' })
}

type Literal = string | number

/** One of the listed texts or integers: `OneOf('asc', 'desc')`, `OneOf(['asc', 'desc'], { default: 'asc' })`. */
export function OneOf<const T extends Literal>(...values: [T, ...T[]]): TUnsafe<T>
export function OneOf<const T extends Literal>(
  values: readonly T[],
  options: Options & { default?: T },
): TUnsafe<T>
export function OneOf(...args: unknown[]): TUnsafe<Literal> {
  const [values, options] = Array.isArray(args[0]) ? [args[0], (args[1] ?? {}) as Options] : [args, {}]
  const type = typeof values[0] === 'number' ? 'integer' : 'string'
  return make(type, options, { enum: [...(values as Literal[])] })
}

export function ListOf<T extends TSchema>(
  items: T,
  { commaSeparated, single, ...options }: ListOptions = {},
): TUnsafe<Static<T>[]> {
  return make('array', options, {
    items,
    ...(commaSeparated === true && { 'x-comma-separated': true }),
    ...(single === true && { 'x-single': true }),
  })
}

/** Named values whose names the caller chooses: `variables[KEY]=v`. Comes as an object without a prototype. */
export function Hash<T extends TSchema>(
  values: T,
  options: Options = {},
): TUnsafe<Record<string, Static<T>>> {
  return make('object', options, { additionalProperties: values })
}

/** An object of declared fields; what is not declared is dropped. */
export function Fields<P extends TProperties>(
  properties: P,
  { blank, rules, ...options }: Options & { rules?: ParamRules } = {},
): TObject<P> {
  return Type.Object(properties, {
    ...options,
    ...(blank === false && { 'x-blank': false }),
    ...(rules !== undefined && { 'x-rules': rules }),
  })
}

/** The first of the types that fits: `Either(Int(), Text())`. */
export function Either<T extends TSchema[]>(...types: T): TUnsafe<Static<T[number]>> {
  return Type.Unsafe({ anyOf: types })
}

/** Any JSON value, passed through unchecked but for the limits every body has. */
export function Json(options: Pick<Options, 'description' | 'deprecated'> = {}): TUnsafe {
  return Type.Unsafe({ ...options })
}

/** Described as `type`, and handed on as it was sent: the handler makes the checks, from `call.request.sent`. */
export function Unchecked<T extends TSchema>(type: T): TUnsafe {
  return Type.Unsafe({ ...type, 'x-unchecked': true })
}

/** null is a value of its own here. */
export function Nullable<T extends TSchema>(type: T): TUnsafe<Static<T> | null> {
  if (Type.IsOptional(type)) throw new TypeError('Write Optional(Nullable(x)), not Nullable(Optional(x))')
  const schema: { type?: string | string[]; enum?: unknown[]; anyOf?: unknown[] } = { ...type }
  if (schema.anyOf !== undefined)
    return Type.Unsafe({ ...schema, anyOf: [...schema.anyOf, { type: 'null' }] })
  if (schema.type === undefined) return Type.Unsafe(schema)
  return Type.Unsafe({
    ...schema,
    type: [schema.type, 'null'].flat(),
    ...(schema.enum !== undefined && { enum: [...schema.enum, null] }),
  })
}

/** May be left out, in a request or in an answer. */
export const Optional = Type.Optional

/**
 * A file of a multipart form, already taken in: `stored` is what the endpoint's taker gave back for its bytes.
 * Only `readMultipart` makes one, so JSON that merely looks like one is refused.
 */
export class UploadedFile<T = unknown> {
  readonly filename: string
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  readonly stored: T

  constructor(filename: string, contentType: string, size: number, stored: T) {
    this.filename = filename
    this.contentType = contentType
    this.size = size
    this.stored = stored
  }
}

export function File<T>(options: Options = {}): TUnsafe<UploadedFile<T>> {
  return make('string', options, { format: 'binary' })
}

export type { Static, TObject, TSchema, TUnsafe }
