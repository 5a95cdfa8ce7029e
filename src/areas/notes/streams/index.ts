import { Readable } from 'node:stream'
import { isAdministrator, userOf, type Actor } from '../../../access/index.ts'
import { sql, type Database, type Notifications } from '../../../kernel/db/index.ts'
import { channel, type Target } from '../write.ts'
import { Feed } from './feed.ts'
import { Listening } from './listening.ts'
import { eventOf, newsFor, type Followed, type Follower } from './news.ts'

/** A stream ends after this many milliseconds: who follows comes again, and shows his token anew. */
const longest = 600_000
/** News are looked for at least this often, in milliseconds, and the line is kept open by it. */
const heartbeat = 25_000

/** Days for which deletions are told to those who were away. */
const keptDays = 30
/** Deletions that one statement forgets. */
const forgottenAtOnce = 10_000

/** What a stream begins with. */
export interface Following extends Omit<Followed, 'noteableId'> {
  readonly actor: Actor
  readonly target: Target
  /** The last version that the follower has seen; undefined: all there is. */
  readonly since: number | undefined
  readonly signal: AbortSignal
  /** Goes on; else it ends after what is there. */
  readonly live: boolean
}

/** Tells those who follow a noteable of its notes, whichever node they were written on. */
export class NoteStreams implements AsyncDisposable {
  readonly #db: Database
  readonly #feeds = new Map<number, Feed>()
  readonly #open = new Set<Listening>()
  readonly #beating: NodeJS.Timeout

  constructor({ db, notifications }: { readonly db: Database; readonly notifications: Notifications }) {
    this.#db = db
    notifications.subscribe(channel, (id) => this.#wake(id))
    this.#beating = setInterval(() => {
      for (const feed of this.#feeds.values()) void feed.beat()
    }, heartbeat).unref()
  }

  /** What is not seen any more, for whatever reason, ends the stream; coming again then tells why. */
  async follow(following: Following): Promise<Readable> {
    const { actor, target, since, live } = following
    const { id, version } = await this.#ensure(target)
    const followed: Followed = { ...following, noteableId: id }
    const last = Math.min(since ?? version, version)
    const follower: Follower = { id: userOf(actor).id, admin: isAdministrator(actor), actor }
    if (!live) return Readable.from(this.#present(followed, follower, last))
    const listening = new Listening(follower, last)
    listening.write('retry: 2000\n\n')
    this.#keep(followed, listening, following.signal)
    return listening.stream
  }

  #keep(followed: Followed, listening: Listening, signal: AbortSignal): void {
    const feed = this.#feedOf(followed, listening.last)
    const end = (): void => listening.end()
    const cut = (): void => listening.cut()
    const timer = setTimeout(end, longest).unref()
    signal.addEventListener('abort', cut, { once: true })
    this.#open.add(listening)
    const forget = (): void => {
      const { noteableId } = followed
      if (feed.abandoned && this.#feeds.get(noteableId) === feed) this.#feeds.delete(noteableId)
    }
    listening.stream.once('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cut)
      this.#open.delete(listening)
      feed.leave(listening)
      forget()
    })
    feed.join(listening).catch(end).finally(forget)
  }

  #feedOf(followed: Followed, version: number): Feed {
    const known = this.#feeds.get(followed.noteableId)
    if (known !== undefined) return known
    const feed = new Feed(this.#db.reader, followed, version)
    this.#feeds.set(followed.noteableId, feed)
    return feed
  }

  /** What is there, and the end. */
  async *#present(followed: Followed, follower: Follower, since: number): AsyncGenerator<string> {
    yield 'retry: 2000\n\n'
    for (let last = since; ;) {
      const { changes, more, mayBeTold } = await newsFor(this.#db.reader, followed, [follower], last)
      const [told] = mayBeTold
      if (told === undefined) return
      for (const change of changes) if (told(change)) yield eventOf(change, since, followed.shown)
      if (!more) return
      last = changes.at(-1)!.version
    }
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

  /** An empty payload: something may have been missed. */
  #wake(id: string): void {
    const feeds = id === '' ? this.#feeds.values() : [this.#feeds.get(Number(id))]
    for (const feed of feeds) void feed?.turn()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#beating)
    for (const listening of this.#open) listening.end()
  }
}

/** Removes, some at a time, what says of notes deleted long ago that they were. */
export async function forgetDeletedNotes({ writer }: Pick<Database, 'writer'>): Promise<void> {
  for (;;) {
    const gone = await sql`
      delete from deleted_notes where ctid = any (array(
        select ctid from deleted_notes where deleted_at < now() - make_interval(days => ${keptDays})
        limit ${forgottenAtOnce}))
      returning 1`.execute(writer)
    if (gone.rows.length < forgottenAtOnce) return
  }
}
