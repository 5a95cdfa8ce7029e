import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type World } from '../world/world.ts'
import { hotEndpoints } from './sql/hot-endpoints.ts'
import { layOut, recordStatements, statementsPage, type Recorded } from './sql/record.ts'

let world: World
let recorded: Recorded[]

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  recorded = await recordStatements(world)
})
afterAll(() => world[Symbol.asyncDispose]())

describe('round trips to the database', () => {
  test.each(hotEndpoints.map((hot) => [hot.endpoint, hot.statements] as const))(
    '%s: %i',
    (endpoint, statements) => {
      const found = recorded.find(({ hot }) => hot.endpoint === endpoint)
      expect(found, 'the endpoint is not served').toBeDefined()
      expect(found!.status).toBeLessThan(300)
      expect(found!.statements, found!.statements.join('\n\n')).toHaveLength(statements)
    },
  )

  test('docs/sql.md shows them as they are; npm run generate writes it', async () => {
    const page = await readFile(path.resolve(import.meta.dirname, '../../docs/sql.md'), 'utf8')
    expect(page).toBe(statementsPage(recorded))
  })
})

describe('laying SQL out', () => {
  test.each([
    ['select 1', 'select 1'],
    ["select  ' from  x'  from a\n where b = $1", "select ' from  x'\nfrom a\nwhere b = $1"],
    [
      'select a from (select b from c where d in (1, 2)) e',
      'select a\nfrom (\n  select b\n  from c\n  where d in (1, 2)\n) e',
    ],
    [
      'insert into a (b, set_at) values ($1, $2) returning b',
      'insert into a (b, set_at)\nvalues ($1, $2)\nreturning b',
    ],
  ])('%j', (sql, expected) => expect(layOut(sql)).toBe(expected))
})
