/**
 * A pattern of the `artifacts` and `cache` keywords as an expression over slash-separated paths: `*` and `?` stay
 * within a name, `**` spans folders, `{a,b}` and `[a-z]` choose; names may begin with a dot.
 */
export function globExpression(pattern: string): RegExp {
  return new RegExp(`^${translate(pattern)}$`, 'su')
}

export function isGlob(pattern: string) {
  return /[*?[{\\]/.test(pattern)
}

/** The folder every match lies in: what stands before the first special character. */
export function globBase(pattern: string) {
  const parts = pattern.split('/')
  const special = parts.findIndex((part) => isGlob(part))
  return parts.slice(0, special < 0 ? -1 : special).join('/')
}

function translate(pattern: string): string {
  let result = ''
  let at = 0
  while (at < pattern.length) {
    const rest = pattern.slice(at)
    const [length, expression] = element(rest, result === '' || result.endsWith('/'))
    result += expression
    at += length
  }
  return result
}

/** The first element of `text`: its length and its expression. */
function element(text: string, atNameStart: boolean): [number, string] {
  const stars = /^\*+/.exec(text)?.[0].length ?? 0
  if (stars > 1 && atNameStart) {
    if (text[stars] === '/') return [stars + 1, '(?:[^/]+/)*']
    if (text.length === stars) return [stars, '.*']
  }
  if (stars > 0) return [stars, '[^/]*']
  if (text.startsWith('?')) return [1, '[^/]']
  if (text.startsWith('\\') && text.length > 1) return literal(text, 1)
  if (text.startsWith('[')) return choiceOfCharacters(text) ?? literal(text)
  if (text.startsWith('{')) return alternatives(text) ?? literal(text)
  return literal(text)
}

function literal(text: string, skipped = 0): [number, string] {
  const character = String.fromCodePoint(text.codePointAt(skipped)!)
  return [skipped + character.length, character.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`)]
}

function choiceOfCharacters(text: string): [number, string] | undefined {
  const found = /^\[([!^]?)(\]?[^\]]*)\]/.exec(text)
  if (found === null || found[2] === '') return undefined
  const body = found[2]!.replace(/\\(.)/gs, '$1').replace(/[\\\]^[/]/g, String.raw`\$&`)
  // A dash that is not between two characters stands for itself.
  const ranges = body.replace(/^-|-$/g, String.raw`\-`)
  return [found[0].length, `(?!/)[${found[1] === '' ? '' : '^'}${ranges}]`]
}

function alternatives(text: string): [number, string] | undefined {
  const parts: string[] = ['']
  const put = (more: string) => parts.push((parts.pop() ?? '') + more)
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\\') {
      put(character + (text[++at] ?? ''))
      continue
    }
    if (character === '{' && ++depth === 1) continue
    if (character === '}' && --depth === 0) return [at + 1, `(?:${parts.map(translate).join('|')})`]
    if (character === ',' && depth === 1) parts.push('')
    else put(character)
  }
  return undefined
}
