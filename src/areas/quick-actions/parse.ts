import type { Spoken } from '../notes/index.ts'

const fence = /^ {0,3}(`{3,}|~{3,})/
const quote = /^ {0,3}>/
const line = /^\/([a-z_]+)(?:[ \t]+(.*?))?[ \t]*$/i

/** What becomes of a line: `command` is taken out and done, `said` stays. */
export interface Vocabulary {
  /** The command of this name in small letters; undefined: no such command here. */
  readonly known: (name: string) => { readonly name: string; readonly says?: string } | undefined
}

/**
 * Takes the commands out of a text: lines that begin with `/name`, but in code, in what is quoted and in comments. Some
 * commands are words for other texts (`says`), which stand in their place.
 */
export function parseCommands(text: string, { known }: Vocabulary): Spoken {
  if (!text.includes('/')) return { text, commands: [] }
  const kept: string[] = []
  const commands: { name: string; argument: string }[] = []
  let fenced: string | undefined
  let commented = false
  for (const one of text.split(/\r\n|\n|\r/)) {
    const inComment = commented
    commented = opensComment(one, commented)
    const marker = fence.exec(one)?.[1]
    if (fenced !== undefined) {
      if (marker?.startsWith(fenced) === true) fenced = undefined
      kept.push(one)
      continue
    }
    if (marker !== undefined && !inComment) {
      fenced = marker
      kept.push(one)
      continue
    }
    const [, name, argument = ''] = (!inComment && !quote.test(one) && line.exec(one)) || []
    const command = name === undefined ? undefined : known(name.toLowerCase())
    if (command === undefined) kept.push(one)
    else if (command.says === undefined) commands.push({ name: command.name, argument: argument.trim() })
    else kept.push(`${argument} ${command.says}`.trim())
  }
  return commands.length === 0 && kept.join('\n') === text.replaceAll(/\r\n|\r/g, '\n')
    ? { text, commands }
    : { text: kept.join('\n').trim(), commands }
}

/** Whether a comment is open after a line. */
function opensComment(text: string, before: boolean): boolean {
  const opened = text.lastIndexOf('<!--')
  const closed = text.lastIndexOf('-->')
  return opened === closed ? before : opened > closed
}
