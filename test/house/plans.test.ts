// @module-tag long
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planOf } from '../../src/kernel/config/index.ts'
import type { Endpoint } from '../../src/kernel/endpoint/index.ts'
import { startWorld, type World } from '../world/world.ts'

/** What needs a paid plan stands in one table, and all of it is asked. */
const root = path.resolve(import.meta.dirname, '../../src')
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))

describe('the table of features', () => {
  test('is the only place that names a plan, beside the catalogue of settings and the license', () => {
    const own = /^(kernel\/config\/|settings\/catalogue\/|areas\/license\/)/
    const naming = /'(?:premium|ultimate)'|\bplan\b\s*[!=]==?\s*'free'/
    expect(
      sources.filter(({ file, text }) => !own.test(file) && naming.test(text)).map(({ file }) => file),
    ).toEqual([])
  })

  test('has no row that nothing asks', () => {
    const asked = new Set(
      sources.flatMap(({ text }) =>
        [...text.matchAll(/\bplanOf\.(\w+)|\boffers\([^()]*, '(\w+)'\)/g)].map(
          (found) => found[1] ?? found[2],
        ),
      ),
    )
    expect(Object.keys(planOf).filter((feature) => !asked.has(feature))).toEqual([])
  })
})

describe('without a paid plan', () => {
  let world: World
  let gated: Endpoint[]

  beforeAll(async () => {
    world = await startWorld({ ROLES: 'web', PLAN: 'free' })
    gated = world.service.registry.routes
      .map(({ endpoint }) => endpoint)
      .filter(({ plan }) => plan !== undefined)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('every endpoint of a paid one is refused, for administrators too', async () => {
    const project = await world.project()
    const group = await world.group()
    const answered = await Promise.all(
      gated.map(async (endpoint) => {
        const id = endpoint.on.name === 'group' ? group.id : project.id
        const address = endpoint.path.replace(':id', String(id)).replaceAll(/:\w+|\*/g, '1')
        const { status, text } = await world.root.request(
          endpoint.method,
          address,
          endpoint.method === 'GET' ? undefined : {},
        )
        // Most areas look at parameters first: what is missing is told before the plan is.
        return {
          endpoint: `${endpoint.method} ${endpoint.path} ${status}`,
          refused:
            (endpoint.missingBelowPlan === undefined
              ? status === 403
              : text === `{"message":"404 ${endpoint.missingBelowPlan} Not Found"}`) ||
            /missing|is empty/.test(text),
        }
      }),
    )
    expect(answered.filter(({ endpoint }) => endpoint.endsWith(' 403')).length).toBeGreaterThan(50)
    expect(answered.filter(({ refused }) => !refused).map(({ endpoint }) => endpoint)).toEqual([])
  })
})
