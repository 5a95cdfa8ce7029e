import { Readable } from 'node:stream'
import { sql } from 'kysely'
import {
  accountProblem,
  discussionVisible,
  enterById,
  group,
  project,
  readsInternalNotes,
  type Actor,
} from '../../access/index.ts'
import type { Database, Notifications } from '../../kernel/db/index.ts'
import type { Read } from '../../kernel/endpoint/index.ts'
import { rows } from '../../kernel/endpoint/index.ts'
import { noteEntity, type FlatRow, type Shown } from './entities.ts'
import type { Noteable, Place } from './noteables/noteable.ts'
import { alone, flatNote, readNow } from './read.ts'
import { channel, type Target } from './write.ts'

/** A stream ends after this many milliseconds: who follows comes again, and shows his token anew. */
const longest = 600_000
/** News are looked for at least this often, in milliseconds, and the line is kept open by it. */
const heartbeat = 25_000

/** What a stream begins with. */
export interface Following {
  readonly noteable: Noteable
  readonly named: string | number
  readonly actor: Actor
  readonly shown: Shown
  readonly target: Target
  /** The last version that the follower has seen; undefined: all there is. */
  readonly since: number | undefined
  readonly signal: AbortSignal
  /** Goes on; else it ends after what is there. */
  readonly live: boolean
}

interface Change {
  readonly version: number
  readonly type: 'created' | 'updated' | 'deleted'
  readonly discussion_id: string
  readonly note_id: number
  readonly row: FlatRow | null
}

/** Tells those who follow a noteable of its notes, whichever node they were written on. */
export class NoteStreams implements AsyncDisposable {
  readonly #db: Database
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #stopping = new AbortController()

  constructor({ db, notifications }: { readonly db: Database; readonly notifications: Notifications }) {
    this.#db = db
    notifications.subscribe(channel, (id) => this.#wake(id))
  }

  async follow(following: Following): Promise<Readable> {
    const { id, version } = await this.#ensure(following.target)
    return Readable.from(this.#tell(following, id, Math.min(following.since ?? version, version)))
  }

  /** What is not seen any more, for whatever reason, ends the stream; coming again then tells why. */
  async *#tell(following: Following, noteableId: number, since: number): AsyncGenerator<string> {
    const { signal, shown } = following
    // Ended with the stream, however it ends: no listener is left behind.
    using ended = new DisposableStack()
    const mine = new AbortController()
    ended.defer(() => mine.abort())
    const over = AbortSignal.any([signal, this.#stopping.signal, AbortSignal.timeout(longest), mine.signal])
    let last = since
    yield 'retry: 2000\n\n'
    while (!over.aborted) {
      // Before looking: what comes meanwhile wakes it at once.
      const news = this.#next(String(noteableId), over)
      const changes = await this.#changes(following, noteableId, last)
      if (changes === undefined) return
      for (const { version, type, discussion_id, note_id, row } of changes) {
        const data = row === null ? { discussion_id, note_id } : { discussion_id, note: written(row, shown) }
        yield `id: ${version}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
        last = version
      }
      if (changes.length === 0) {
        if (!following.live) return
        await news
        yield ': \n\n'
      }
    }
  }

  /** Looked at again after reading: who lost his access before a note was written does not get it. */
  async #changes(
    following: Following,
    noteableId: number,
    since: number,
  ): Promise<readonly Change[] | undefined> {
    const before = await this.#standing(following)
    if (before === undefined) return undefined
    const read = changesSince(noteableId, since)
    const changes = (await readNow(this.#db.reader, before.actor, before.place, read))?.changes ?? []
    if (changes.length === 0) return changes
    const after = await this.#standing(following)
    return after?.place.role === before.place.role ? changes : undefined
  }

  /** The follower as he is now, and the place with his role in it; undefined: he may not follow any more. */
  async #standing({
    noteable,
    named,
    actor,
    shown,
  }: Following): Promise<{ readonly actor: Actor; readonly place: Place } | undefined> {
    const lookup = { id: String(shown.place.id), secretDigest: undefined }
    const kind = shown.place.kind === 'project' ? project : group
    const now = await enterById<Place>(this.#db, kind, actor.user!.id, lookup)
    const user = now.actor?.user
    const place = now.subject
    if (!user || accountProblem(user) !== undefined || place === undefined || !now.visible) return undefined
    const caller = { ...actor, user }
    if (!noteable.mayRead(caller, place)) return undefined
    const found = await readNow(this.#db.reader, caller, place, alone(noteable, named))
    return found === undefined ? undefined : { actor: caller, place }
  }

  /** A row for what nobody has said anything about yet. */
  async #ensure({
    kind,
    id,
    sha = null,
    projectId,
    namespaceId,
  }: Target): Promise<{ id: number; version: number }> {
    const which =
      sha === null
        ? sql`kind = ${kind} and target_id = ${id}`
        : sql`project_id = ${projectId} and commit_sha = ${sha}`
    const look = sql<{ id: number; version: number }>`select id, version from noteables where ${which}`
    const [known] = (await look.execute(this.#db.reader)).rows
    if (known !== undefined) return known
    await sql`
      insert into noteables (kind, target_id, commit_sha, project_id, namespace_id)
      values (${kind}, ${id}, ${sha}, ${projectId}, ${namespaceId}) on conflict do nothing`.execute(
      this.#db.writer,
    )
    return (await look.execute(this.#db.reader)).rows[0]!
  }

  #next(id: string, over: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const waiting = this.#waiting.get(id) ?? new Set<() => void>()
    this.#waiting.set(id, waiting)
    const timer = setTimeout(done, heartbeat)
    function done(): void {
      clearTimeout(timer)
      over.removeEventListener('abort', done)
      waiting.delete(done)
      resolve(undefined)
    }
    waiting.add(done)
    over.addEventListener('abort', done)
    return promise.finally(() => {
      if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id)
    })
  }

  /** An empty payload: something may have been missed. */
  #wake(id: string): void {
    const sets = id === '' ? [...this.#waiting.values()] : [this.#waiting.get(id) ?? new Set<() => void>()]
    for (const set of sets) for (const done of [...set]) done()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
  }
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

/** Changes of one version are told together, so at most a few more than a hundred. */
function changesSince(
  noteableId: number,
  since: number,
): Read<{ readonly changes: readonly Change[] | null }> {
  return rows(sql`
    select (
      select json_agg(change order by change.version, change.note_id) from (
        (select n.version, case when n.created_version > ${since} then 'created' else 'updated' end as type,
          d.key as discussion_id, n.id as note_id, ${flatNote} as row
        from notes n join discussions d on d.id = n.discussion_id left join users u on u.id = n.author_id
          left join users r on r.id = n.resolved_by_id
        where n.noteable_id = ${noteableId} and n.version > ${since} and ${discussionVisible}
          and (u.state is distinct from 'banned' or actor.admin))
        union all
        (select x.version, 'deleted', x.discussion_key, x.note_id, null::json
        from deleted_notes x
        where x.noteable_id = ${noteableId} and x.version > ${since} and (not x.internal or ${readsInternalNotes}))
      ) change) as changes`)
}
