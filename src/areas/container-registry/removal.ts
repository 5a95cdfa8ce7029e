import { sql, type Database } from '../../kernel/db/index.ts'
import { selector, type Selection } from './selection.ts'

export interface RemovalLimits {
  /** Tags of one run; undefined: all. */
  readonly most?: number | undefined
  /** Milliseconds after which a run ends. */
  readonly time?: number | undefined
}

interface TagPlace {
  readonly name: string
  readonly pushed_at: Date
}

const batch = 1000

/** Removes the tags that a selection means, newest looked at first. True when none of them is left. */
export async function removeTags(
  db: Database,
  repositoryId: number,
  selection: Selection,
  { most = Infinity, time = Infinity }: RemovalLimits = {},
): Promise<boolean> {
  const began = Date.now()
  const goes = selector(selection, began)
  let last: TagPlace | undefined
  let removed = 0
  for (;;) {
    const tags = await nextTags(db, repositoryId, last)
    const chosen = tags.filter(({ name, pushed_at }) => goes({ name, pushedAt: pushed_at }))
    const now = chosen.slice(0, Math.max(0, most - removed))
    await remove(db, repositoryId, now)
    removed += now.length
    if (now.length < chosen.length) return false
    if (tags.length < batch) return true
    if (Date.now() - began > time) return false
    last = tags.at(-1)
  }
}

async function nextTags(db: Database, repositoryId: number, last: TagPlace | undefined): Promise<TagPlace[]> {
  const after =
    last === undefined ? sql`` : sql`and (t.pushed_at, t.name) < (${last.pushed_at}, ${last.name})`
  const { rows } = await sql<TagPlace>`
    select t.name, t.pushed_at from container_tags t where t.repository_id = ${repositoryId} ${after}
    order by t.pushed_at desc, t.name desc limit ${batch}`.execute(db.reader)
  return rows
}

/** A tag that was pushed to meanwhile stays. */
async function remove(db: Database, repositoryId: number, tags: readonly TagPlace[]): Promise<void> {
  if (tags.length === 0) return
  await sql`
    with gone as (
      delete from container_tags t
      using unnest(${tags.map(({ name }) => name)}::text[], ${tags.map((tag) => tag.pushed_at)}::timestamptz[])
        chosen (name, pushed_at)
      where t.repository_id = ${repositoryId} and t.name = chosen.name and t.pushed_at = chosen.pushed_at
      returning t.manifest_id)
    update container_manifests m set touched_at = now() from gone where m.id = gone.manifest_id`.execute(
    db.writer,
  )
}
