import type { Reader } from '../../../kernel/db/index.ts'
import type { Listening } from './listening.ts'
import { eventOf, newsFor, type Change, type Followed, type News } from './news.ts'

/**
 * The news of one noteable, for all on this node who follow it. However many they are, a change costs one statement:
 * turns follow one another, and what comes during one is found by the next.
 */
export class Feed {
  readonly #db: Reader
  readonly #followed: Followed
  readonly #listeners = new Set<Listening>()
  #version: number
  #joining = 0
  #turning = false
  #again = false

  constructor(db: Reader, followed: Followed, version: number) {
    this.#db = db
    this.#followed = followed
    this.#version = version
  }

  get abandoned(): boolean {
    return this.#listeners.size === 0 && this.#joining === 0
  }

  /** Brings a follower to where the others are; from then on he is told what they are told. */
  async join(listening: Listening): Promise<void> {
    this.#joining += 1
    try {
      while (listening.last < this.#version && !listening.over) {
        const until = this.#version
        const news = await newsFor(this.#db, this.#followed, [listening], listening.last)
        this.#tell(listening, news.mayBeTold[0], news, new Map())
        // What was written and is gone again has no place in the stream.
        if (!news.more) listening.last = Math.max(listening.last, until)
      }
    } finally {
      this.#joining -= 1
    }
    if (listening.over) return
    this.#listeners.add(listening)
    // What came while he did.
    await this.turn()
  }

  leave(listening: Listening): void {
    this.#listeners.delete(listening)
  }

  /** Keeps the lines open, and looks whether all may still follow. */
  async beat(): Promise<void> {
    for (const listening of this.#listeners) listening.write(': \n\n')
    await this.turn()
  }

  /** Looks for news. Who cannot be told, for whatever reason, comes again. */
  async turn(): Promise<void> {
    this.#again = true
    if (this.#turning) return
    this.#turning = true
    try {
      while (this.#again && this.#listeners.size > 0) {
        this.#again = false
        await this.#look()
      }
    } catch {
      for (const listening of this.#listeners) this.#end(listening)
    } finally {
      this.#turning = false
    }
  }

  async #look(): Promise<void> {
    const listeners = [...this.#listeners]
    // Somebody may follow in many windows.
    const readers = new Map(listeners.map((listening) => [listening.key, listening]))
    const places = new Map([...readers.keys()].map((key, at) => [key, at]))
    // Who came during a turn may have missed what that told.
    const since = listeners.reduce((least, { last }) => Math.min(least, last), Infinity)
    const news = await newsFor(this.#db, this.#followed, [...readers.values()], since)
    const written = new Map<string, string>()
    for (const listening of listeners)
      this.#tell(listening, news.mayBeTold[places.get(listening.key)!], news, written)
    this.#version = Math.max(this.#version, news.changes.at(-1)?.version ?? 0)
    if (news.more) this.#again = true
  }

  /** `mayBeTold` undefined: he may not follow any more. `written`: events that were made for others. */
  #tell(
    listening: Listening,
    mayBeTold: ((change: Change) => boolean) | undefined,
    { changes }: News,
    written: Map<string, string>,
  ): void {
    if (mayBeTold === undefined) {
      this.#end(listening)
      return
    }
    const { last } = listening
    for (const change of changes) {
      if (change.version <= last || !mayBeTold(change)) continue
      const key = `${change.note_id} ${change.version} ${(change.created ?? 0) > last}`
      let event = written.get(key)
      if (event === undefined) written.set(key, (event = eventOf(change, last, this.#followed.shown)))
      listening.write(event)
    }
    listening.last = Math.max(last, changes.at(-1)?.version ?? last)
  }

  #end(listening: Listening): void {
    this.leave(listening)
    listening.end()
  }
}
