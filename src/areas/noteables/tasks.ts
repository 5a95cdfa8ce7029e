export interface TaskCounts {
  readonly count: number
  readonly completed_count: number
}

/** One item of a checklist; `done` null: it is not to be done. */
interface Task {
  readonly text: string
  readonly done: boolean | null
}

const item = /^\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX~])\]\s+(\S.*)/
const fence = /^\s*(`{3,}|~{3,})/

/** The checklist items of a text in Markdown, those in code apart. */
function tasksIn(text: string | null): Task[] {
  if (text?.includes('[') !== true) return []
  const found: Task[] = []
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
    const [, box, words] = item.exec(line) ?? []
    if (box !== undefined) found.push({ text: words!.trim(), done: box === '~' ? null : box !== ' ' })
  }
  return found
}

/** How many checklist items there are; `[~]` is neither open nor done, and not counted. */
export function countTasks(text: string | null): TaskCounts {
  const counted = tasksIn(text).filter(({ done }) => done !== null)
  return { count: counted.length, completed_count: counted.filter(({ done }) => done).length }
}

/** The items that were ticked, or whose tick was taken back, in a text in which nothing else of them changed. */
export function changedTasks(before: string | null, now: string | null): Task[] {
  const was = tasksIn(before)
  const are = tasksIn(now)
  if (was.length !== are.length || are.some(({ text }, place) => text !== was[place]!.text)) return []
  return are.filter(({ done }, place) => done !== was[place]!.done)
}
