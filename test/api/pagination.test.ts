import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'

/** Pages of lists (completions of part 1, 1.1 and 1.2). */
let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Header values of an answer, null where there is none. */
function headersOf({ headers }: Reply, ...names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]))
}

describe('offset pagination (1.1)', () => {
  let many: Made
  let list: string
  let address: string

  beforeAll(async () => {
    many = await world.project()
    list = `/projects/${many['id']}/variables`
    address = `${world.url}/api/v4${list}`
    for (let number = 1; number <= 5; number += 1) {
      await world.root.post(list, { key: `KEY_${number}`, value: 'x' })
    }
  })

  const paging = [
    'link',
    'x-next-page',
    'x-page',
    'x-per-page',
    'x-prev-page',
    'x-total',
    'x-total-pages',
  ] as const
  const read = async (query: string): Promise<Record<string, string | null>> => {
    const answer = await world.root.get(`${list}${query}`)
    expect(answer.status).toBe(200)
    return headersOf(answer, ...paging)
  }
  const link = (rel: string, page: number, perPage: number) => {
    const id = /projects\/(\d+)/.exec(list)![1]!
    return `<${address}?id=${id}&page=${page}&per_page=${perPage}>; rel="${rel}"`
  }

  test('a page in the middle has all links', async () => {
    expect(await read('?page=2&per_page=2')).toEqual({
      link: [link('prev', 1, 2), link('next', 3, 2), link('first', 1, 2), link('last', 3, 2)].join(', '),
      'x-next-page': '3',
      'x-page': '2',
      'x-per-page': '2',
      'x-prev-page': '1',
      'x-total': '5',
      'x-total-pages': '3',
    })
  })

  test('the only page has none before and none after', async () => {
    expect(await read('')).toEqual({
      link: [link('first', 1, 20), link('last', 1, 20)].join(', '),
      'x-next-page': '',
      'x-page': '1',
      'x-per-page': '20',
      'x-prev-page': '',
      'x-total': '5',
      'x-total-pages': '1',
    })
  })

  test('past the end is an empty list', async () => {
    const answer = await world.root.get(`${list}?page=9&per_page=2`)
    expect([answer.status, answer.body]).toEqual([200, []])
    expect(headersOf(answer, 'x-next-page', 'x-prev-page', 'x-page', 'x-total')).toEqual({
      'x-next-page': '',
      'x-prev-page': '',
      'x-page': '9',
      'x-total': '5',
    })
  })

  test('an empty list has one page', async () => {
    const empty = await world.project()
    const answer = await world.root.get(`/projects/${empty['id']}/variables`)
    expect(headersOf(answer, 'x-total', 'x-total-pages')).toEqual({ 'x-total': '0', 'x-total-pages': '1' })
  })

  test.each([
    ['?page=0', { 'x-page': '1' }],
    ['?page=-3', { 'x-page': '1' }],
    ['?per_page=1000', { 'x-per-page': '100' }],
    ['?page=&per_page=', { 'x-page': '1', 'x-per-page': '20' }],
  ])('%s is brought within bounds', async (query, expected) => {
    expect(await read(query)).toMatchObject(expected)
  })

  test.each([
    ['?per_page=0', 'per_page has a value not allowed'],
    ['?page=x', 'page is invalid'],
    ['?per_page=2.5', 'per_page is invalid'],
    ['?page=x&per_page=y', 'page is invalid, per_page is invalid'],
  ])('%s is refused', async (query, error) => {
    const answer = await world.root.get(`${list}${query}`)
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  test('links repeat the query, the path as it was sent, and no credential', async () => {
    const path = encodeURIComponent(many.path_with_namespace)
    const { token } = world.root
    const answer = await world.anonymous.get(
      `/projects/${path}/variables?per_page=1&private_token=${token}&unknown[a]=1&unknown[b][]=x%26y`,
    )
    expect(answer.status).toBe(200)
    const unknown = 'unknown%5Ba%5D=1&unknown%5Bb%5D%5B%5D=x%26y'
    expect(answer.headers.get('link')).toContain(
      `<${world.url}/api/v4/projects/${path}/variables?id=${path}&page=1&per_page=1&${unknown}>; rel="first"`,
    )
    expect(answer.headers.get('link')).not.toContain(token)
  })
})

describe('keyset pagination (1.2)', () => {
  test('walks a list by its own links', async () => {
    for (let number = 0; number < 3; number += 1) await world.project({ visibility: 'public' })
    const ids: number[] = []
    let next: string | undefined = `/projects?pagination=keyset&order_by=id&sort=asc&per_page=2`
    while (next !== undefined) {
      const answer: Reply = await world.root.get(next)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-total')).toBeNull()
      ids.push(...(answer.body as Json[]).map((one) => one['id'] as number))
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
      if (ids.length > 100) throw new Error('the links lead in a circle')
    }
    expect(ids.length).toBeGreaterThan(4)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  })

  test.each(['access_token', 'job_token', 'token', 'secret_token', 'password'])(
    'links repeat no %s',
    async (name) => {
      const headers = { 'private-token': world.root.token }
      const answer = await world.anonymous.get(`/projects?per_page=1&other=1&${name}=hush`, headers)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('link')).toContain('other=1')
      expect(answer.headers.get('link')).not.toContain(name)
    },
  )

  test('a list without it is 405', async () => {
    const { id } = await world.project()
    for (const list of ['variables', 'triggers', 'protected_branches', 'pipelines']) {
      const answer = await world.root.get(`/projects/${id}/${list}?pagination=keyset&order_by=id&sort=asc`)
      expect([answer.status, answer.body]).toEqual([
        405,
        { error: 'Keyset pagination is not yet available for this type of request' },
      ])
    }
  })

  test('an order without it is 405', async () => {
    const answer = await world.root.get('/projects?pagination=keyset&order_by=name')
    expect([answer.status, answer.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ])
  })

  test('another word is refused', async () => {
    const answer = await world.root.get('/projects?pagination=other')
    expect([answer.status, answer.body]).toEqual([400, { error: 'pagination does not have a valid value' }])
  })
})
