/** What a note proposes to write instead of the line that it stands at, and of some lines around it. */
export interface Proposal {
  readonly above: number
  readonly below: number
  readonly content: string
}

const fence = /^( {0,3})(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$/
const meaning = /^suggestion(?::-(\d{1,6})\+(\d{1,6}))?$/

/** Lines above or below. */
const farthest = 100
/** Of one note. */
const mostProposals = 50

/** The blocks of code of a text that are called `suggestion`, or `suggestion:-2+1` for two lines above and one below. */
export function proposalsOf(text: string): Proposal[] {
  const found: Proposal[] = []
  let open:
    { readonly mark: string; readonly indent: number; readonly means: RegExpExecArray | null } | undefined
  let lines: string[] = []
  const finish = (): void => {
    if (open?.means != null && found.length < mostProposals) {
      const [, above = '0', below = '0'] = open.means
      found.push({
        above: Math.min(Number(above), farthest),
        below: Math.min(Number(below), farthest),
        content: lines.map((line) => `${line}\n`).join(''),
      })
    }
    open = undefined
  }
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [, spaces = '', mark, info = ''] = fence.exec(line) ?? []
    if (open === undefined) {
      // What is between backticks in one line is code of that line.
      if (mark === undefined || (mark.startsWith('`') && info.includes('`'))) continue
      open = { mark, indent: spaces.length, means: meaning.exec(info) }
      lines = []
    } else if (mark?.startsWith(open.mark) === true && info === '') finish()
    else lines.push(unindented(line, open.indent))
  }
  // A block that nobody closed goes to the end.
  finish()
  return found
}

function unindented(line: string, most: number): string {
  const spaces = /^ */.exec(line)![0].length
  return line.slice(Math.min(spaces, most))
}
