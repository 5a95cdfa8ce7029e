import { readPage } from '../api.ts'
import type { FileDiff } from '../entities.ts'
import { showInRequest } from '../merge-request-frame.ts'
import { diffView } from '../parts/diff.ts'
import { pager, pageWanted } from '../parts/pager.ts'

await showInRequest('Changes', async ({ at }) => {
  const diffs = await readPage<FileDiff>(`${at}/diffs`, { page: pageWanted(), per_page: 50 })
  return [diffView(diffs.items), pager(diffs)]
})
