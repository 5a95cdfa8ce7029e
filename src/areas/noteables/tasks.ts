export interface TaskCounts {
  readonly count: number
  readonly completed_count: number
}

const item = /^\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX~])\]\s+\S/
const fence = /^\s*(`{3,}|~{3,})/

/** The checklist items of a text in Markdown, those in code apart; `[~]` is neither open nor done, and not counted. */
export function countTasks(text: string | null): TaskCounts {
  let count = 0
  let done = 0
  if (text?.includes('[') !== true) return { count, completed_count: done }
  let open: string | undefined
  for (const line of text.split('\n')) {
    const marker = fence.exec(line)?.[1]
    if (open !== undefined) {
      if (marker?.startsWith(open) === true) open = undefined
      continue
    }
    if (marker !== undefined) {
      open = marker
      continue
    }
    const box = item.exec(line)?.[1]
    if (box === undefined || box === '~') continue
    count += 1
    if (box !== ' ') done += 1
  }
  return { count, completed_count: done }
}
