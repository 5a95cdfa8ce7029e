import type { ContinuedThread } from '../notes/index.ts'

/** Threads that a description quotes; of more it says how many. */
const mostQuoted = 100
/** Characters of a thread's first note. */
const longestQuote = 200

/** What an issue is about that goes on with threads of a merge request. Internal ones are quoted where few read it. */
export function descriptionOf(
  threads: readonly ContinuedThread[],
  { iid, confidential }: { readonly iid: number; readonly confidential: boolean },
): string {
  const quotable = threads.filter(({ internal }) => confidential || !internal)
  const quoted = quotable.slice(0, mostQuoted).map(({ author, body }) => {
    const shown = Array.from(body).slice(0, longestQuote).join('')
    const text = shown === body ? body : `${shown}…`
    const lines = text.split(/\r\n|\n|\r/).map((line) => `  > ${line}`.trimEnd())
    return `- [ ] ${author === null ? 'Somebody' : `@${author}`} wrote:\n\n${lines.join('\n')}`
  })
  const more = threads.length - quoted.length
  const rest = more > 0 ? [`And ${more} more.`] : []
  return [`What was said in !${iid} and is left to do:`, ...quoted, ...rest].join('\n\n')
}
