/** Whom a text names. Names are in small letters, each once. */
export interface Mentions {
  /** Of people and groups: `ida`, `acme/team`. */
  readonly names: readonly string[]
  /** Those of them that a line begins with. */
  readonly addressed: ReadonlySet<string>
  /** `@all`. */
  readonly everybody: boolean
}

const nobody: Mentions = { names: [], addressed: new Set(), everybody: false }

const fence = /^ {0,3}(`{3,}|~{3,})/
const quote = /^ {0,3}>/
const indented = /^(?: {4}|\t)/
const name =
  /[a-z0-9_](?:[a-z0-9_.-]{0,253}[a-z0-9_-])?(?:\/[a-z0-9_](?:[a-z0-9_.-]{0,253}[a-z0-9_-])?){0,20}/
const mention = new RegExp(`(^|[^a-z0-9_/@.-])@(${name.source})`, 'gi')
const greeting = new RegExp(`^\\s*(?:@${name.source}[\\s,:]*)+`, 'i')

/**
 * The mentions of a text in Markdown: `@ida`, `@acme/team`, `@all`. What is quoted, stands in code or is commented out
 * names nobody anew.
 */
export function mentionsIn(text: string | null | undefined): Mentions {
  if (text?.includes('@') !== true) return nobody
  const names = new Set<string>()
  const addressed = new Set<string>()
  for (const line of spokenLines(text)) {
    if (!line.includes('@')) continue
    const said = withoutCode(line)
    for (const [, , found] of said.matchAll(mention)) names.add(found!.toLowerCase())
    for (const [, , found] of (greeting.exec(said)?.[0] ?? '').matchAll(mention)) {
      addressed.add(found!.toLowerCase())
    }
  }
  const everybody = names.delete('all')
  return { names: [...names], addressed, everybody }
}

/** The lines that are neither quoted nor code, with comments taken out. */
export function* spokenLines(text: string): Generator<string> {
  let open: string | undefined
  let blank = true
  for (const line of withoutComments(text).split(/\r\n|\n|\r/)) {
    const marker = fence.exec(line)?.[1]
    if (open !== undefined) {
      if (marker?.startsWith(open) === true) open = undefined
    } else if (marker !== undefined) {
      open = marker
    } else if (!quote.test(line) && !(blank && indented.test(line))) {
      yield line
      blank = line.trim() === ''
    }
  }
}

function withoutComments(text: string): string {
  if (!text.includes('<!--')) return text
  let kept = ''
  let from = 0
  for (;;) {
    const start = text.indexOf('<!--', from)
    if (start === -1) return kept + text.slice(from)
    kept += text.slice(from, start)
    const end = text.indexOf('-->', start)
    if (end === -1) return kept
    from = end + 3
  }
}

/** A line without its spans of code. */
function withoutCode(line: string): string {
  if (!line.includes('`')) return line
  const pieces = line.split(/(`+)/)
  let said = ''
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at]!
    if (!piece.startsWith('`')) {
      said += piece
      continue
    }
    const end = pieces.indexOf(piece, at + 1)
    if (end !== -1) at = end
    said += ' '
  }
  return said
}
