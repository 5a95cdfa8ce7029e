import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import type { Client, Person, Reply } from '../world/client.ts'

let world: World
let group: Made
let member: Person
let stranger: Person
const named = new Map<number, string>()

beforeAll(async () => {
  world = await startWorld()
  group = await world.group({ visibility: 'public' })
  member = await world.member({ group }, 'developer')
  stranger = await world.user()
  await make({ name: 'b public', visibility: 'public', topics: ['x', 'y'], description: 'About 100% Rust' })
  await make({ name: 'a internal', visibility: 'internal', topics: ['x'] })
  await make({ name: 'd private', visibility: 'private', issues_access_level: 'disabled' })
  await make({ name: 'c personal', visibility: 'private', merge_requests_access_level: 'disabled' }, member)
  await make({ name: 'e hidden', visibility: 'private' }, world.root)
})
afterAll(() => world[Symbol.asyncDispose]())

async function make(fields: Json, inNamespaceOf?: Person): Promise<void> {
  const place = inNamespaceOf === undefined ? { namespace_id: group.id } : {}
  const made = expectStatus(
    await (inNamespaceOf ?? world.root).post('/projects', { ...fields, ...place }),
    201,
  )
  named.set(made['id'] as number, (fields['name'] as string)[0]!)
}

/** The first letters of the names, in the order of the list. */
function letters({ body, status, text }: Reply): string {
  expect([status, text]).toEqual([200, text])
  return (body as Json[]).map(({ id }) => named.get(id as number)).join('')
}

const list = async (who: Client, query = '') => letters(await who.get(`/projects?${query}`))

describe('everybody gets what he may see', () => {
  test('newest first', async () => {
    expect(await list(world.anonymous)).toBe('b')
    expect(await list(stranger)).toBe('ab')
    expect(await list(await world.user({ external: true }))).toBe('b')
    expect(await list(member)).toBe('cdab')
    expect(await list(world.root)).toBe('ecdab')
  })

  test('an external member sees the internal project he is a member of', async () => {
    const external = await world.user({ external: true })
    expectStatus(
      await world.root.post(`/groups/${group.id}/members`, {
        user_id: external.id,
        access_level: 10,
      }),
      201,
    )
    expect(await list(external)).toBe('dab')
  })

  test('in his form', async () => {
    const [visited] = (await world.anonymous.get('/projects')).body as Json[]
    expect(visited).not.toHaveProperty('permissions')
    expect(visited).not.toHaveProperty('archived')
    const [short] = (await member.get('/projects?simple=true')).body as Json[]
    expect(Object.keys(short!)).toEqual([...Object.keys(visited!)])
    const [full] = (await member.get('/projects?search=private')).body as Json[]
    expect(full).toMatchObject({
      archived: false,
      permissions: { project_access: null, group_access: { access_level: 30 } },
    })
    expect(full).not.toHaveProperty('build_timeout')
  })

  test('in one statement', async () => {
    const count = async () =>
      Number(
        /guildhall_sql_statements_total\{endpoint="GET \/projects"\} (\d+)/.exec(
          (await world.anonymous.get(`${world.url}/-/metrics`)).text,
        )?.[1] ?? 0,
      )
    await member.get('/projects')
    const before = await count()
    await member.get('/projects')
    await world.anonymous.get('/projects?pagination=keyset&order_by=id')
    expect((await count()) - before).toBe(2)
  })
})

describe('filters', () => {
  test.each([
    ['membership=true', 'cdab'],
    ['owned=true', 'c'],
    ['min_access_level=30', 'cdab'],
    ['min_access_level=50', 'c'],
    ['visibility=internal', 'a'],
    ['search=PRIV', 'd'],
    ['search=100%25', 'b'],
    ['search=_', ''],
    ['search=rust', 'b'],
    ['search_namespaces=true&search=group', 'dab'],
    ['topic=x', 'ab'],
    ['topic=x,y', 'b'],
    ['with_issues_enabled=true', 'cab'],
    ['with_merge_requests_enabled=true', 'dab'],
    ['archived=true', ''],
    ['archived=false', 'cdab'],
    ['active=true', 'cdab'],
    ['active=false', ''],
    ['last_activity_after=2100-01-01', ''],
    ['last_activity_before=2100-01-01T00:00:00Z', 'cdab'],
    ['order_by=updated_at&updated_after=2020-01-01', 'cdab'],
    ['order_by=name&sort=asc', 'abcd'],
    ['order_by=path', 'dcba'],
    ['order_by=id&sort=asc', 'badc'],
    ['order_by=star_count', 'cdab'],
    ['order_by=last_activity_at', 'cdab'],
    ['order_by=similarity&search=private', 'd'],
    // For administrators; others get the usual order.
    ['order_by=storage_size&sort=asc', 'badc'],
    ['per_page=2&page=2', 'ab'],
    ['per_page=3&page=2&order_by=id&sort=asc', 'c'],
  ])('%s', async (query, expected) => {
    expect(await list(member, query)).toBe(expected)
  })

  test('by id', async () => {
    const ids = [...named.keys()]
    expect(await list(member, `id_after=${ids[1]}`)).toBe('cd')
    expect(await list(member, `id_before=${ids[1]}`)).toBe('b')
  })

  test('of the archived', async () => {
    const [id] = [...named].find(([, letter]) => letter === 'd')!
    expectStatus(await world.root.post(`/projects/${id}/archive`), 201)
    expect([await list(member, 'archived=true'), await list(member, 'archived=false')]).toEqual(['d', 'cab'])
    expect([await list(member, 'active=false'), await list(member, 'active=true')]).toEqual(['d', 'cab'])
    expectStatus(await world.root.post(`/projects/${id}/unarchive`), 201)
  })

  test('of what is active count the groups above', async () => {
    const [top, owner] = [await world.group(), await world.user()]
    expectStatus(
      await world.root.post(`/groups/${top.id}/members`, { user_id: owner.id, access_level: 50 }),
      201,
    )
    const inner = await world.group({ parent_id: top.id })
    const loose = expectStatus(await owner.post('/projects', { name: 'loose' }), 201) as Made
    const held = await world.project({ namespace_id: inner.id })
    const ids = async (path: string) =>
      ((await owner.get(path)).body as Json[]).map(({ id }) => id as number).sort((a, b) => a - b)
    const states = async () => ({
      projects: await ids('/projects?membership=true&active=true'),
      others: await ids('/projects?membership=true&active=false'),
      groups: await ids('/groups?all_available=false&active=true'),
      otherGroups: await ids('/groups?all_available=false&active=false'),
      inTheGroup: await ids(`/groups/${top.id}/projects?include_subgroups=true&active=true`),
      below: await ids(`/groups/${top.id}/subgroups?active=true`),
    })
    const active = {
      projects: [loose.id, held.id],
      others: [],
      groups: [top.id, inner.id],
      otherGroups: [],
      inTheGroup: [held.id],
      below: [inner.id],
    }
    const resting = {
      projects: [loose.id],
      others: [held.id],
      groups: [],
      otherGroups: [top.id, inner.id],
      inTheGroup: [],
      below: [],
    }

    expect(await states()).toEqual(active)
    expectStatus(await owner.post(`/groups/${top.id}/archive`), 200)
    expect(await states()).toEqual(resting)
    expectStatus(await owner.post(`/groups/${top.id}/unarchive`), 200)
    expectStatus(await owner.delete(`/groups/${top.id}`), 202)
    expect(await states()).toEqual(resting)
  })

  test('of a storage count for administrators', async () => {
    expect(await list(world.root, 'repository_storage=other')).toBe('')
    expect(await list(member, 'repository_storage=other')).toBe('cdab')
  })

  test.each([
    ['order_by=size', 'order_by does not have a valid value'],
    ['sort=up', 'sort does not have a valid value'],
    ['visibility=x&page=x', 'visibility does not have a valid value, page is invalid'],
    ['min_access_level=31', 'min_access_level does not have a valid value'],
    ['last_activity_after=yesterday', 'last_activity_after is invalid'],
    ['id_after=x', 'id_after is invalid'],
  ])('%s is refused', async (query, error) => {
    const answer = await member.get(`/projects?${query}`)
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  test('updated_after goes with its order only', async () => {
    const answer = await member.get('/projects?updated_after=2020-01-01')
    expect([answer.status, answer.body]).toEqual([
      400,
      { message: '400 Bad request - `updated_at` filter and `updated_at` sorting must be paired' },
    ])
  })
})

describe('pages', () => {
  test('by offset have totals and links', async () => {
    const answer = await member.get('/projects?per_page=3')
    expect(letters(answer)).toBe('cda')
    expect(answer.headers.get('x-total')).toBe('4')
    expect(answer.headers.get('x-next-page')).toBe('2')
    expect(answer.headers.get('link')).toContain('&page=2&pagination=legacy&per_page=3&')
  })

  test('too deep are refused', async () => {
    const answer = await member.get('/projects?per_page=100&page=501')
    expect([answer.status, answer.body]).toEqual([
      405,
      {
        error:
          'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
      },
    ])
    expect((await member.get('/projects?per_page=100&page=500')).status).toBe(200)
  })

  test.each(['asc', 'desc'] as const)('by keyset (%s) lead from link to link', async (sort) => {
    let address: string | undefined = `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=2`
    const seen: string[] = []
    while (address !== undefined) {
      const answer: Reply = await member.get(address)
      seen.push(letters(answer))
      expect(answer.headers.get('x-total')).toBeNull()
      address = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(sort === 'asc' ? ['ba', 'dc'] : ['cd', 'ab'])
  })

  test('by keyset keep a filter by id', async () => {
    const first = [...named.keys()][0]!
    const answer = await member.get(`/projects?pagination=keyset&order_by=id&per_page=1&id_after=${first}`)
    expect(answer.headers.get('link')).toMatch(new RegExp(`id_after=${first}&id_before=\\d+`))
  })

  test('by keyset need the order by id', async () => {
    const answer = await member.get('/projects?pagination=keyset')
    expect([answer.status, answer.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ])
    expect((await member.get('/projects?pagination=none')).body).toEqual({
      error: 'pagination does not have a valid value',
    })
  })
})

test('the projects of a user are those of his namespace', async () => {
  expect(letters(await member.get(`/users/${member.username.toUpperCase()}/projects`))).toBe('c')
  expect(letters(await world.root.get(`/users/${member.id}/projects`))).toBe('c')
  expect(letters(await stranger.get(`/users/${member.id}/projects`))).toBe('')
  const missing = await world.anonymous.get('/users/nobody-here/projects')
  expect([missing.status, missing.body]).toEqual([404, { message: '404 User Not Found' }])
})

test('the projects of a user, and forks, are filtered as all are', async () => {
  const [id] = [...named].find(([, letter]) => letter === 'b')!
  const fork = expectStatus(await stranger.post(`/projects/${id}/fork`), 201)
  for (const path of [`/users/${stranger.id}/projects`, `/projects/${id}/forks`]) {
    const found = async (who: Client, query: string) =>
      ((await who.get(`${path}?${query}`)).body as Json[]).map((project) => project['id'])
    expect(await found(stranger, 'membership=true')).toEqual([fork['id']])
    expect(await found(member, 'membership=true')).toEqual([])
    expect(await found(member, `id_after=${id}&last_activity_before=2100-01-01`)).toEqual([fork['id']])
    expect(await found(member, `id_before=${id}`)).toEqual([])
    expect(await found(member, 'imported=true')).toEqual([])
    const unpaired = await member.get(`${path}?updated_after=2020-01-01`)
    expect(unpaired.status).toBe(400)
    const measured = async (who: Client) => ((await who.get(`${path}?statistics=true`)).body as Json[])[0]
    expect(await measured(stranger)).toHaveProperty('statistics.repository_size')
    expect(await measured(member)).not.toHaveProperty('statistics')
  }
})
