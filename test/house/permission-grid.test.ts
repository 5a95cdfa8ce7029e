// @module-tag long
import { describe, expect, test } from 'vitest'
import { nameOf, readGrid, shapeOf } from './grid/rows.ts'
import { playRows } from './grid/suite.ts'

/**
 * Who may do what, as a reviewed expectation: every row of the grid is called as every actor. `permission-grid.csv` was
 * given; `permission-grid-own.csv` holds, in the same columns, what we wrote for the endpoints that it does not cover.
 * That one is played in two suites of its own.
 */
const given = readGrid('permission-grid.csv')
const own = readGrid('permission-grid-own.csv')
const rows = [...given, ...own]

const { world, served } = playRows(given)

describe('the grid itself', () => {
  test('has a row for every endpoint', () => {
    const covered = new Set(rows.map((row) => shapeOf(row.method, row.path)))
    const missing = world()
      .service.registry.routes.filter(({ endpoint }) => !covered.has(shapeOf(endpoint.method, endpoint.path)))
      .map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
    expect(missing).toEqual([])
  })

  test('has each expectation once', () => {
    const names = rows.map(nameOf)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('our own part has only what is served', () => {
    expect(own.filter((row) => !served().has(shapeOf(row.method, row.path))).map(nameOf)).toEqual([])
  })

  test('what waits for its endpoint is counted', () => {
    const waiting = given.filter((row) => !served().has(shapeOf(row.method, row.path)))
    const endpoints = new Set(waiting.map(({ method, path }) => `${method} ${path}`))
    console.log(
      `${waiting.length} of ${given.length} rows wait for ${endpoints.size} endpoints:\n${[...endpoints].join('\n')}`,
    )
    expect(waiting.length).toBeLessThan(given.length)
  })
})
