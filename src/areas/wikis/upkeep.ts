import { sql } from '../../kernel/db/index.ts'
import { optimise, storedSize } from '../../git/index.ts'
import type { WikiDoor } from './door.ts'
import type { WikiServices } from './services.ts'

export const measureTask = 'wikis:measure'

/** Where a wiki lies. */
export interface StoredWiki {
  readonly id: number
  readonly storage: string
}

/** Wikis that one run puts in order. */
const wikisAtOnce = 200

/** Writes down what a wiki takes on disk, for the statistics of its owner. */
export async function measure({ db }: WikiServices, door: WikiDoor, wiki: StoredWiki): Promise<void> {
  const size = await storedSize(door.of(wiki))
  await sql`update wikis set size = ${size} where id = ${wiki.id} and size <> ${size}`.execute(db.writer)
}

/** Puts the packs of wikis together that were written to often enough since the last time. */
export async function optimiseWikis(services: WikiServices, door: WikiDoor): Promise<void> {
  const { db, settings, log } = services
  const { housekeeping_enabled: enabled, housekeeping_optimize_repository_period: period } = settings.values
  if (!enabled) return
  const { rows } = await sql<StoredWiki & { last: number }>`
    select w.id, w.storage, max(u.id) as last
    from wiki_ref_updates u join wikis w on w.id = u.wiki_id
    where u.state <> 'prepared' and u.id > w.optimised_update
    group by w.id having count(*) >= ${period} order by count(*) desc limit ${wikisAtOnce}`.execute(db.reader)
  for (const { last, ...wiki } of rows) {
    try {
      await optimise(door.of(wiki))
      await measure(services, door, wiki)
    } catch (error) {
      log.warn({ err: error, wiki: wiki.id }, 'the repository of a wiki could not be put in order')
    }
    await sql`update wikis set optimised_update = ${last} where id = ${wiki.id}`.execute(db.writer)
  }
}
