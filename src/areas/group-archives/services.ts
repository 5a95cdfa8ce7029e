import { accountProblem, decide, enterAs, group, type Actor, type GroupSubject } from '../../access/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'

/** What the area is built from. */
export interface GroupArchiveServices {
  readonly db: Database
  readonly settings: Settings
  readonly log: Logger
  readonly dataDirectory: string
}

export interface GroupArchiveRoom extends GroupArchiveServices {
  /** The archives. */
  readonly blobs: Blobs
  /** Folder for what is being packed and unpacked. */
  readonly workplace: string
}

/** Who asked for work that goes on after the request, as he is now; undefined: he may no longer. */
export async function standIn(
  db: Database,
  userId: number | null,
  groupId: number,
): Promise<Actor | undefined> {
  const entered = userId === null ? undefined : await enterAs<GroupSubject>(db, group, userId, groupId)
  const user = entered?.actor.user
  if (entered === undefined || !user || accountProblem(user) !== undefined) return undefined
  return decide(entered.actor, 'admin_group', entered.subject, true).allowed ? entered.actor : undefined
}
