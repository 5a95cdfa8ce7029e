import { gemoji } from 'gemoji'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import {
  Fields,
  Id,
  Nullable,
  Text,
  Timestamp,
  type PageInput,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { BasicUser, basicUser, basicUserJson, type BasicUserRow } from '../users/index.ts'
import type { NoteableKind } from './noteables/noteable.ts'

export type AwardableKind = Exclude<NoteableKind, 'Commit'> | 'Note'

export const Award = Fields({
  id: Id(),
  name: Text(),
  user: BasicUser,
  created_at: Timestamp(),
  updated_at: Timestamp(),
  awardable_id: Id(),
  awardable_type: Text(),
  url: Nullable(Text({ description: 'Of a picture of the instance; always null' })),
})

export interface AwardRow {
  readonly id: number
  readonly name: string
  readonly user: BasicUserRow
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly awardable_id: number
  readonly awardable_type: string
}

export function awardEntity(row: AwardRow, externalUrl: string): Static<typeof Award> {
  return { ...row, user: basicUser(row.user, externalUrl), url: null }
}

const names = new Set(gemoji.flatMap((emoji) => emoji.names))
/** Names that mean the same; the second one is kept. */
const aliases: Readonly<Record<string, string>> = { '+1': 'thumbsup', '-1': 'thumbsdown' }

/** An emoji's name as it is kept, from what was sent, with colons or without. */
export function emojiNamed(sent: string): string {
  const name = sent.replace(/^:(.+):$/, '$1')
  const kept = aliases[name] ?? name
  if (!names.has(kept)) throw notFound('Award Emoji Name is not a valid emoji name')
  return kept
}

const columns = sql`
  a.id, a.name, ${basicUserJson('u')} as user, a.created_at, a.updated_at, a.awardable_id,
  a.awardable_kind as awardable_type`

export async function listAwards(
  db: Reader,
  kind: AwardableKind,
  id: number,
  { limit, offset }: PageInput,
): Promise<{ rows: AwardRow[]; total: number }> {
  const found = await sql<AwardRow & { total: number }>`
    select ${columns}, count(*) over () as total from award_emoji a join users u on u.id = a.user_id
    where a.awardable_kind = ${kind} and a.awardable_id = ${id} order by a.id limit ${limit} offset ${offset}`.execute(
    db,
  )
  return { rows: found.rows, total: found.rows[0]?.total ?? 0 }
}

export async function findAward(
  db: Reader,
  kind: AwardableKind,
  id: number,
  awardId: number,
): Promise<AwardRow | undefined> {
  const found = await sql<AwardRow>`
    select ${columns} from award_emoji a join users u on u.id = a.user_id
    where a.id = ${awardId} and a.awardable_kind = ${kind} and a.awardable_id = ${id}`.execute(db)
  return found.rows[0]
}

/** The tables that keep how many are for their rows and against. */
const counting: Readonly<Partial<Record<AwardableKind, string>>> = {
  Issue: 'issues',
  MergeRequest: 'merge_requests',
  Epic: 'epics',
}

/** What is reacted to, in which project; null in a group. */
export interface Awarded {
  readonly kind: AwardableKind
  readonly id: number
  readonly projectId: number | null
}

/** The news that somebody reacted to something, or took it back: event kind `emoji`. */
export interface EmojiEvent {
  readonly action: 'award' | 'revoke'
  readonly award: {
    readonly id: number
    readonly name: string
    readonly user_id: number
    readonly awardable_kind: AwardableKind
    readonly awardable_id: number
    readonly created_at: string
    readonly updated_at: string
  }
}

/** Counts a reaction that came or went, and announces it. */
async function took(
  { events }: { events: Events },
  tx: Tx,
  { kind, id, projectId }: Awarded,
  by: number,
  { action, award }: EmojiEvent,
): Promise<void> {
  await count(tx, kind, id, award.name, action === 'award' ? 1 : -1)
  if (projectId !== null)
    await events.announce(tx, 'emoji', { projectId, userId: by, payload: { action, award } })
}

const wholeAward = [
  'id',
  'name',
  'user_id',
  'awardable_kind',
  'awardable_id',
  'created_at',
  'updated_at',
] as const

async function count(tx: Tx, kind: AwardableKind, id: number, name: string, more: number): Promise<void> {
  const table = counting[kind]
  const column = name === 'thumbsup' ? 'upvotes' : name === 'thumbsdown' ? 'downvotes' : undefined
  if (table === undefined || column === undefined) return
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = greatest(0, ${sql.ref(column)} + ${more}) where id = ${id}`.execute(
    tx,
  )
}

/** 404 for the same once more, as clients know it. */
export async function addAward(
  services: { readonly events: Events },
  tx: Tx,
  awarded: Awarded,
  { userId, name }: { readonly userId: number; readonly name: string },
): Promise<number> {
  const made = await tx
    .insertInto('award_emoji')
    .values({ awardable_kind: awarded.kind, awardable_id: awarded.id, user_id: userId, name })
    .returning(wholeAward)
    .executeTakeFirstOrThrow()
    .catch(onConstraint('award_emoji_once', () => notFound('Award Emoji Name has already been taken')))
  await took(services, tx, awarded, userId, { action: 'award', award: made as never })
  return made.id
}

export async function removeAward(
  services: { readonly events: Events },
  tx: Tx,
  awarded: Awarded,
  { id, by }: { readonly id: number; readonly by: number },
): Promise<void> {
  const gone = await tx
    .deleteFrom('award_emoji')
    .where('id', '=', id)
    .returning(wholeAward)
    .executeTakeFirst()
  if (gone !== undefined) await took(services, tx, awarded, by, { action: 'revoke', award: gone as never })
}

/** Gives a reaction, or takes it back; answers whether it is there now. */
export async function toggleAward(
  services: { readonly events: Events },
  tx: Tx,
  awarded: Awarded,
  { userId, name }: { readonly userId: number; readonly name: string },
): Promise<boolean> {
  const mine = await tx
    .selectFrom('award_emoji as a')
    .select('a.id')
    .where('a.awardable_kind', '=', awarded.kind)
    .where('a.awardable_id', '=', awarded.id)
    .where('a.user_id', '=', userId)
    .where('a.name', '=', name)
    .executeTakeFirst()
  if (mine === undefined) await addAward(services, tx, awarded, { userId, name })
  else await removeAward(services, tx, awarded, { id: mine.id, by: userId })
  return mine === undefined
}
