import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'

export interface Message {
  readonly message: string
  readonly starts_at: Date
  readonly ends_at: Date
  readonly color: string | null
  readonly font: string | null
  /** Roles of those it is for; none: everybody. */
  readonly target_access_levels: readonly number[]
  /** Paths of the pages it is for, with `*`; null: all. */
  readonly target_path: string | null
  readonly broadcast_type: 'banner' | 'notification'
  readonly dismissable: boolean
  readonly theme: string
}

export interface MessageRow extends Message {
  readonly id: number
  readonly active: boolean
}

const active = sql`(m.starts_at <= now() and m.ends_at > now())`
const columns = sql`
  m.id, m.message, m.starts_at, m.ends_at, m.color, m.font, m.target_access_levels, m.target_path, m.broadcast_type,
  m.dismissable, m.theme, ${active} as active`

export function list(input: PageInput): Read<MessageRow> {
  return page({ columns, from: sql`from broadcast_messages m`, order: sql`m.id` }, input)
}

export function one(id: number): Read<MessageRow> {
  return rows(sql`select ${columns} from broadcast_messages m where m.id = ${id}`)
}

/** Banners that are shown now. */
export async function currentBanners(db: Reader): Promise<MessageRow[]> {
  const { rows: found } = await sql<MessageRow>`
    select ${columns} from broadcast_messages m
    where m.ends_at > now() and ${active} and m.broadcast_type = 'banner' order by m.id limit 20`.execute(db)
  return found
}

export async function add(tx: Tx, message: Message): Promise<MessageRow> {
  const { rows: made } = await sql<MessageRow>`
    insert into broadcast_messages as m (message, starts_at, ends_at, color, font, target_access_levels, target_path,
      broadcast_type, dismissable, theme)
    values (${message.message}, ${message.starts_at}, ${message.ends_at}, ${message.color}, ${message.font},
      ${message.target_access_levels}::smallint[], ${message.target_path}, ${message.broadcast_type},
      ${message.dismissable}, ${message.theme})
    returning ${columns}`.execute(tx)
  return made[0]!
}

export async function change(tx: Tx, id: number, message: Partial<Message>): Promise<MessageRow | undefined> {
  const { rows: locked } = await sql<MessageRow>`
    select ${columns} from broadcast_messages m where m.id = ${id} for update`.execute(tx)
  if (locked[0] === undefined) return undefined
  const after = { ...locked[0], ...message }
  const { rows: changed } = await sql<MessageRow>`
    update broadcast_messages m set message = ${after.message}, starts_at = ${after.starts_at},
      ends_at = ${after.ends_at}, color = ${after.color}, font = ${after.font},
      target_access_levels = ${after.target_access_levels}::smallint[], target_path = ${after.target_path},
      broadcast_type = ${after.broadcast_type}, dismissable = ${after.dismissable}, theme = ${after.theme}
    where m.id = ${id} returning ${columns}`.execute(tx)
  return changed[0]
}

export async function remove(tx: Tx, id: number): Promise<boolean> {
  const { rows: gone } = await sql`delete from broadcast_messages m where m.id = ${id} returning 1`.execute(
    tx,
  )
  return gone.length > 0
}
