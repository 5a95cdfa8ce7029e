import { parseDuration } from '../../kernel/lib/duration.ts'
import type { SettingValues } from '../../settings/index.ts'

/** Whether a pipeline is so old that it is only to be looked at. */
export function isArchived(
  pipeline: { readonly created_at: Date | string },
  { archive_builds_in_human_readable: age }: Pick<SettingValues, 'archive_builds_in_human_readable'>,
  now = Date.now(),
): boolean {
  const seconds = age === null ? null : parseDuration(age)
  return seconds !== null && new Date(pipeline.created_at).getTime() < now - seconds * 1000
}
