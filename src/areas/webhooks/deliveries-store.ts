import type { KeeperKind } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { within } from './places.ts'
import type { TriggerName } from './triggers.ts'

const sealedFor = 'webhook_deliveries.content'

/** What was sent and what came back; secrets are left out. */
export interface DeliveryContent {
  readonly url: string
  readonly request_headers: Readonly<Record<string, string>>
  readonly request_data: object
  readonly response_headers: Readonly<Record<string, string>>
  readonly response_body: string
}

export interface DeliveryRow {
  readonly id: number
  readonly trigger: TriggerName
  readonly response_status: string
  readonly duration: number
  readonly content: string
}

/** Days that deliveries are kept. */
const kept = 7

export async function recordDelivery(
  { db, cipher }: { db: Database; cipher: Cipher },
  made: {
    readonly hookId: number
    readonly trigger: TriggerName
    readonly status: string
    readonly seconds: number
    readonly content: DeliveryContent
  },
): Promise<void> {
  const content = cipher.seal(JSON.stringify(made.content), sealedFor)
  // A webhook that was deleted meanwhile needs no record.
  await sql`
    insert into webhook_deliveries (webhook_id, trigger, response_status, duration, content)
    select w.id, ${made.trigger}, ${made.status}, ${made.seconds}, ${content} from webhooks w
    where w.id = ${made.hookId}`.execute(db.writer)
}

export function openContent({ content }: DeliveryRow, cipher: Cipher): DeliveryContent {
  return JSON.parse(cipher.open(content, sealedFor)) as DeliveryContent
}

const columns = sql`d.id, d.trigger, d.response_status, d.duration, d.content`

const ranges: Readonly<Record<string, string>> = {
  successful: '2__',
  client_failure: '4__',
  server_failure: '5__',
}

/** A status, `1xx` to `5xx`, or a word for such a range. */
export function isStatus(status: string): boolean {
  return Object.hasOwn(ranges, status) || /^[1-5](\d\d|xx)$/.test(status)
}

/** Of what is no status, which is refused, nothing is found; it may not be a pattern at all. */
function patternOf(status: string): string {
  return isStatus(status) ? (ranges[status] ?? status.replaceAll('x', '_')) : ''
}

export function list(
  kind: KeeperKind,
  hookId: number,
  status: string | undefined,
  input: PageInput,
): Read<DeliveryRow> {
  const pattern = status === undefined ? '%' : patternOf(status)
  const from = sql`
    from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where ${within(kind)} and d.webhook_id = ${hookId} and d.response_status like ${pattern}
      and d.created_at > now() - make_interval(days => ${kept})`
  return page({ columns, from, order: sql`d.id desc` }, input)
}

export function one(kind: KeeperKind, hookId: number, id: number): Read<DeliveryRow> {
  return rows(sql`
    select ${columns} from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where ${within(kind)} and d.webhook_id = ${hookId} and d.id = ${id}`)
}

export async function prune(db: Database): Promise<void> {
  await sql`
    delete from webhook_deliveries where created_at < now() - make_interval(days => ${kept})`.execute(
    db.writer,
  )
}
