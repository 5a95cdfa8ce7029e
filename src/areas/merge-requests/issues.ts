import type { MergeRequestRow } from './rows.ts'
import type { MergeRequestServices } from './services.ts'

/** `Closes #1 and #2`: the issues that a merge would close, for its message; empty where there are none. */
export async function closingLine(_services: MergeRequestServices, _row: MergeRequestRow): Promise<string> {
  return ''
}
