import { parseDuration } from '../../kernel/lib/duration.ts'
import type { Settings } from '../../settings/index.ts'

/** Whether a pipeline is so old that its jobs are only to be looked at. */
export function isArchived(
  pipeline: { readonly created_at: Date | string },
  { archive_builds_in_human_readable: age }: Settings['values'],
  now = Date.now(),
): boolean {
  const seconds = age === null ? null : parseDuration(age)
  return seconds !== null && new Date(pipeline.created_at).getTime() < now - seconds * 1000
}
