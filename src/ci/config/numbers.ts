import type { ScalarTag } from 'yaml'

/**
 * The numbers of YAML 1.1 as files of the field are read: octal begins with `0`, and without a point nothing is a
 * fraction. What looks like more (`08`, `1e3`, `0o17`) is text, so versions and hashes stay as they are written. A number
 * that JavaScript would write in another way (`1.0`, a very long one) is the text of itself.
 */
export const numbers: ScalarTag[] = [
  whole(/^[-+]?(?:0|[1-9](?:[0-9]|[_,][0-9])*)$/, ''),
  whole(/^[-+]?0[_,]*[0-7][0-7_,]*$/, '0o'),
  whole(/^[-+]?0x[_,]*[0-9a-fA-F][0-9a-fA-F_,]*$/, '0x'),
  whole(/^[-+]?0b[_,]*[01][01_,]*$/, '0b'),
  {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    test: /^[-+]?(?:(?:[0-9][0-9_,]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?$/,
    resolve(text) {
      const value = Number(plain(text))
      if (!Number.isInteger(value)) return Number.isFinite(value) ? value : text
      return Math.abs(value) < 1e16 ? value.toFixed(1) : text
    },
  },
  {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    test: /^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/,
    resolve: (text) => text,
  },
]

/** `prefix`: as JavaScript marks the base. */
function whole(test: RegExp, prefix: string): ScalarTag {
  return {
    tag: 'tag:yaml.org,2002:int',
    default: true,
    test,
    resolve(text) {
      const digits = plain(text).replace(/^[-+]/, '').replace(prefix.replace('o', ''), '')
      const value = BigInt(prefix + digits) * (text.startsWith('-') ? -1n : 1n)
      const near = Number(value)
      return Number.isSafeInteger(near) ? near : String(value)
    },
  }
}

const plain = (text: string) => text.replaceAll(/[_,]/g, '')
