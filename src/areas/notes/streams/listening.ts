import { Readable } from 'node:stream'
import type { Actor } from '../../../access/index.ts'
import type { Follower } from './news.ts'

/** Bytes that wait for a follower who does not read; beyond them he has to come again. */
const mostWaiting = 4 * 1024 * 1024

/** Somebody who follows: his stream, and the version that he has seen. */
export class Listening implements Follower {
  readonly id: number
  readonly admin: boolean
  readonly actor: Actor
  readonly stream = new Readable({ read: () => undefined })
  last: number
  #over = false

  constructor({ id, admin, actor }: Follower, last: number) {
    this.id = id
    this.admin = admin
    this.actor = actor
    this.last = last
  }

  /** Who may see the same: one user, as an administrator or not, or one job of his. */
  get key(): string {
    return `${this.id} ${this.admin} ${this.actor.job?.id ?? ''}`
  }

  get over(): boolean {
    return this.#over || this.stream.destroyed
  }

  write(text: string): void {
    if (this.over) return
    if (this.stream.readableLength > mostWaiting) this.cut()
    else this.stream.push(text)
  }

  /** What was told is still read. */
  end(): void {
    if (!this.over) this.stream.push(null)
    this.#over = true
  }

  /** Nobody reads any more. */
  cut(): void {
    this.#over = true
    this.stream.destroy()
  }
}
