import type { MarkdownIt } from 'markdown-it'

/** Bare addresses are links: those with a scheme, of mail, and of hosts that are called `www`. */
export function bareAddresses(parser: MarkdownIt): void {
  const { linkify } = parser
  parser.enable('linkify')
  parser.set({ linkify: true })
  // A word with a dot is no address.
  linkify.set({ fuzzyLink: false, fuzzyEmail: true })
  for (const schema of ['irc:', 'smb:']) {
    linkify.add(schema, { validate: (text, pos) => lengthAt(linkify.re.get_http_validator(), text, pos) })
  }
  linkify.add('www.', {
    validate: (text, pos) => lengthAt(linkify.re.get_relative_proto_validator(), text, pos),
    normalize(match) {
      match.url = `http://${match.url}`
    },
  })
}

function lengthAt(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0].length ?? 0
}
