import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GatheredWrites } from '../../src/kernel/db/gathered-writes.ts'
import { sql } from 'kysely'
import pg from 'pg'
import { startWorld, type Json, type Made, type World } from './world.ts'

/*
 * Variables that many make at once are written together. Each caller is answered about his own.
 */

let world: World
let project: Made

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
})
afterAll(() => world[Symbol.asyncDispose]())

const create = (fields: Json, path = `/projects/${project.id}/variables`) =>
  world.root.post(path, { value: 'a value', ...fields })

describe('many who write at once', () => {
  test('each gets his own row', async () => {
    const keys = Array.from({ length: 150 }, (_, number) => `MANY_${number}`)
    const replies = await Promise.all(keys.map((key) => create({ key, value: `of ${key}` })))
    expect(replies.map(({ status, body }) => [status, body.key, body.value])).toEqual(
      keys.map((key) => [201, key, `of ${key}`]),
    )
    for (const key of ['MANY_0', 'MANY_149']) {
      const { body } = await world.root.get(`/projects/${project.id}/variables/${key}`)
      expect(body.value).toBe(`of ${key}`)
    }
  })

  test('of those with the same key one is let in, and nobody else is refused', async () => {
    const keys = Array.from({ length: 120 }, (_, number) => `SAME_${number % 40}`)
    const replies = await Promise.all(keys.map((key) => create({ key })))
    const made = replies.filter(({ status }) => status === 201)
    expect(made.map(({ body }) => body.key as string).sort()).toEqual([...new Set(keys)].sort())
    for (const { status, body } of replies.filter((reply) => !made.includes(reply))) {
      expect([status, body]).toEqual([
        400,
        { message: { key: [expect.stringContaining('already been taken')] } },
      ])
    }
  })

  test('in several places at once', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => world.project()))
    const replies = await Promise.all(
      others.flatMap(({ id }) =>
        Array.from({ length: 20 }, (_, number) =>
          create({ key: `PLACE_${number}`, value: `of ${id}` }, `/projects/${id}/variables`),
        ),
      ),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]))
    for (const { id } of others) {
      const { body } = await world.root.get(`/projects/${id}/variables?per_page=100`)
      expect((body as Json[]).map(({ value }) => value)).toEqual(Array.from({ length: 20 }, () => `of ${id}`))
    }
  })

  test('the limit holds among them', async () => {
    const fill = (count: number, name: string) =>
      Promise.all(
        Array.from({ length: count }, (_, number) =>
          create({ key: `${name}_${number}` }, '/admin/ci/variables'),
        ),
      )
    await fill(15, 'BEFORE')
    const statuses = (await fill(15, 'AT_THE_LIMIT')).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(10)
    expect(statuses.filter((status) => status === 400)).toHaveLength(5)
  })
})

describe('writes that fail', () => {
  const compile = () => ({ text: 'insert', values: [] })
  const refused = () => new pg.DatabaseError('no', 2, 'error')
  const write = (asked: readonly string[]) => sql<{ asker: number }>`${[...asked]}`

  /** What each statement held; it is answered by `answer`. */
  function writesTo(answer: (asked: readonly string[]) => Promise<unknown[]>) {
    const sent: (readonly string[])[] = []
    let asked: readonly string[] = []
    const writes = new GatheredWrites<string, { asker: number }>(
      {
        compile,
        send: () => {
          sent.push(asked)
          return answer(asked)
        },
      },
      (items) => {
        asked = items
        return write(items)
      },
    )
    return { writes, sent }
  }
  const rows = (asked: readonly string[]) => asked.map((name, at) => ({ name, asker: at + 1 }))

  test('are tried one by one, and fail alone', async () => {
    const { writes, sent } = writesTo(async (asked) => {
      await new Promise(setImmediate)
      if (asked.includes('bad')) throw refused()
      return rows(asked)
    })
    const results = await Promise.allSettled(
      ['first', 'good', 'bad', 'well'].map((name) => writes.write(name)),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(sent).toEqual([['first'], ['good', 'bad', 'well'], ['good'], ['bad'], ['well']])
  })

  test('are not tried again when the connection broke: they may have been written', async () => {
    const { writes, sent } = writesTo(async (asked) => {
      await new Promise(setImmediate)
      if (asked.length > 1) throw new Error('Connection terminated')
      return rows(asked)
    })
    const results = await Promise.allSettled(['first', 'a', 'b'].map((name) => writes.write(name)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(sent).toEqual([['first'], ['a', 'b']])
  })

  test('a row that was left out is told', async () => {
    const { writes } = writesTo(async (asked) => rows(asked).filter(({ name }) => name !== 'out'))
    expect(await Promise.all(['in', 'out'].map((name) => writes.write(name)))).toEqual([
      { name: 'in', asker: 1 },
      undefined,
    ])
  })
})
