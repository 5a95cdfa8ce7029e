import {
  accountProblem,
  audienceOf,
  group,
  openDiscussion,
  project,
  readsInternalNotes,
  type Actor,
  type Listener,
} from '../../../access/index.ts'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import { noteEntity, type FlatRow, type Shown } from '../entities.ts'
import type { Noteable, Place } from '../noteables/noteable.ts'
import { flatNote } from '../read.ts'

/** What is followed. */
export interface Followed {
  readonly noteable: Noteable
  readonly named: string | number
  readonly shown: Shown
  /** The row that its versions are counted in. */
  readonly noteableId: number
}

/** Who listens, with what his credentials say of him. */
export interface Follower extends Listener {
  readonly actor: Actor
}

/** A note as it became with a version of its noteable. */
export interface Change {
  readonly version: number
  /** Of the noteable, when the note was written; null of one that is gone. */
  readonly created: number | null
  readonly discussion_id: string
  readonly note_id: number
  readonly row: FlatRow | null
  readonly internal: boolean
  /** Its author was banned: it is for administrators only. */
  readonly banned: boolean
  /** Where it hangs on more than that: places of those in the list who see it. */
  readonly open_to: readonly number[] | null
}

/** What was found: the changes, and what of them each follower may be told; undefined: he may not follow any more. */
export interface News {
  readonly changes: readonly Change[]
  /** There may be more. */
  readonly more: boolean
  readonly mayBeTold: readonly (((change: Change) => boolean) | undefined)[]
}

/** Notes that are told at once; those of one version always are. */
const most = 200

/**
 * What has changed since a version, for any number of followers, in one statement: what they may see is decided by what
 * is so in the very moment in which the changes are read.
 */
export async function newsFor(
  db: Reader,
  { noteable, named, shown, noteableId }: Followed,
  followers: readonly Follower[],
  since: number,
): Promise<News> {
  const kind = shown.place.kind === 'project' ? project : group
  const found = await audienceOf<Place, Each, readonly Change[] | null>(
    db,
    kind,
    shown.place.id,
    followers.map(({ id, admin }) => ({ id, admin })),
    {
      each: sql`json_build_object('reads', exists (${noteable.find(named)}), 'internal', ${readsInternalNotes})`,
      once: changesSince(noteableId, since),
    },
  )
  const mayBeTold: (((change: Change) => boolean) | undefined)[] = followers.map(() => undefined)
  for (const { at, user, subject, each } of found?.attendants ?? []) {
    const { actor } = followers[at]!
    if (!each.reads || accountProblem(user) !== undefined) continue
    if (!noteable.mayRead({ ...actor, user }, subject)) continue
    mayBeTold[at] = ({ internal, banned, open_to }) =>
      (!internal || each.internal) && (!banned || user.admin) && (open_to?.includes(at) ?? true)
  }
  const changes = found?.once ?? []
  return { changes, more: changes.length >= most, mayBeTold }
}

interface Each {
  readonly reads: boolean
  readonly internal: boolean
}

function changesSince(noteableId: number, since: number) {
  const versions = (table: 'notes' | 'deleted_notes') => sql`(
    select x.version from ${sql.table(table)} x
    where x.noteable_id = ${noteableId} and x.version > ${since} order by x.version limit ${most})`
  const upTo = sql`(
    select max(v.version) from (
      select v.version from (${versions('notes')} union all ${versions('deleted_notes')}) v
      order by v.version limit ${most}) v)`
  const openTo = sql`
    case when d.ref_kind is not null or d.needs_code then (
      select coalesce(json_agg(actor.at), '[]'::json)
      from audience actor cross join lateral (select actor.role) membership where ${openDiscussion}) end`
  return sql<readonly Change[] | null>`(
    select json_agg(change order by change.version, change.note_id) from (
      (select n.version, n.created_version as created, d.key as discussion_id, n.id as note_id, ${flatNote} as row,
        d.internal, coalesce(u.state = 'banned', false) as banned, ${openTo} as open_to
      from notes n join discussions d on d.id = n.discussion_id left join users u on u.id = n.author_id
        left join users r on r.id = n.resolved_by_id
      where n.noteable_id = ${noteableId} and n.version > ${since} and n.version <= ${upTo})
      union all
      (select x.version, null, x.discussion_key, x.note_id, null::json, x.internal, false, null::json
      from deleted_notes x
      where x.noteable_id = ${noteableId} and x.version > ${since} and x.version <= ${upTo})
    ) change)`
}

/** A change as the stream writes it. `since`: the version that the follower has seen. */
export function eventOf(change: Change, since: number, shown: Shown): string {
  const { version, created, discussion_id, note_id, row } = change
  const type = created === null ? 'deleted' : created > since ? 'created' : 'updated'
  const data = row === null ? { discussion_id, note_id } : { discussion_id, note: written(row, shown) }
  return `id: ${version}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** As the other endpoints write it, whose times the schema writes. */
function written(row: FlatRow, shown: Shown): object {
  const time = (value: Date | string | null | undefined): string | null =>
    value == null ? null : new Date(value).toISOString()
  const { resolved_at: resolvedAt, ...note } = noteEntity(row, shown)
  return {
    ...note,
    created_at: time(note.created_at),
    updated_at: time(note.updated_at),
    ...(note.resolvable && { resolved_at: time(resolvedAt) }),
  }
}
