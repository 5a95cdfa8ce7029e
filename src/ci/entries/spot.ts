/**
 * A place in the file that can be at fault. Its texts read `<location> <attribute> <message>`, all in lower case; the
 * attribute `config` stands for the value at the location itself.
 */
export class Spot {
  readonly location: string
  readonly attribute: string
  readonly errors: string[]

  constructor(errors: string[], location = '', attribute = 'config') {
    this.errors = errors
    this.location = location
    this.attribute = attribute
  }

  /** An attribute of the value here: `jobs:a` and `expire_in` make `jobs:a expire in`. */
  key(name: string): Spot {
    return new Spot(this.errors, this.location, name.replaceAll('_', ' '))
  }

  /** A value of its own below this one: `jobs:a` and `script` make `jobs:a:script`. */
  child(name: string): Spot {
    return new Spot(this.errors, this.location === '' ? name : `${this.location}:${name}`)
  }

  /** The same place under another last name. */
  sibling(name: string): Spot {
    return new Spot(this.errors, this.location.replace(/[^:]*$/, name))
  }

  /** Like its siblings it returns undefined, which is what a reader says of a wrong value. */
  fail<T>(message: string): T | undefined {
    return this.failHere(`${this.attribute} ${message}`)
  }

  /** Without an attribute between location and message. */
  failHere<T>(message: string): T | undefined {
    return this.failPlain(`${this.location} ${message}`.trimStart().toLowerCase())
  }

  /** The message alone. */
  failPlain<T>(message: string): T | undefined {
    this.errors.push(message)
    return undefined
  }
}

/**
 * Reads one value of the file into what the compiler works with. Reports to the spot and returns undefined when the
 * value is wrong; what it returns is only used when nothing at all was reported.
 */
export type Read<T> = (value: unknown, spot: Spot) => T | undefined
