import { deleteRepository } from '../../git/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { SnippetServices } from './index.ts'
import type { SnippetFiles } from './files.ts'
import * as store from './store.ts'

const recover = 'snippets:recover'
/** The database itself puts this one into the queue, when a snippet goes (migration 0070). */
const remove = 'snippets:remove-repository'

/** What keeps rows and repositories of snippets together. */
export function housekeeping(
  { db }: SnippetServices,
  files: SnippetFiles,
): { tasks: Task[]; schedules: Schedule[] } {
  return {
    tasks: [
      { name: recover, run: () => files.recover() },
      {
        name: remove,
        async run(payload) {
          const place = payload as { id: number; storage: string }
          if (!(await store.exists(db.reader, place.id))) await deleteRepository(files.of(place))
        },
      },
    ],
    schedules: [{ task: recover, pattern: '*/5 * * * *' }],
  }
}
