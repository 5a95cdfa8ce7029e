import { tags } from '../dom.ts'

/** How statuses are told to people, where their names would not do. */
const words: Readonly<Record<string, string>> = {
  waiting_for_resource: 'waiting for resource',
  waiting_for_callback: 'waiting for callback',
  success: 'passed',
  opened: 'open',
}

/** What stands still, and what moves on by itself. */
const moving: ReadonlySet<string> = new Set([
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'canceling',
])

/** The status of a pipeline or a job, or the state of an issue, a merge request or an environment. `allowed`: it failed, and was allowed to. */
export function status(name: string, allowed = false): HTMLElement {
  const shown = name === 'failed' && allowed ? 'warned' : name
  return tags.span({ className: `state ${shown}` }, words[name] ?? name)
}

export function isMoving(name: string): boolean {
  return moving.has(name)
}
