import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { startWorld, type Made, type World } from '../world/world.ts'

/*
 * Pages of lists of members are found by sets and counts that the database keeps; here they are held against what the
 * rows themselves say, with gaps, memberships that expire and minimal access.
 */

let world: World
let top: Made
let inner: Made
let project: Made
let users: number[]

const today = new Date().toISOString().slice(0, 10)

beforeAll(async () => {
  world = await startWorld()
  top = await world.group()
  inner = await world.group({ parent_id: top.id })
  project = await world.project({ namespace_id: inner.id })
  const { writer } = world.service.services.db
  // Ids with gaps, over several blocks of 1,024.
  const made = await sql<{ id: number }>`
    insert into users (id, username, name, email) overriding system value
    select 1000 + i * 7, 'many' || i, 'Many ' || i, 'many' || i || '@example.com' from generate_series(1, 700) i
    returning id`.execute(writer)
  users = made.rows.map(({ id }) => id)
  const add = (
    place: 'namespace_id' | 'project_id',
    id: number,
    every: number,
    rest: number,
    level: number,
  ) =>
    sql`
      insert into members (user_id, ${sql.ref(place)}, access_level)
      select u.id, ${id}, ${level} from users u where u.id >= 1000 and u.id % ${every} = ${rest}`.execute(
      writer,
    )
  await add('namespace_id', top.id, 2, 0, 20)
  await add('namespace_id', top.id, 10, 1, 5)
  await add('namespace_id', inner.id, 3, 0, 30)
  await add('project_id', project.id, 5, 3, 40)
  await sql`update members set expires_at = ${today} where user_id % 11 = 0`.execute(writer)
  await sql`delete from members where user_id % 13 = 0`.execute(writer)
})
afterAll(() => world[Symbol.asyncDispose]())

/** Ids of all users of a list, and the total that each page told. */
async function read(path: string): Promise<{ ids: number[]; totals: Set<string | null> }> {
  const ids: number[] = []
  const totals = new Set<string | null>()
  for (let page = 1; ; page += 1) {
    const answer = await world.root.get(`${path}?per_page=37&page=${page}`)
    const rows = rowsOf(answer)
    totals.add(answer.headers.get('x-total'))
    ids.push(...rows.map((row) => row['id'] as number))
    if (answer.headers.get('x-next-page') === '') return { ids, totals }
    expect(rows).toHaveLength(37)
  }
}

/** Who is in a list by what was put in above, the creator of the groups first. */
function expected(isIn: (id: number) => boolean): number[] {
  return [1, ...users.filter((id) => id % 11 !== 0 && id % 13 !== 0 && isIn(id))]
}

const inTop = (id: number): boolean => id % 2 === 0
const minimal = (id: number): boolean => id % 10 === 1
const inInner = (id: number): boolean => id % 3 === 0
const inProject = (id: number): boolean => id % 5 === 3

test.each([
  [
    'the direct members of a group',
    () => `/groups/${top.id}/members`,
    (id: number) => inTop(id) || minimal(id),
  ],
  ['all members of a group', () => `/groups/${top.id}/members/all`, (id: number) => inTop(id) || minimal(id)],
  [
    'all of a subgroup, where minimal access ends',
    () => `/groups/${inner.id}/members/all`,
    (id: number) => inTop(id) || inInner(id),
  ],
  [
    'all of a project',
    () => `/projects/${project.id}/members/all`,
    (id: number) => inTop(id) || inInner(id) || inProject(id),
  ],
])('the pages of %s are whole', async (_, path, isIn) => {
  const found = await read(path())
  const wanted = expected(isIn)
  expect(found.ids.toSorted((a, b) => a - b)).toEqual(wanted)
  if (path().endsWith('/all')) expect(found.ids).toEqual(wanted)
  expect([...found.totals]).toEqual([String(wanted.length)])
})

test('a page past the end is empty and tells the total', async () => {
  for (const path of [`/groups/${top.id}/members`, `/groups/${inner.id}/members/all`]) {
    const whole = await read(path)
    const answer = await world.root.get(`${path}?page=900`)
    expect([answer.status, answer.body, answer.headers.get('x-total')]).toEqual([
      200,
      [],
      String(whole.ids.length),
    ])
  }
})

test.each(['groups', 'projects'])('no page of %s is too far away to be asked for', async (kind) => {
  const { id } = kind === 'groups' ? await world.group() : await world.project()
  for (const list of ['members', 'members/all']) {
    const answer = await world.root.get(`/${kind}/${id}/${list}?page=2147483648&per_page=100`)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toEqual([])
  }
})

test('who leaves is gone from the pages at once, and who comes is there', async () => {
  const path = `/groups/${top.id}/members`
  const before = await read(`${path}/all`)
  const [gone, come] = [
    users.find((id) => inTop(id) && id % 11 !== 0 && id % 13 !== 0)!,
    users.find((id) => id % 13 === 0)!,
  ]
  expect((await world.root.delete(`${path}/${gone}`)).status).toBe(204)
  expect((await world.root.post(path, { user_id: come, access_level: 10 })).status).toBe(201)
  const after = await read(`${path}/all`)
  const wanted = [...before.ids.filter((id) => id !== gone), come].toSorted((a, b) => a - b)
  expect(after.ids).toEqual(wanted)
  expect((await read(path)).ids.toSorted((a, b) => a - b)).toEqual(wanted)
})
