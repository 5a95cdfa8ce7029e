import { flag as readFlag } from '../kernel/endpoint/scalars.ts'
import { Flag, Float, Int, ListOf, Nullable, OneOf, Text } from '../kernel/endpoint/types.ts'
import { isLonger } from '../kernel/lib/characters.ts'
import type { Faults } from './faults.ts'
import { setting, type Setting, type Traits } from './setting.ts'

/*
 * The kinds of values that settings have. `strict`: a value of another type is refused as a parameter, before any rule
 * is looked at; without it the rules refuse it, and a flag takes any other text for true.
 */

interface FlagTraits extends Traits {
  readonly strict?: true
}

export function flag(fallback: boolean, about: string, traits: FlagTraits = {}): Setting<boolean> {
  const { strict = false } = traits
  return setting(
    Flag(),
    fallback,
    about,
    (given, name, faults) => takeFlag(given, name, faults, strict),
    traits,
  )
}

function takeFlag(given: unknown, name: string, faults: Faults, strict: boolean): boolean | undefined {
  const value = given === null ? null : readFlag(given, name, [])
  if (typeof value === 'boolean') return value
  const text =
    typeof given === 'number' ? String(given) : typeof given === 'string' ? given.trim() : undefined
  if (text === '' || given === null) faults.rule(name, 'must be a boolean value')
  else if (strict || text === undefined) faults.parameter(`${name} is invalid`)
  else return true
  return undefined
}

/** What a column of the usual width holds. */
const widest = 2 ** 31 - 1

interface NumberTraits extends Traits {
  readonly strict?: true
  readonly min?: number
  readonly max?: number
  /** The words for what is too small or too large, where they are not the usual ones. */
  readonly tooSmall?: string
  readonly tooLarge?: string
}

export function int(fallback: number, about: string, traits: NumberTraits = {}): Setting<number> {
  return number(Int, fallback, about, traits) as Setting<number>
}

/** With null for none. */
export function intOrNull(
  fallback: number | null,
  about: string,
  traits: NumberTraits = {},
): Setting<number | null> {
  return number(Int, fallback, about, traits, true)
}

/** A number of bytes, which may be more than other numbers. */
export function bytes(fallback: number, about: string, traits: NumberTraits = {}): Setting<number> {
  return int(fallback, about, { max: Number.MAX_SAFE_INTEGER, ...traits })
}

/** Uses of one kind in a fixed period; 0 is no limit. */
export function limit(fallback: number, about: string, traits: NumberTraits = {}): Setting<number> {
  return int(fallback, `${about}; 0 is no limit.`, { min: 0, ...traits })
}

export function decimal(fallback: number, about: string, traits: NumberTraits = {}): Setting<number> {
  return number(Float, fallback, about, traits) as Setting<number>
}

export function decimalOrNull(
  fallback: number | null,
  about: string,
  traits: NumberTraits = {},
): Setting<number | null> {
  return number(Float, fallback, about, traits, true)
}

function number(
  type: typeof Int,
  fallback: number | null,
  about: string,
  traits: NumberTraits,
  nullable = false,
): Setting<number | null> {
  const { min = type === Int ? -widest - 1 : 0, max = widest } = traits
  const schema = type({
    ...(traits.min !== undefined && { minimum: traits.min }),
    ...(traits.max !== undefined && { maximum: traits.max }),
  })
  const tooSmall =
    traits.tooSmall ?? (min === 1 ? 'must be greater than 0' : `must be greater than or equal to ${min}`)
  const tooLarge = traits.tooLarge ?? `must be less than or equal to ${max}`
  return setting<number | null>(
    nullable ? Nullable(schema) : schema,
    fallback,
    about,
    (given, name, faults) => {
      if (nullable && isBlank(given)) return null
      const value = takeNumber(given, name, faults, traits.strict)
      if (value === undefined) return undefined
      if (type === Int && !Number.isInteger(value)) faults.rule(name, 'must be an integer')
      else if (value < min) faults.rule(name, tooSmall)
      else if (value > max) faults.rule(name, tooLarge)
      else return value
      return undefined
    },
    traits,
  )
}

const decimalText = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?\s*$/i

export function takeNumber(
  given: unknown,
  name: string,
  faults: Faults,
  strict?: boolean,
): number | undefined {
  if (typeof given === 'number' && Number.isFinite(given)) return given
  if (typeof given === 'string' && decimalText.test(given)) return Number(given)
  if (strict === true && !isBlank(given)) faults.parameter(`${name} is invalid`)
  else faults.rule(name, 'is not a number')
  return undefined
}

function isBlank(given: unknown): boolean {
  return given === null || (typeof given === 'string' && given.trim() === '')
}

interface ChoiceTraits extends Traits {
  /** The rule's words; without them what is not listed is refused as a parameter. */
  readonly unlisted?: string
}

/** One of the listed texts or numbers. */
export function choice<const T extends string | number>(
  values: readonly [T, ...T[]],
  fallback: NoInfer<T>,
  about: string,
  traits: ChoiceTraits = {},
): Setting<T> {
  return setting<T>(
    OneOf(values, {}),
    fallback,
    about,
    (given, name, faults) => {
      const numbers = typeof values[0] === 'number'
      const asked = numbers ? toNumber(given) : given
      const found = values.find((value) => value === asked)
      if (found !== undefined) return found
      const ofOtherType = numbers && typeof asked !== 'number' && !isBlank(given)
      if (typeof given === 'object' && given !== null) faults.parameter(`${name} is invalid`)
      else if (traits.unlisted !== undefined) faults.rule(name, traits.unlisted)
      else faults.parameter(`${name} ${ofOtherType ? 'is invalid' : 'does not have a valid value'}`)
      return undefined
    },
    traits,
  )
}

/** As `choice`, with null for none. */
export function choiceOrNull<const T extends string>(
  values: readonly [T, ...T[]],
  about: string,
  traits: ChoiceTraits = {},
): Setting<T | null> {
  const listed = choice<T>(values, values[0], about, traits)
  return setting<T | null>(
    Nullable(listed.schema),
    null,
    about,
    (given, name, faults) => (given === null ? null : listed.take(given, name, faults)),
    traits,
  )
}

function toNumber(given: unknown): unknown {
  return typeof given === 'string' && /^\s*-?\d+\s*$/.test(given) ? Number(given) : given
}

/** A fault of a text, in the words of the API, or undefined. */
export type Format = (text: string) => string | undefined

interface TextTraits extends Traits {
  /** Characters. */
  readonly longest?: number
  readonly format?: Format
}

/** Characters of a text for which nothing else is said: long enough for a page, too short to hurt. */
const longestText = 65_535

export function text(fallback: string, about: string, traits: TextTraits = {}): Setting<string> {
  const take = textTaker(traits)
  return setting(Text(lengthOf(traits)), fallback, about, (...given) => take(...given, ''), traits)
}

/** With null for none; an empty text clears it. */
export function textOrNull(
  fallback: string | null,
  about: string,
  traits: TextTraits = {},
): Setting<string | null> {
  const take = textTaker(traits)
  const schema = Nullable(Text(lengthOf(traits)))
  return setting<string | null>(schema, fallback, about, (...given) => take(...given, null), traits)
}

/** A whole number above zero that is shown as digits. */
export function digitsOrNull(
  fallback: string | null,
  about: string,
  traits: Traits = {},
): Setting<string | null> {
  const whole = intOrNull(null, about, { min: 1 })
  return setting<string | null>(
    Nullable(Text({ pattern: '^[1-9][0-9]*$' })),
    fallback,
    about,
    (given, name, faults) => {
      const value = whole.take(given, name, faults)
      return typeof value === 'number' ? String(value) : value
    },
    traits,
  )
}

/** A key or a password of somebody else's service: kept encrypted, never shown. */
export function secret(about: string, traits: TextTraits = {}): Setting<string | null> {
  return textOrNull(null, about, { ...traits, secret: true })
}

function lengthOf({ longest }: TextTraits): { maxLength?: number } {
  return longest === undefined ? {} : { maxLength: longest }
}

function textTaker({ longest = longestText, format }: TextTraits) {
  return <T extends string | null>(
    given: unknown,
    name: string,
    faults: Faults,
    empty: T,
  ): string | T | undefined => {
    if (given === null || given === '') return empty
    if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') {
      faults.parameter(`${name} is invalid`)
      return undefined
    }
    const value = String(given)
    if (isLonger(value, longest)) {
      faults.rule(name, `is too long (maximum is ${longest} characters)`)
      return undefined
    }
    const fault = format?.(value)
    if (fault === undefined) return value
    faults.rule(name, fault)
    return undefined
  }
}

interface ListTraits extends Traits {
  /** Whether one text with commas is a list too. */
  readonly commas?: true
  readonly most?: number
  /** Of one entry, in characters. */
  readonly longest?: number
  readonly tooLong?: string
  readonly tooMany?: string
  readonly format?: Format
  /** The rule's words about entries that are none of `items`; without them they are refused as a parameter. */
  readonly unlisted?: (entries: readonly string[]) => string
}

/** A list of texts, with null for the empty one. */
export function list(fallback: readonly string[], about: string, traits: ListTraits = {}): Setting<string[]> {
  const { most = 10_000, longest = 1000 } = traits
  const schema = ListOf(Text({ maxLength: longest }), traits.commas ? { commaSeparated: true } : {})
  return setting<string[]>(
    schema,
    [...fallback],
    about,
    (given, name, faults) => {
      const entries = takeTexts(given, name, faults, traits.commas === true)
      if (entries === undefined) return undefined
      const fault =
        entries.length > most
          ? (traits.tooMany ?? `is too long (maximum is ${most} entries)`)
          : entries.some((entry) => isLonger(entry, longest))
            ? (traits.tooLong ?? `entries cannot be larger than ${longest} characters`)
            : entries.map((entry) => traits.format?.(entry)).find((text) => text !== undefined)
      if (fault === undefined) return entries
      faults.rule(name, fault)
      return undefined
    },
    traits,
  )
}

/** A list of listed texts. `unknown` stands for an entry that is none of them. */
export function choices<const T extends string>(
  items: readonly [T, ...T[]],
  fallback: readonly NoInfer<T>[],
  about: string,
  traits: ListTraits & {
    readonly unknown?: NoInfer<T>
    /** Entries that are taken for one of the list: the vendor's spelling. */
    readonly spellings?: Readonly<Record<string, NoInfer<T>>>
  } = {},
): Setting<T[]> {
  const schema = ListOf(OneOf(items, {}), traits.commas ? { commaSeparated: true } : {})
  const isListed = (entry: string): entry is T => items.some((item) => item === entry)
  return setting<T[]>(
    schema,
    [...fallback],
    about,
    (given, name, faults) => {
      const texts = takeTexts(given, name, faults, traits.commas === true)
      if (texts === undefined) return undefined
      const { unknown, unlisted, spellings = {} } = traits
      const entries = texts.map((entry) => (Object.hasOwn(spellings, entry) ? spellings[entry]! : entry))
      const known =
        unknown === undefined ? entries : entries.map((entry) => (isListed(entry) ? entry : unknown))
      if (known.every(isListed)) return [...new Set(known)]
      if (unlisted === undefined) faults.parameter(`${name} does not have a valid value`)
      else faults.rule(name, unlisted(known.filter((entry) => !isListed(entry))))
      return undefined
    },
    traits,
  )
}

/** A list of ids. */
export function ids(about: string, traits: ListTraits = {}): Setting<number[]> {
  const { most = 10_000 } = traits
  return setting<number[]>(
    ListOf(Int(), { commaSeparated: true }),
    [],
    about,
    (given, name, faults) => {
      const entries = takeTexts(given, name, faults, true)
      if (entries === undefined) return undefined
      if (entries.length > most) {
        faults.rule(name, traits.tooMany ?? `is too long (maximum is ${most} entries)`)
        return undefined
      }
      const numbers = entries.map(Number)
      if (numbers.every((id) => Number.isSafeInteger(id) && id >= 0)) return numbers
      faults.parameter(`${name} is invalid`)
      return undefined
    },
    traits,
  )
}

function takeTexts(given: unknown, name: string, faults: Faults, commas: boolean): string[] | undefined {
  if (isBlank(given)) return []
  const entries: unknown[] | undefined = Array.isArray(given) ? given : commas ? [given] : undefined
  if (entries === undefined || !entries.every(isScalar)) {
    faults.parameter(`${name} is invalid`)
    return undefined
  }
  const texts = entries.map((entry) => (entry === null ? '' : String(entry)))
  const pieces = commas ? texts.flatMap((entry) => entry.split(',')) : texts
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '')
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

/** The entries of a text that separates them by commas, semicolons or any white space. */
export function entriesOf(text: string): string[] {
  return [...new Set(text.split(/[,;\s]+/).filter((entry) => entry !== ''))]
}
