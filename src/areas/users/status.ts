import { gemoji } from 'gemoji'
import { userCalled } from '../../access/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { Fields, Nullable, OneOf, rows, Text, Timestamp, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { escapeHtml } from '../../kernel/lib/html.ts'

/** What people say that they are at. */
export const Status = Fields({
  emoji: Nullable(Text({ description: 'Name of an emoji' })),
  message: Nullable(Text()),
  availability: OneOf('not_set', 'busy'),
  message_html: Nullable(Text()),
  clear_status_at: Nullable(Timestamp()),
})

/** By name, how long from now. */
export const clearAfter = {
  '30_minutes': '30 minutes',
  '3_hours': '3 hours',
  '8_hours': '8 hours',
  '1_day': '1 day',
  '3_days': '3 days',
  '7_days': '7 days',
  '30_days': '30 days',
} as const
export type ClearAfter = keyof typeof clearAfter

export interface StatusRow {
  readonly emoji: string | null
  readonly message: string | null
  readonly availability: 'not_set' | 'busy'
  readonly clear_status_at: string | null
}

const usualEmoji = 'speech_balloon'
const longestMessage = 100
const emojiNames = new Set(gemoji.flatMap(({ names }) => names))

const columns = sql`
  s.emoji, s.message, coalesce(s.availability, 'not_set') as availability, s.clear_status_at`
/** A status that was to be cleared is none, whether or not its row has gone. */
const current = sql`s.user_id = u.id and (s.clear_status_at is null or s.clear_status_at > now())`

/** Of a user by id or name, or of the caller; no row where there is no such user. */
export function statusOf(user?: number | string): Read<StatusRow> {
  const condition = user === undefined ? sql`u.id = actor.id` : userCalled(user)
  return rows(sql`select ${columns} from users u left join user_statuses s on ${current} where ${condition}`)
}

export async function findStatus(db: Reader, userId: number): Promise<StatusRow> {
  const { rows: found } = await sql<StatusRow>`
    select ${columns} from users u left join user_statuses s on ${current} where u.id = ${userId}`.execute(db)
  return found[0]!
}

/** What a request says of a status; undefined: nothing. */
export interface SentStatus {
  readonly emoji?: string | null | undefined
  readonly message?: string | null | undefined
  readonly availability?: 'not_set' | 'busy' | null | undefined
  readonly clear_status_after?: ClearAfter | null | undefined
}

/** Sets a status in the place of `before`. Without an emoji, a message and an availability there is none. */
export async function setStatus(
  tx: Tx,
  userId: number,
  sent: SentStatus,
  before: StatusRow | undefined,
): Promise<void> {
  const message = blankAsNull(sent.message === undefined ? before?.message : sent.message)
  const availability =
    (sent.availability === undefined ? before?.availability : sent.availability) ?? 'not_set'
  const emoji = blankAsNull(sent.emoji === undefined ? before?.emoji : sent.emoji)
  check(emoji, message)
  if (emoji === null && message === null && availability === 'not_set') {
    await sql`delete from user_statuses s where s.user_id = ${userId}`.execute(tx)
    return
  }
  const clearAt =
    sent.clear_status_after == null
      ? sent.clear_status_after === null
        ? sql`null::timestamptz`
        : sql`${before?.clear_status_at ?? null}::timestamptz`
      : sql`now() + ${clearAfter[sent.clear_status_after]}::interval`
  await sql`
    insert into user_statuses (user_id, emoji, message, availability, clear_status_at)
    values (${userId}, ${emoji ?? usualEmoji}, ${message}, ${availability}, ${clearAt})
    on conflict (user_id) do update set emoji = excluded.emoji, message = excluded.message,
      availability = excluded.availability, clear_status_at = excluded.clear_status_at`.execute(tx)
}

function check(emoji: string | null, message: string | null): void {
  const faults: Record<string, string[]> = {}
  if (emoji !== null && !emojiNames.has(emoji)) faults['emoji'] = ['is not a valid emoji name']
  if (message !== null && message.length > longestMessage) {
    faults['message'] = [`is too long (maximum is ${longestMessage} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

function blankAsNull(text: string | null | undefined): string | null {
  return text == null || text.trim() === '' ? null : text.trim()
}

export function statusEntity(row: StatusRow) {
  return { ...row, message_html: row.message === null ? null : escapeHtml(row.message) }
}
