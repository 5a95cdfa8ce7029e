import { compilePattern } from './regex.ts'

/**
 * Matches paths as `rules:changes` and `rules:exists` do: `*` and `?` stay within one folder, `**` followed by a
 * slash crosses folders, `{a,b}` are alternatives, `[a-z]` is a set; a leading dot is nothing special. Null when the
 * pattern is malformed.
 */
export function compileGlob(glob: string): ((path: string) => boolean) | null {
  if (!/[*?[{\\]/.test(glob)) return (path) => path === glob
  const pattern = compilePattern(`^(?:${translate(glob)})$`, 's')
  return pattern && ((path) => pattern.test(path))
}

/** As file names in `include` and cache keys: `*` stays within a folder, `**` does not, all else is literal. */
export function compileWildcard(wildcard: string): (path: string) => boolean {
  const parts = wildcard.split(/(\*+)/)
  const regex = parts.map((part) => (part.startsWith('*') ? (part === '*' ? '[^/]*' : '.*') : quoted(part)))
  const pattern = compilePattern(`^${regex.join('')}$`, 's')
  return (path) => pattern?.test(path) === true
}

const quoted = (text: string) => Array.from(text, quote).join('')

function translate(glob: string): string {
  let regex = ''
  let braces = 0
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!
    if (char === '*') {
      const folders = glob.startsWith('**/', i) && (i === 0 || glob[i - 1] === '/' || glob[i - 1] === '{')
      regex += folders ? '(?:.*/)?' : '[^/]*'
      if (folders) i += 2
      else while (glob[i + 1] === '*') i++
    } else if (char === '?') regex += '[^/]'
    else if (char === '{') {
      braces++
      regex += '(?:'
    } else if (char === '}' && braces > 0) {
      braces--
      regex += ')'
    } else if (char === ',' && braces > 0) regex += '|'
    else if (char === '[') {
      const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(glob.slice(i))
      if (set?.[2]) {
        regex += `[${set[1] === '' ? '' : '^'}${set[2].replaceAll(/[\\[\]^&~]/g, '\\$&')}]`
        i += set[0].length - 1
      } else regex += '\\['
    } else if (char === '\\' && i + 1 < glob.length) regex += quote(glob[++i]!)
    else regex += quote(char)
  }
  return regex + ')'.repeat(braces)
}

function quote(char: string): string {
  return /[\\^$.|?*+()[\]{}]/.test(char) ? `\\${char}` : char
}
