import { parseOid, type Repository } from '../../../git/index.ts'
import { contentOf } from '../positions/diff.ts'
import type { Position } from '../positions/position.ts'
import { proposalsOf } from './parse.ts'

/** What a note proposes, with the lines as they are. */
export interface NewSuggestion {
  readonly above: number
  readonly below: number
  readonly from: string
  readonly to: string
}

/** Characters that are to be replaced: what is longer is no text that people review by lines. */
const longestContent = 100_000

/** The lines of a file with their ends; undefined of what is no text in UTF-8, and where it is not there. */
export async function linesOf(
  repository: Repository,
  sha: string,
  path: string,
): Promise<string[] | undefined> {
  const oid = parseOid(sha)
  const content = oid && (await contentOf(repository, oid, path))
  if (content === undefined) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
    return text.includes('\0') ? undefined : (text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
  } catch {
    return undefined
  }
}

/** Lines by their numbers, both included; lines that the file does not have are left out. */
export function between(lines: readonly string[], from: number, to: number): string {
  return lines.slice(from - 1, to).join('')
}

/** What a text proposes for the lines of a position. Lines that a merge request takes away cannot be written otherwise. */
export async function suggestionsFor(
  repository: Repository,
  position: Position | null | undefined,
  text: string,
): Promise<NewSuggestion[]> {
  if (position?.position_type !== 'text' || position.new_line === null) return []
  const proposals = proposalsOf(text)
  if (proposals.length === 0) return []
  const line = position.new_line
  const lines = await linesOf(repository, position.head_sha, position.new_path)
  if (lines === undefined || line > lines.length) return []
  return proposals.flatMap(({ above, below, content }) => {
    const from = Math.max(1, line - above)
    const to = Math.min(lines.length, line + below)
    const replaced = between(lines, from, to)
    if (replaced.length > longestContent) return []
    return [{ above: line - from, below: to - line, from: replaced, to: content }]
  })
}
