import { controlCharacters } from '../../kernel/lib/control-characters.ts'
import type { FeedIssue } from './atom.ts'

/** Issues that are due as a calendar (RFC 5545), each on its day. `host` makes their names unlike those of others. */
export function calendarOf(issues: readonly FeedIssue[], title: string, host: string): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Guildhall//Issues//EN',
    'METHOD:PUBLISH',
    `X-WR-CALNAME:${escaped(title)}`,
    ...issues.flatMap((issue) => event(issue, host)),
    'END:VCALENDAR',
    '',
  ]
  return lines.map(folded).join('\r\n')
}

function event({ iid, title, full_path, web_url, due_date, updated_at }: FeedIssue, host: string): string[] {
  if (due_date === null) return []
  return [
    'BEGIN:VEVENT',
    `UID:${encodeURIComponent(`${full_path}#${iid}`)}@${host}`,
    `DTSTAMP:${new Date(updated_at).toISOString().replace(/[-:]|\.\d+/g, '')}`,
    `DTSTART;VALUE=DATE:${due_date.replaceAll('-', '')}`,
    `SUMMARY:${escaped(`${title} (in ${full_path})`)}`,
    `DESCRIPTION:${escaped(`Find out more at ${web_url}`)}`,
    `URL:${web_url}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

function escaped(text: string): string {
  const lines = text.split(/\r\n?|\n/)
  return lines.map((line) => line.replace(controlCharacters, ' ').replace(/[\\;,]/g, '\\$&')).join('\\n')
}

const longest = 75

/** Lines of at most 75 bytes; the rest follows after a space. No character is cut in two. */
function folded(line: string): string {
  const parts: string[] = []
  let part = ''
  let bytes = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (bytes + size > longest) {
      parts.push(part)
      part = ''
      // The space before it counts.
      bytes = 1
    }
    part += character
    bytes += size
  }
  return [...parts, part].join('\r\n ')
}
