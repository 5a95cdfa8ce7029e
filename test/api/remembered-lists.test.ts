import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statementChannel, type SentStatement } from '../../src/kernel/log/index.ts'
import type { Client, Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/*
 * Who asks for a list of pipelines that was asked for before gets what was answered then, as long as the database says
 * that it is the same. So after every change the answer to what was asked before is held against that to the same question
 * at an address that was never asked.
 */

let world: World
let project: Made
let asker: Person

const queries = [
  '',
  '?per_page=2',
  '?per_page=2&page=2',
  '?sort=asc',
  '?status=canceled',
  '?scope=finished',
  '?scope=branches',
  '?ref=main',
  '?ref=other',
  '?source=api',
  '?name=Nightly',
  '?username=renamed',
  '?yaml_errors=false',
  '?order_by=updated_at',
  '?order_by=status&per_page=2',
  `?updated_after=${new Date(Date.now() + 1_500).toISOString()}`,
]

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
  asker = await world.member({ project }, 'maintainer')
  for (const branch of ['main', 'other']) {
    const file = {
      branch,
      start_branch: branch === 'main' ? undefined : 'main',
      content: `${branch}: { script: echo }`,
      commit_message: 'Begin',
    }
    const path = `/projects/${project.id}/repository/files/${branch}%2Eyml`
    expectStatus(await world.root.post(path, file), 201)
  }
  expectStatus(await world.root.put(`/projects/${project.id}`, { ci_config_path: 'main.yml' }), 200)
  for (let made = 0; made < 5; made += 1) await make('main')
})
afterAll(() => world[Symbol.asyncDispose]())

async function make(ref: string): Promise<number> {
  return expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref }), 201)['id'] as number
}

const path = (query: string): string => `/projects/${project.id}/pipelines${query}`

function told({ body, headers }: Reply): unknown {
  const paging = [...headers]
    .filter(([name]) => /^(link|etag|x-(total|page|next|prev|per).*)$/.test(name))
    .map(([name, value]) => [name, value.replaceAll(/[?&]unasked=\d+(?=[&>])/g, '')])
  return { body: body as unknown, paging: Object.fromEntries(paging) as unknown }
}

async function statementsFor(client: Client, query: string): Promise<{ reply: Reply; texts: string[] }> {
  const texts: string[] = []
  const id = `remembered-${Math.random().toString(36).slice(2)}`
  const listen = (message: unknown): void => {
    const { text, requestId } = message as SentStatement
    if (requestId === id) texts.push(text)
  }
  subscribe(statementChannel, listen)
  try {
    const reply = await client.get(path(query), { 'x-request-id': id })
    expect(reply.status).toBe(200)
    return { reply, texts }
  } finally {
    unsubscribe(statementChannel, listen)
  }
}

/** So often that the answer is remembered: first it is found who asks, then that he asks again. */
async function askAgain(query: string): Promise<Reply> {
  let last: Reply | undefined
  for (let time = 0; time < 4; time += 1) last = (await statementsFor(asker, query)).reply
  return last!
}

describe('a list that was asked for before', () => {
  test('comes without its rows, by one statement', async () => {
    const before = await askAgain('')
    const { reply, texts } = await statementsFor(asker, '')
    expect(texts).toHaveLength(1)
    expect(texts[0]).not.toContain('array_agg')
    expect(told(reply)).toEqual(told(before))
    expect(reply.headers.get('poll-interval')).toBe('10000')
    expect(reply.headers.get('x-request-id')).not.toBe(before.headers.get('x-request-id'))
  })

  test('comes so to others who may ask, too', async () => {
    const before = await askAgain('?per_page=3')
    const other = await world.member({ project }, 'reporter')
    // Finding who he is notes the use of his token, a little later, which is another one then.
    await expect.poll(async () => (await statementsFor(other, '?per_page=3')).texts.length).toBe(1)
    const { reply, texts } = await statementsFor(other, '?per_page=3')
    expect(texts).toHaveLength(1)
    expect(texts[0]).not.toContain('array_agg')
    expect(told(reply)).toEqual(told(before))
  })

  test('is 304 to who has it, and has no body for HEAD', async () => {
    const etag = (await askAgain('')).headers.get('etag')!
    expect(await asker.get(path(''), { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' })
    const head = await asker.request('HEAD', path(''))
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('etag')).toBe(etag)
  })

  test('is refused to who may no longer see it', async () => {
    const guest = await world.member({ project }, 'developer')
    for (let time = 0; time < 4; time += 1) expectStatus(await guest.get(path('')), 200)
    expectStatus(await world.root.delete(`/projects/${project.id}/members/${guest.id}`), 204)
    expectStatus(await guest.get(path('')), 404)
  })

  test('is refused to who sees the project, but not its pipelines', async () => {
    const open = await world.project({ visibility: 'public', builds_access_level: 'private' })
    const member = await world.member({ project: open }, 'developer')
    const visitor = await world.user()
    const list = `/projects/${open.id}/pipelines`
    for (let time = 0; time < 4; time += 1) {
      expectStatus(await member.get(list), 200)
      expectStatus(await visitor.get(list), 403)
    }
  })

  const changes: [string, () => Promise<unknown>][] = [
    ['one is made', () => make('main')],
    ['one is made on another ref', () => make('other')],
    ['one has another status', async () => world.root.post(`${path('')}/${await newest()}/cancel`)],
    ['one is run again', async () => world.root.post(`${path('')}/${await newest()}/retry`)],
    [
      'one gets a name',
      async () => world.root.put(`${path('')}/${await newest()}/metadata`, { name: 'Nightly' }),
    ],
    [
      'one gets another name',
      async () => world.root.put(`${path('')}/${await newest()}/metadata`, { name: 'Weekly' }),
    ],
    ['all rows lie elsewhere', writeAnew],
    ['the newest is deleted', async () => world.root.delete(`${path('')}/${await newest()}`)],
    ['a user has the name that is asked for', () => world.root.put('/users/1', { username: 'renamed' })],
    ['he has it no longer', () => world.root.put('/users/1', { username: 'root' })],
    ['the project has another path', () => world.root.put(`/projects/${project.id}`, { path: 'moved' })],
    ['a branch is gone', () => world.root.delete(`/projects/${project.id}/repository/branches/other`)],
  ]

  test.each(changes)('%s: as if it had never been asked for', async (_, change) => {
    // Before: a new member makes everybody be found anew, and what is remembered is not used then.
    const stranger = await world.member({ project }, 'maintainer')
    for (const query of queries) await askAgain(query)
    const reply = (await change()) as Partial<Reply> | number
    if (typeof reply === 'object') expect(reply.status).toBeLessThan(300)
    for (const query of queries) {
      const fresh = told(await stranger.get(path(neverAsked(query))))
      expect(told(await asker.get(path(query))), query).toEqual(fresh)
    }
  })
})

/** The same question under an address of its own, so that nothing is remembered of it. */
let addresses = 0
function neverAsked(query: string): string {
  addresses += 1
  return `${query === '' ? '?' : `${query}&`}unasked=${addresses}`
}

async function writeAnew(): Promise<number> {
  const { rows } = await sql`vacuum full ci_pipelines`.execute(world.service.services.db.writer)
  return rows.length
}

async function newest(): Promise<number> {
  const list = expectStatus(await world.root.get(path('?per_page=1')), 200) as unknown as Json[]
  return list[0]!['id'] as number
}
