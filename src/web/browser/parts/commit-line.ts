import { tags } from '../dom.ts'
import type { Commit } from '../entities.ts'
import { address, slashed } from '../here.ts'
import { ago } from './time.ts'

const { a, code, div, span } = tags

/** A commit in one line: what it says, who made it, when, and which it is. */
export function commitLine(project: string, commit: Commit): HTMLElement {
  const href = address`/${slashed(project)}/-/commit/${commit.id}`
  return div(
    { className: 'commit-line' },
    a({ href, className: 'subject' }, commit.title),
    span({ className: 'soft' }, commit.author_name, ' ', ago(commit.committed_date)),
    a({ href }, code(commit.short_id)),
  )
}
