import { ConfigError } from '../config/config-error.ts'
import { interpolationText } from '../messages.ts'
import type { Data } from '../config/data.ts'

/** Puts variables into a text; throws a ConfigError where it may not. */
export type ExpandVariables = (text: string) => string

interface TextFunction {
  name: string
  pattern: RegExp
  apply: (text: string, args: string[], expand: ExpandVariables) => Data
}

const functions: TextFunction[] = [
  { name: 'expand_vars', pattern: /^expand_vars$/, apply: (text, _, expand) => expand(text) },
  { name: 'posix_escape', pattern: /^posix_escape$/, apply: posixEscape },
  { name: 'posix_quote', pattern: /^posix_quote$/, apply: posixEscape },
  {
    name: 'truncate',
    pattern: /^truncate\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)$/,
    apply: (text, [offset, length]) => {
      const characters = Array.from(text)
      return characters.slice(Number(offset), Number(offset) + Number(length)).join('')
    },
  },
  {
    name: 'split',
    pattern: /^split\('([^']*)'\)$/,
    apply(text, [separator = '']) {
      if (separator === '') throw new ConfigError(interpolationText.emptySeparator)
      const parts = text.split(separator).map((part) => part.trim())
      return parts.filter((part) => part !== '')
    },
  },
]

/** Applies what stands behind a `|`. Throws a ConfigError. */
export function applyFunction(call: string, value: Data, expand: ExpandVariables): Data {
  for (const { name, pattern, apply } of functions) {
    const match = pattern.exec(call)
    if (match === null) continue
    if (typeof value !== 'string') {
      throw new ConfigError(interpolationText.inFunction(name, interpolationText.notText(name)))
    }
    try {
      return apply(value, match.slice(1), expand)
    } catch (error) {
      throw error instanceof ConfigError
        ? new ConfigError(interpolationText.inFunction(name, error.message))
        : error
    }
  }
  throw new ConfigError(interpolationText.noFunction(call))
}

/** One word for a POSIX shell. */
function posixEscape(text: string): string {
  if (text === '') return "''"
  return text.replaceAll(/[^\w\-.,:+/@\n]/g, '\\$&').replaceAll('\n', "'\n'")
}
