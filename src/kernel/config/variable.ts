/** One environment variable: its parser says in words what is wrong with a value. */
export interface Variable<T> {
  readonly about: string
  /** As written in the documentation; the value itself comes from `parse(undefined)`. */
  readonly fallback: string
  readonly parse: (text: string | undefined) => T
}

/** A value that cannot be used; the message ends the sentence `PORT: "x" ...`. */
export class Unusable extends Error {}

export function text(fallback: string, about: string): Variable<string> {
  return { about, fallback, parse: (value) => value ?? fallback }
}

export function optional<T>(inner: (value: string) => T, about: string): Variable<T | undefined> {
  return { about, fallback: 'unset', parse: (value) => (value === undefined ? undefined : inner(value)) }
}

export function integer(fallback: number, [low, high]: [number, number], about: string): Variable<number> {
  return {
    about,
    fallback: String(fallback),
    parse(value) {
      if (value === undefined) return fallback
      const number = Number(value)
      if (!/^\d+$/.test(value) || number < low || number > high) {
        throw new Unusable(`is not a whole number from ${low} to ${high}`)
      }
      return number
    },
  }
}

export function oneOf<const T extends string>(values: readonly T[], fallback: T, about: string): Variable<T> {
  return {
    about: `${about} One of ${values.map((value) => `\`${value}\``).join(', ')}.`,
    fallback,
    parse(value) {
      const found = value === undefined ? fallback : values.find((one) => one === value)
      if (found === undefined) throw new Unusable(`is not one of ${values.join(', ')}`)
      return found
    },
  }
}

export function flag(fallback: boolean, about: string): Variable<boolean> {
  const named = oneOf(['true', 'false'], fallback ? 'true' : 'false', about)
  return { ...named, parse: (value) => named.parse(value) === 'true' }
}
