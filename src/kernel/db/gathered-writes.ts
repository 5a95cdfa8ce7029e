import type { RawBuilder } from 'kysely'
import { countStatement, requestContext, type RequestContext } from '../log/index.ts'
import { asker } from './batch.ts'
import type { Statement } from './compile.ts'
import { isOfStatement } from './errors.ts'

/** Items of one statement: those who wait for it wait for the last of them. */
const largest = 100

/** Statements of one kind: while one waits for the disk, the next is made. */
const mostUnderWay = 2

/** Items for which a further statement is made while another is under way: fewer are better off with the next. */
const enough = 16

/** A row that was written for an item, with its place in the list of items, from 1. */
export type Written<Row> = Row & { readonly [asker]: number }

/**
 * Makes one statement that writes all items, or none: in an order that is the same for all, or two such statements wait
 * for each other.
 */
export type WriteAll<Item, Row> = (items: readonly Item[]) => RawBuilder<Written<Row>>

interface Waiting<Item, Row> {
  readonly item: Item
  readonly context: RequestContext | undefined
  readonly written: (row: Row | undefined) => void
  readonly fail: (error: unknown) => void
}

/** How statements are made and sent; `Database` has both. */
export interface Sender {
  compile(statement: RawBuilder<unknown>): Statement
  /** The rows; nothing is counted. */
  send(statement: Statement): Promise<unknown[]>
}

/**
 * Writes of one kind that come while others are under way are gathered, and are then written by one statement: one
 * message, one commit, one wait for the disk. Each is answered when its own row is safe. Where one of them cannot be
 * written, each is tried alone, so that only that one fails.
 */
export class GatheredWrites<Item, Row> {
  readonly #sender: Sender
  readonly #writeAll: WriteAll<Item, Row>
  #waiting: Waiting<Item, Row>[] = []
  #underWay = 0

  constructor(sender: Sender, writeAll: WriteAll<Item, Row>) {
    this.#sender = sender
    this.#writeAll = writeAll
  }

  /** The row that was written; undefined when the statement left the item out. */
  write(item: Item): Promise<Row | undefined> {
    return new Promise((written, fail) => {
      this.#waiting.push({ item, context: requestContext(), written, fail })
      const further = this.#underWay < mostUnderWay && this.#waiting.length >= enough
      if (this.#underWay === 0 || further) void this.#writeWaiting()
    })
  }

  async #writeWaiting(): Promise<void> {
    this.#underWay += 1
    while (this.#waiting.length > 0) await this.#writeTogether(this.#waiting.splice(0, largest))
    this.#underWay -= 1
  }

  async #writeTogether(group: readonly Waiting<Item, Row>[]): Promise<void> {
    try {
      const statement = this.#sender.compile(this.#writeAll(group.map(({ item }) => item)))
      for (const { context } of group) countStatement(statement.text, context)
      const rows = (await this.#sender.send(statement)) as Written<Row>[]
      const byPlace = new Map(rows.map((row) => [row[asker], row]))
      group.forEach(({ written }, at) => written(byPlace.get(at + 1)))
    } catch (error) {
      // A connection that broke may have written all: nobody is told that his is not there by trying again.
      if (group.length > 1 && isOfStatement(error)) {
        await Promise.all(group.map((each) => this.#writeTogether([each])))
      } else for (const { fail } of group) fail(error)
    }
  }
}
