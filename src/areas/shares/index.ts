import type { Database } from '../../kernel/db/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { removeExpired } from './store.ts'

export { ProjectShare, SharedWith, type SharedWithRow, type ShareRow } from './entities.ts'
export { noSuchGroup, share, shareParams, unshare } from './share.ts'
export { find as findShare, sharedWith, type Shared } from './store.ts'

const expiry = 'remove-expired-shares'

/** Shares: groups whose members are let into other groups and into projects. Their endpoints are those of what is shared. */
export function shares({ db }: { readonly db: Database }): { tasks: Task[]; schedules: Schedule[] } {
  return {
    // Access ends with the day itself; this only tidies up.
    tasks: [{ name: expiry, run: () => removeExpired(db.writer) }],
    schedules: [{ task: expiry, pattern: '15 0 * * *' }],
  }
}
