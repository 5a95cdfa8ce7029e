import { invalid, refused } from '../../kernel/errors/index.ts'
import { httpUrl } from '../../settings/index.ts'

export const states = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type State = (typeof states)[number]

/** A status that may still change: others are done, and a further report begins a new one. */
export type Open = 'pending' | 'running'

/** How each state is come to, and from where; a status that is reported for the first time is `created`. */
const transitions: Readonly<Record<State, { event: string; from: readonly (Open | 'created')[] }>> = {
  pending: { event: 'enqueue', from: ['created'] },
  running: { event: 'run', from: ['created', 'pending'] },
  success: { event: 'success', from: ['created', 'pending', 'running'] },
  failed: { event: 'drop', from: ['created', 'pending', 'running'] },
  canceled: { event: 'cancel', from: ['created', 'pending', 'running'] },
  skipped: { event: 'skip', from: ['created', 'pending'] },
}

/** Refuses a report that does not follow from what was reported before. */
export function requireTransition(from: Open | 'created', to: State): void {
  const { event, from: allowed } = transitions[to]
  if (allowed.includes(from)) return
  throw refused(
    400,
    `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`,
  )
}

/** Browsers are led to the address of a report: of the web, or none. */
export function requireWebAddress(url: string | undefined): void {
  const fault = url === undefined || url === '' ? undefined : httpUrl(url)
  if (fault !== undefined) throw invalid({ target_url: [fault] })
}
