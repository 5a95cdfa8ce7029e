import { compilePattern, parseDuration } from '../../ci/index.ts'
import { ApiError, invalidParameters } from '../../kernel/errors/index.ts'

/** Which tags of a repository are to go. */
export interface Selection {
  /** Names that go; RE2, over the whole name. */
  readonly remove: string
  /** Names that stay all the same; empty: none. */
  readonly keep: string
  /** So many of the newest stay. */
  readonly keepNewest: number
  /** Only what is older, in seconds. */
  readonly olderThan: number
  /** Tags in whose name one of these is found are not for whoever asks to remove. */
  readonly denied: readonly string[]
}

/** Never removed by a selection. */
const always = 'latest'

/** Says of tags, told newest first, which go. */
export function selector(
  { remove, keep, keepNewest, olderThan, denied }: Selection,
  now: number,
): (tag: { readonly name: string; readonly pushedAt: Date }) => boolean {
  const removed = whole(remove)
  const kept = keep === '' ? undefined : whole(keep)
  const refused = denied.map((pattern) => compilePattern(pattern))
  let newest = 0
  return ({ name, pushedAt }) => {
    if (name === always || !removed(name) || kept?.(name) === true) return false
    newest += 1
    if (newest <= keepNewest) return false
    if (pushedAt.getTime() > now - olderThan * 1000) return false
    return !refused.some((pattern) => pattern?.test(name) ?? true)
  }
}

function whole(pattern: string): (name: string) => boolean {
  const compiled = compilePattern(`^(?:${pattern})$`)
  // A pattern is checked when it is given; one that is too much for us removes nothing.
  return (name) => compiled?.test(name) ?? false
}

/** Refuses a pattern that is none. */
export function checkPattern(name: string, pattern: string): void {
  if (compilePattern(`^(?:${pattern})$`) === null) {
    throw invalidParameters([`${name} is an invalid regexp: it is not valid RE2 syntax, or too large`])
  }
}

/** Seconds of `1h`, `7d`, `1month`. */
export function readAge(name: string, text: string): number {
  const seconds = parseDuration(text)
  if (seconds === null) throw invalidParameters([`${name} is invalid`])
  return seconds
}

export function tooOften(): ApiError {
  return new ApiError(400, {
    message:
      'This request has already been made. You can run this at most once an hour for a given container repository',
  })
}
