// @module-tag long
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type World } from '../world/world.ts'
import { Cast } from './grid/actors.ts'
import { play } from './grid/play.ts'
import { actorNames, nameOf, readGrid, shapeOf } from './grid/rows.ts'
import { Stages } from './grid/stage.ts'

/**
 * Who may do what, as a reviewed expectation: every row of the grid is called as every actor. `permission-grid.csv` was
 * given; `permission-grid-own.csv` holds, in the same columns, what we wrote for the endpoints that it does not cover.
 */
const given = readGrid('permission-grid.csv')
const own = readGrid('permission-grid-own.csv')
const rows = [...given, ...own]

let world: World
let cast: Cast
let stages: Stages
let served: Set<string>

beforeAll(async () => {
  world = await startWorld({
    LDAP_CONFIG: path.join(import.meta.dirname, 'grid/ldap.yml'),
    PAGES_URL: 'http://sites.test',
    // Nobody is asked whose a domain is.
    PAGES_RESOLVERS: '127.0.0.1:9',
  })
  served = new Set(
    world.service.registry.routes.map(({ endpoint }) => shapeOf(endpoint.method, endpoint.path)),
  )
  cast = await Cast.make(world)
  stages = new Stages(cast)
  await Promise.all(
    (['public', 'internal', 'private'] as const).flatMap((visibility) => [
      stages.shared(visibility, 'project'),
      stages.shared(visibility, 'group'),
    ]),
  )
  await cast.block()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('permission grid', () => {
  test.for(rows.map((row) => [nameOf(row), row] as const))('%s', async ([, row], { skip }) => {
    if (!served.has(shapeOf(row.method, row.path))) skip('waits for its endpoint')
    const { statuses, replies } = await play(row, { cast, stages })
    const wrong = actorNames.filter((name) => statuses[name] !== row.expected[name])
    const answers = wrong.map((name) => `${name}: ${replies[name].text.slice(0, 200)}`).join('\n')
    expect(statuses, `${row.place}\n${answers}`).toEqual(row.expected)
  })
})

describe('the grid itself', () => {
  test('has a row for every endpoint', () => {
    const covered = new Set(rows.map((row) => shapeOf(row.method, row.path)))
    const missing = world.service.registry.routes
      .filter(({ endpoint }) => !covered.has(shapeOf(endpoint.method, endpoint.path)))
      .map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
    expect(missing).toEqual([])
  })

  test('has each expectation once', () => {
    const names = rows.map(nameOf)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('our own part has only what is served', () => {
    expect(own.filter((row) => !served.has(shapeOf(row.method, row.path))).map(nameOf)).toEqual([])
  })

  test('what waits for its endpoint is counted', () => {
    const waiting = given.filter((row) => !served.has(shapeOf(row.method, row.path)))
    const endpoints = new Set(waiting.map(({ method, path }) => `${method} ${path}`))
    console.log(
      `${waiting.length} of ${given.length} rows wait for ${endpoints.size} endpoints:\n${[...endpoints].join('\n')}`,
    )
    expect(waiting.length).toBeLessThan(given.length)
  })
})
