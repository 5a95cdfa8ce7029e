/** What somebody wrote who is not known here says so. */
export function signed(text: string | null, author: string): string {
  return `*Created by: ${author.replaceAll(/[*_[\]<>`\r\n]/g, '')}*\n\n${text ?? ''}`.trimEnd()
}

const longestTitle = 255

/** A title as ours are: one line that is not too long. */
export function titleOf(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  return plain.length > longestTitle ? `${plain.slice(0, longestTitle - 1)}…` : plain
}

/** The names of labels stand in lists that commas part. */
export function labelTitle(name: string): string {
  return titleOf(name.replaceAll(',', ' '))
}

const code = /(```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`)/
const mention = /(^|[^\w`/.@])(@[a-z\d](?:[a-z\d_-]{0,99}[a-z\d])?(?:\/[\w-]{1,100})?)(?![\w`@])/gi

/** Who is called by a name there may be somebody else here: names become code, which calls nobody. */
export function quoteMentions(text: string): string {
  return text
    .split(code)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(mention, '$1`$2`')))
    .join('')
}

/** A comment on a line that is not shown any more, with what the line was. */
export function quoted(body: string, path: string, hunk: string): string {
  const lines = hunk.split(/\r?\n/).slice(-4)
  const shown = hunk === '' ? '' : `\n\n${fenced(lines.join('\n'))}`
  return `*Commented on \`${path.replaceAll(/[`\r\n]/g, '')}\`*${shown}\n\n${body}`
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}diff\n${text}\n${fence}`
}
