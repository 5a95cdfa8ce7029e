/**
 * Distinguished names (RFC 4514) in the one spelling in which they are compared: attribute types and values in lower
 * case, no space around separators, parts of a multi-valued name in order, escapes written one way. Undefined for a
 * text that is no distinguished name.
 */
export function dnKey(dn: string): string | undefined {
  // As nearly all are, of which a sync reads very many.
  if (plain.test(dn)) return dn.toLowerCase()
  const names = parseDn(dn)
  return names?.map((parts) => parts.map(written).sort().join('+')).join(',')
}

/** Without anything that could be written in another way. */
const plain = /^(?:[a-z][a-z0-9-]*=[a-z0-9._-]+)(?:,[a-z][a-z0-9-]*=[a-z0-9._-]+)*$/i

interface Part {
  readonly type: string
  readonly value: string
}

/** Whether a name, given by its key, lies below another one. */
export function isBelowDn(key: string, aboveKey: string): boolean {
  return aboveKey === '' || key.endsWith(`,${aboveKey}`)
}

/** The attribute and value that a name begins with, when it is a single one: `cn=a,dc=b` is `a` as `cn`. */
export function firstPart(dn: string): Part | undefined {
  const first = parseDn(dn)?.[0]
  return first?.length === 1 ? first[0] : undefined
}

function written({ type, value }: Part): string {
  const text = value.toLowerCase().trim().replace(/ +/g, ' ')
  return `${type.toLowerCase()}=${text.replace(/[\\,+"<>;=]/g, '\\$&')}`
}

function parseDn(dn: string): Part[][] | undefined {
  if (dn.trim() === '') return []
  const names: Part[][] = []
  for (const name of split(dn, /[,;]/)) {
    const parts: Part[] = []
    for (const part of split(name, /\+/)) {
      const [, type, raw] = /^\s*([a-z][a-z0-9-]*|\d+(?:\.\d+)*)\s*=(.*)$/is.exec(part) ?? []
      const value = raw === undefined ? undefined : unescaped(raw.trimStart())
      if (type === undefined || value === undefined) return undefined
      parts.push({ type, value })
    }
    names.push(parts)
  }
  return names
}

/** At separators that are neither escaped nor between quotes. */
function split(text: string, separator: RegExp): string[] {
  const found: string[] = []
  let quoted = false
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!
    if (character === '\\') at += 1
    else if (character === '"') quoted = !quoted
    else if (!quoted && separator.test(character)) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...found, text.slice(from)]
}

/** `\2C` and `\,` are a comma; several bytes in a row are one text in UTF-8. */
function unescaped(raw: string): string | undefined {
  // A space at the end counts only when it is escaped.
  const trimmed = raw.replace(/(?<!\\) +$/, '')
  const text = /^"(.*)"$/s.exec(trimmed)?.[1] ?? trimmed
  const bytes: Buffer[] = []
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== '\\') {
      const character = String.fromCodePoint(text.codePointAt(at)!)
      bytes.push(Buffer.from(character))
      at += character.length - 1
      continue
    }
    const hex = /^[0-9a-f]{2}/i.exec(text.slice(at + 1, at + 3))?.[0]
    if (hex !== undefined) bytes.push(Buffer.from(hex, 'hex'))
    else if (at + 1 < text.length) bytes.push(Buffer.from(text[at + 1]!))
    else return undefined
    at += hex === undefined ? 1 : 2
  }
  return Buffer.concat(bytes).toString()
}
