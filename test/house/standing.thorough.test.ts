// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { permissions } from '../../src/access/permissions.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, roles, type World } from '../world/world.ts'
import { Cast, idOf, type Caller } from './grid/actors.ts'
import { playOnce, scenarioOf } from './grid/play.ts'
import { readGrids, shapeOf, type Row } from './grid/rows.ts'
import { Stages } from './grid/stage.ts'
import { openedByPermissions, openWhenArchived } from './grid/standing.ts'
import { startGridWorld } from './grid/world.ts'

/**
 * What the columns of the grid do not show, over every endpoint: what an archived project or group still lets its owner do, and
 * what a guest may do who has every permission that custom roles can give.
 */
const rows = readGrids().filter(
  (row) => row.visibility !== 'public' && row.visibility !== 'internal' && scenarioOf(row) !== undefined,
)
const endpointOf = ({ method, path: address }: Row): string => `${method} ${address}`

/** The first row of each endpoint for which this holds. */
function firstOf(holds: (row: Row) => boolean): [string, Row][] {
  const found = new Map<string, Row>()
  for (const row of rows.filter(holds)) {
    const shape = shapeOf(row.method, row.path)
    if (!found.has(shape)) found.set(shape, row)
  }
  return [...found.values()].map((row) => [endpointOf(row), row])
}

let world: World
let cast: Cast
let stages: Stages
let guest: Person

beforeAll(async () => {
  world = await startGridWorld()
  cast = await Cast.make(world)
  guest = await world.user()
  const held = expectStatus(
    await world.root.post('/member_roles', {
      name: 'everything',
      base_access_level: roles.guest,
      ...Object.fromEntries(permissions.map((permission) => [permission, true])),
    }),
    201,
  )
  cast.others.push({ user_id: String(guest.id), access_level: roles.guest, member_role_id: idOf(held) })
  stages = new Stages(cast)
})
afterAll(() => world[Symbol.asyncDispose]())

describe.each(['project', 'group'] as const)('of an archived %s', (kind) => {
  const writing = firstOf(
    ({ method, path: address, expected, condition }) =>
      method !== 'GET' &&
      address.startsWith(`/${kind}s/:id`) &&
      !condition.includes('archived') &&
      Math.min(expected.owner, expected.admin) < 300,
  )
  const table = sql.table(kind === 'project' ? 'projects' : 'namespaces')

  test.for(writing)('%s', async ([endpoint, row]) => {
    const { owner } = cast.members
    const caller: Caller =
      row.expected.owner < 300
        ? { name: 'owner', client: owner, userId: owner.id }
        : { name: 'admin', client: cast.admin, userId: cast.admin.id }
    const set = async (id: number, archived: boolean): Promise<void> => {
      await sql`update ${table} set archived = ${archived} where id = ${id}`.execute(
        world.service.services.db.writer,
      )
    }
    let archived = 0
    const reply = await playOnce(row, stages, caller, async (stage) => {
      archived = idOf(stage[kind])
      await set(archived, true)
    })
    await set(archived, false)
    expect([reply.status, reply.text]).toEqual([openWhenArchived.get(endpoint) ?? 403, reply.text])
  })

  test('the list has only what there is', () => {
    const there = new Set(writing.map(([endpoint]) => endpoint))
    const listed = [...openWhenArchived.keys()].filter((endpoint) => endpoint.includes(` /${kind}s/`))
    expect(listed.filter((endpoint) => !there.has(endpoint))).toEqual([])
  })
})

describe('a guest with every permission', () => {
  const closed = firstOf(
    ({ path: address, expected, condition }) =>
      /^\/(projects|groups)\/:id/.test(address) &&
      expected.guest >= 400 &&
      expected.owner < 300 &&
      !condition.startsWith('own '),
  )

  test.for(closed)('%s', async ([endpoint, row]) => {
    const reply = await playOnce(row, stages, { name: 'guest', client: guest, userId: guest.id })
    // What one sees now, and may not do all the same, is refused in other words.
    expect([reply.status < 400, reply.text]).toEqual([openedByPermissions.has(endpoint), reply.text])
  })

  test('the list has only what there is', () => {
    const there = new Set(closed.map(([endpoint]) => endpoint))
    expect([...openedByPermissions].filter((endpoint) => !there.has(endpoint))).toEqual([])
  })
})
