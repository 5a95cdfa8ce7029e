import type { RawBuilder } from 'kysely'
import { sql, type Database, type Tx } from '../kernel/db/index.ts'
import { withChain } from '../kernel/lib/chain.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import { enqueued, type Task } from './tasks.ts'

/** News of the domain: a row of the outbox, written in the transaction that causes it. */
export interface DomainEvent<Payload = unknown> {
  readonly id: number
  readonly kind: string
  readonly projectId: number | null
  readonly userId: number | null
  readonly payload: Payload
  readonly createdAt: Date
}

export interface News {
  readonly kind: string
  readonly projectId?: number | null
  readonly userId?: number | null
  readonly payload: object
}

function rowOf({ kind, projectId = null, userId = null, payload }: News, place: number): object {
  return { place, kind, project_id: projectId, user_id: userId, payload }
}

/** Events that are remembered while their subscribers come. */
const remembered = 100

type Handler = (event: DomainEvent) => Promise<void>

interface Subscriber {
  readonly name: string
  readonly handle: Handler
  /** Only events for which this holds; a condition on the row `event`. */
  readonly when: RawBuilder<unknown> | undefined
}

/**
 * The outbox. Who announces does not know who listens; each subscriber handles each event in a task of its own, again
 * after a crash, so handlers are idempotent by the event's id.
 */
export class Events {
  readonly #db: Database
  readonly #subscribers = new Map<string, Subscriber[]>()
  readonly #recent = new LruMap<number, Promise<DomainEvent | undefined>>(remembered)

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * `name` is unique among all subscribers and stays the same: it names the tasks that wait. `when`: a condition in SQL
   * on the row `event` (`id`, `kind`, `project_id`, `payload`), looked at as it is announced; who listens to few of many
   * events then costs no task for the rest.
   */
  subscribe<Payload>(
    kind: string,
    name: string,
    handle: (event: DomainEvent<Payload>) => Promise<void>,
    { when }: { when?: RawBuilder<unknown> } = {},
  ): void {
    // Tasks of one name would be handed to one of the two.
    if ([...this.#subscribers.values()].flat().some((one) => one.name === name))
      throw new Error(`there are two subscribers called ${name}`)
    const subscribers = this.#subscribers.get(kind) ?? []
    subscribers.push({ name, handle: handle as Handler, when })
    this.#subscribers.set(kind, subscribers)
  }

  /** One statement: the event's row and the task of each subscriber. */
  async announce(tx: Tx, kind: string, news: Omit<News, 'kind'>): Promise<void> {
    await this.announceAll(tx, [{ kind, ...news }])
  }

  /** The same for several at once, in their order. */
  async announceAll(tx: Tx, news: readonly News[]): Promise<void> {
    if (news.length === 0) return
    const source = sql`
      select n.kind, n.project_id, n.user_id, n.payload
      from jsonb_to_recordset(${JSON.stringify(news.map(rowOf))})
        n (place integer, kind text, project_id bigint, user_id bigint, payload jsonb)
      order by n.place`
    await sql`with ${this.announced(source, new Set(news.map(({ kind }) => kind)))} select count(task) from told`.execute(
      tx,
    )
  }

  /**
   * The same as parts of a statement that makes the news: `source` selects `kind, project_id, user_id, payload` of them.
   * The statement has to look at all rows of `told`.
   */
  announced(source: RawBuilder<unknown>, kinds: Iterable<string>): RawBuilder<unknown> {
    const subscribers = [...kinds].flatMap((kind) =>
      (this.#subscribers.get(kind) ?? []).map((one) => ({ ...one, kind, task: `event:${one.name}` })),
    )
    const listeners = JSON.stringify(subscribers.map(({ kind, task }) => ({ kind, name: task })))
    const conditions = subscribers.flatMap(({ task, when }) =>
      when === undefined ? [] : [sql`when s.name = ${task} then ${when}`],
    )
    const wanted =
      conditions.length === 0 ? sql`true` : sql`case ${sql.join(conditions, sql` `)} else true end`
    return sql`
      event as (
        insert into events (kind, project_id, user_id, payload)
        select e.kind, e.project_id, e.user_id, e.payload from (${source}) e returning id, kind, project_id, payload
      ), told as ${enqueued(sql`
        select s.name, (${JSON.stringify(withChain({}))}::jsonb || jsonb_build_object('event', event.id))::json as payload
        from event join jsonb_to_recordset(${listeners}) s (kind text, name text) on s.kind = event.kind
        where ${wanted} order by event.id`)}`
  }

  /** The tasks that bring events to their subscribers. */
  tasks(): Task<{ event: number }>[] {
    return [...this.#subscribers.values()].flat().map(({ name, handle }) => ({
      name: `event:${name}`,
      run: async ({ event: id }) => {
        const event = await this.#find(id)
        if (event !== undefined) await handle(event)
      },
    }))
  }

  /** Read once for all its subscribers: an event never changes. */
  #find(id: number): Promise<DomainEvent | undefined> {
    const known = this.#recent.get(id)
    if (known !== undefined) return known
    const reading = this.#read(id)
    this.#recent.set(id, reading)
    reading.catch(() => this.#recent.delete(id))
    return reading
  }

  async #read(id: number): Promise<DomainEvent | undefined> {
    const row = await this.#db.reader
      .selectFrom('events as e')
      .select(['e.id', 'e.kind', 'e.project_id', 'e.user_id', 'e.payload', 'e.created_at'])
      .where('e.id', '=', id)
      .executeTakeFirst()
    return (
      row && {
        id: row.id,
        kind: row.kind,
        projectId: row.project_id,
        userId: row.user_id,
        payload: row.payload,
        createdAt: row.created_at,
      }
    )
  }
}
