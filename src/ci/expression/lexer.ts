export type Token =
  | { kind: 'variable' | 'input' | 'string'; text: string }
  | { kind: 'pattern'; source: string; flags: string }
  | { kind: 'null' | 'true' | 'false' }
  | { kind: '==' | '!=' | '=~' | '!~' | '&&' | '||' | '(' | ')' }

/** An expression may have no more tokens than this. */
const mostTokens = 100
const longestExpression = 20_000

type Rule = [regex: RegExp, token: (match: RegExpExecArray) => Token]

// Patterns need at least two characters; a slash within is written `\/`.
const rules: Rule[] = [
  [/\$\[\[\s*inputs\.([\w-]+)\s*\]\]/y, ([, name]) => ({ kind: 'input', text: name! })],
  [/\$(\w+)/y, ([, name]) => ({ kind: 'variable', text: name! })],
  [/"([^"]*)"|'([^']*)'/y, ([, double, single]) => ({ kind: 'string', text: double ?? single! })],
  [
    /\/((?:[^/\\]|\\[^]){2,}|\\[^])\/([ismU]*)/y,
    ([, source, flags]) => ({ kind: 'pattern', source: source!, flags: flags! }),
  ],
  [/(?:null|true|false)\b/y, ([word]) => ({ kind: word as 'null' })],
  [/==|!=|=~|!~|&&|\|\||\(|\)/y, ([operator]) => ({ kind: operator as '==' })],
]

/** The tokens of an expression, or null where a piece of the text is none or there are too many. */
export function tokenize(text: string): Token[] | null {
  if (text.length > longestExpression) return null
  const tokens: Token[] = []
  const space = /\s*/y
  let at = 0
  for (;;) {
    space.lastIndex = at
    space.exec(text)
    at = space.lastIndex
    if (at >= text.length) return tokens
    const token = next(text, at)
    if (token === null || tokens.length === mostTokens) return null
    tokens.push(token.token)
    at = token.end
  }
}

function next(text: string, at: number): { token: Token; end: number } | null {
  for (const [regex, token] of rules) {
    regex.lastIndex = at
    const match = regex.exec(text)
    if (match !== null) return { token: token(match), end: regex.lastIndex }
  }
  return null
}
