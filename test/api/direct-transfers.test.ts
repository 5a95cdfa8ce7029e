// @module-tag long
import { randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, rootToken, startWorld, type Json, type Made, type World } from '../world/world.ts'

const stack = new AsyncDisposableStack()
/** The instance that things come from, and the one that they come to. */
let source: World
let world: World

beforeAll(async () => {
  source = stack.use(await startWorld())
  world = stack.use(await startWorld())
  await source.service.services.settings.change({ bulk_import_enabled: true })
  await world.service.services.settings.change({
    bulk_import_enabled: true,
    allow_local_requests_from_web_hooks_and_services: true,
  })
})
afterAll(() => stack.disposeAsync())

interface Wanted {
  readonly url?: string
  readonly token?: string
  readonly entities: readonly Json[]
}

function ask(
  { url = source.url, token = rootToken, entities }: Wanted,
  who: Person = world.root,
): Promise<Reply> {
  return who.post('/bulk_imports', { configuration: { url, access_token: token }, entities })
}

const groupEntity = (from: string, slug: string, fields: Json = {}): Json => ({
  source_type: 'group_entity',
  source_full_path: from,
  destination_slug: slug,
  destination_namespace: '',
  ...fields,
})

/** A transfer that is over, and its entities in the order in which they were found. */
async function over(made: Json, who: Person = world.root): Promise<{ transfer: Json; entities: Json[] }> {
  const path = `/bulk_imports/${made['id'] as number}`
  const transfer = await eventually(async () => {
    const body = expectStatus(await who.get(path), 200)
    return !['created', 'started'].includes(body['status'] as string) && body
  })
  const entities = expectStatus(await who.get(`${path}/entities?sort=asc&per_page=100`), 200) as Json[]
  return { transfer, entities }
}

async function brought(wanted: Wanted, who: Person = world.root) {
  return over(expectStatus(await ask(wanted, who), 201), who)
}

const messagesOf = (entity: Json): string[] =>
  (entity['failures'] as Json[]).map((failure) => failure['exception_message'] as string)

describe('a group', () => {
  let group: Made
  let project: Made
  let author: Person

  beforeAll(async () => {
    group = await source.group({ description: 'Of the first house', name: 'First' })
    const below = await source.group({ parent_id: group.id, path: 'below', name: 'Below' })
    project = await source.project({ namespace_id: below.id, path: 'app', name: 'App', topics: ['one'] })
    await pushFiles(source, project, { 'README.md': '# Hello\n' })
    author = await source.user({ public_email: 'known@example.com', email: 'known@example.com' })
    await source.root.post(`/groups/${group.id}/members`, { user_id: author.id, access_level: 30 })
    await source.root.post(`/groups/${group.id}/labels`, { name: 'of the group', color: '#00ff00' })
    await source.root.post(`/groups/${group.id}/milestones`, { title: '1.0' })
    const above = expectStatus(await source.root.post(`/groups/${group.id}/epics`, { title: 'Above' }), 201)
    await source.root.post(`/groups/${group.id}/epics`, { title: 'Under', parent_id: above['id'] })
    const path = `/projects/${project.id}`
    await source.root.post(`${path}/labels`, { name: 'bug', color: '#ff0000' })
    const milestone = expectStatus(await source.root.post(`${path}/milestones`, { title: 'First' }), 201)
    await author.post(`${path}/issues`, { title: 'One' })
    await author.post(`${path}/issues`, { title: 'Two', labels: 'bug', milestone_id: milestone['id'] })
    await source.root.post(`${path}/issues/2/notes`, { body: 'Said' })
    await source.root.post(`${path}/wikis`, { title: 'Home', content: 'Of the wiki' })
  })

  test('comes with all below it: projects, code, wiki, issues, labels, milestones, epics, members', async () => {
    const member = await world.user({ email: 'known@example.com' })
    const slug = world.unique('moved')
    const { transfer, entities } = await brought({ entities: [groupEntity(group.full_path, slug)] })
    expect(transfer).toMatchObject({
      status: 'finished',
      source_type: 'gitlab',
      source_url: source.url,
      has_failures: false,
    })
    expect(entities).toMatchObject([
      {
        status: 'finished',
        entity_type: 'group',
        destination_full_path: slug,
        failures: [],
        parent_id: null,
      },
      { status: 'finished', entity_type: 'group', destination_full_path: `${slug}/below`, failures: [] },
      {
        status: 'finished',
        entity_type: 'project',
        destination_full_path: `${slug}/below/app`,
        failures: [],
      },
    ])
    expect(entities[2]!['parent_id']).toBe(entities[1]!['id'])
    expect(entities[2]!['stats']).toMatchObject({
      issues: { source: 2, fetched: 2, imported: 2 },
      labels: { source: 1, fetched: 1, imported: 1 },
      repository: { source: 1, fetched: 1, imported: 1 },
    })
    const read = async (path: string) => expectStatus(await world.root.get(path), 200)
    expect(await read(`/groups/${slug}`)).toMatchObject({ name: 'First', description: 'Of the first house' })
    expect(await read(`/groups/${slug}/labels`)).toMatchObject([{ name: 'of the group' }])
    expect(await read(`/groups/${slug}/milestones`)).toMatchObject([{ title: '1.0' }])
    const epics = (await read(`/groups/${slug}/epics?sort=asc`)) as Json[]
    expect(epics.map(({ title }) => title as string)).toEqual(['Above', 'Under'])
    expect(epics[1]!['parent_id']).toBe(epics[0]!['id'])
    const app = `/projects/${encodeURIComponent(`${slug}/below/app`)}`
    expect(await read(app)).toMatchObject({ name: 'App', topics: ['one'], default_branch: 'main' })
    expect((await world.root.get(`${app}/repository/files/README.md/raw?ref=main`)).text).toBe('# Hello\n')
    expect(await read(`${app}/wikis/Home`)).toMatchObject({ content: 'Of the wiki' })
    expect(await read(`${app}/issues/2`)).toMatchObject({
      title: 'Two',
      labels: ['bug'],
      milestone: { title: 'First' },
      user_notes_count: 1,
    })
    expect(await read(`${app}/protected_branches`)).toMatchObject([{ name: 'main' }])
    // Known by the address that he shows there and has confirmed here, whatever he is called.
    const members = (await read(`/groups/${slug}/members`)) as Json[]
    expect(members.find(({ id }) => id === member.id)).toMatchObject({ access_level: 30 })
    // The token is nowhere to be seen, and no longer kept.
    expect(JSON.stringify([transfer, entities])).not.toContain(rootToken)
    const { rows } = await sql`select i.access_token from bulk_imports i`.execute(
      world.service.services.db.reader,
    )
    expect(rows).toEqual([{ access_token: null }])
  })

  test('comes without projects and members where that is asked for', async () => {
    const slug = world.unique('bare')
    const fields = { migrate_projects: false, migrate_memberships: false }
    const { entities } = await brought({ entities: [groupEntity(group.full_path, slug, fields)] })
    expect(entities.map((entity) => entity['destination_full_path'] as string)).toEqual([
      slug,
      `${slug}/below`,
    ])
    expect((await world.root.get(`/groups/${slug}/members`)).body).toHaveLength(1)
  })

  test('comes to a group of the caller’s, speaks for nobody else, and makes nobody an owner but him', async () => {
    const home = await world.group()
    const owner = await world.member({ group: home }, 'owner')
    const { entities } = await brought(
      {
        entities: [
          {
            source_type: 'project_entity',
            source_full_path: project.path_with_namespace,
            destination_slug: 'app',
            destination_namespace: home.full_path,
          },
        ],
      },
      owner,
    )
    expect(entities).toMatchObject([{ status: 'finished', entity_type: 'project', failures: [] }])
    const app = `/projects/${entities[0]!['project_id'] as number}`
    expect(expectStatus(await owner.get(`${app}/issues/2`), 200)).toMatchObject({
      author: { id: owner.id },
      description: expect.stringContaining(`*Created by: ${author.username}*`),
    })
    expect((await world.root.get(`/bulk_imports/${entities[0]!['bulk_import_id'] as number}`)).status).toBe(
      404,
    )
  })

  test('is refused where the caller may bring nothing, and where something is', async () => {
    const home = await world.group()
    const developer = await world.member({ group: home }, 'developer')
    const into = groupEntity(group.full_path, 'x', { destination_namespace: home.full_path })
    const refused = await ask({ entities: [into] }, developer)
    expect([refused.status, refused.body]).toEqual([
      422,
      {
        message: `Import failed. Destination '${home.full_path}' is invalid, or you don't have permission.`,
      },
    ])
    const taken = await ask({ entities: [groupEntity(group.full_path, home.path)] })
    expect([taken.status, taken.body]).toEqual([
      422,
      { message: `Import failed. '${home.path}' already exists. Change the destination and try again.` },
    ])
    for (const wrong of [
      { entities: [] },
      { entities: [groupEntity('../x', 'x')] },
      { entities: [groupEntity('x', 'x y')] },
      { entities: [into], url: 'file:///etc/passwd' },
      { entities: [into], url: 'http://user:password@example.com' },
    ]) {
      expect((await ask(wrong)).status).toBe(400)
    }
  })

  test('that is not there, or not for the token, fails and says why', async () => {
    const stranger = await source.user()
    for (const [from, token] of [
      ['no-such-group', rootToken],
      [group.full_path, stranger.token],
      [group.full_path, 'wrong'],
    ] as const) {
      const { transfer, entities } = await brought({
        token,
        entities: [groupEntity(from, world.unique('none'))],
      })
      expect(transfer).toMatchObject({ status: 'failed', has_failures: true })
      expect(entities).toMatchObject([{ status: 'failed', namespace_id: null }])
      expect(messagesOf(entities[0]!)[0]).toMatch(/^The source answers with 40[134]\.$/)
    }
  })
})

describe('a source that is not what it should be', () => {
  /** A source of these answers; how often each was asked for, and with which token. */
  async function pretend(answers: Readonly<Record<string, RequestListener>>) {
    const asked: string[] = []
    const server = createServer((request, reply) => {
      const place = new URL(request.url!, 'http://x').pathname.replace('/api/v4', '')
      const key = `${request.method!} ${place}`
      asked.push(`${key} ${String(request.headers['private-token'])}`)
      const answer = answers[key] ?? answers['*']
      if (answer === undefined) reply.writeHead(404).end()
      else answer(request, reply)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    stack.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }
  const json =
    (value: unknown): RequestListener =>
    (_, reply) =>
      reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  const batches = [{ batch_number: 1, status: 1, objects_count: 1 }]
  const relation = (name: string) => ({ relation: name, status: 1, batched: true, batches_count: 1, batches })
  const self = { format: 'group 1.0', path: '', name: 'Pretended', description: '', visibility: 0 }
  const honest = (relations: readonly string[], file: (name: string) => Buffer) => ({
    'GET /version': json({ version: '17.0.0' }),
    'GET /groups/g': json({ id: 7, full_path: 'g' }),
    'POST /groups/7/export_relations': json({ message: '202 Accepted' }),
    'GET /groups/7/export_relations/status': json(['self', ...relations].map((name) => relation(name))),
    'GET /groups/7/subgroups': json([]),
    'GET /groups/7/projects': json([]),
    'GET /groups/7/export_relations/download': ((request, reply) => {
      const name = new URL(request.url!, 'http://x').searchParams.get('relation')!
      reply.end(name === 'self' ? gzipSync(JSON.stringify(self)) : file(name))
    }) as RequestListener,
  })
  const from = async (url: string) => {
    const result = await brought({
      url,
      token: 'secret',
      entities: [groupEntity('g', world.unique('pretended'))],
    })
    return { ...result, entity: result.entities[0]! }
  }

  test.each<[what: string, answers: Readonly<Record<string, RequestListener>>, message: RegExp]>([
    ['is none', { '*': json({}) }, /does not tell its version/],
    ['is too old', { '*': json({ version: '13.12.0' }) }, /at least 14\.0/],
    ['speaks no JSON', { '*': (_, reply) => void reply.end('<html>') }, /does not answer with JSON/],
    ['does not end', { '*': (_, reply) => void reply.end('x'.repeat(9_000_000)) }, /answers too much/],
    [
      'sends us on and on',
      { '*': (_, reply) => void reply.writeHead(302, { location: 'file:///etc/passwd' }).end() },
      /is blocked/,
    ],
    [
      'writes another format',
      {
        ...honest([], () => Buffer.alloc(0)),
        'GET /groups/7/export_relations/download': (_, reply) => void reply.end(gzipSync('{"format":"x"}')),
      },
      /format that is not known/,
    ],
  ])('%s: the transfer fails and says why', async (_, answers, message) => {
    const { url } = await pretend(answers)
    const { transfer, entity } = await from(url)
    expect([transfer['status'], entity['status']]).toEqual(['failed', 'failed'])
    expect(messagesOf(entity)).toEqual([expect.stringMatching(message)])
    const list = `/bulk_imports/${transfer['id'] as number}/entities/${entity['id'] as number}/failures`
    expect((await world.root.get(list)).body).toMatchObject([
      { exception_message: expect.stringMatching(message), exception_class: 'TransferFault' },
    ])
  })

  test('has files that are none, or records that are not usable: the rest is taken', async () => {
    const label = { title: 'good', color: '#000000', description: null, priority: null }
    const { url } = await pretend(
      honest(['labels', 'milestones', 'unknown', 'labels'], (name) =>
        name === 'labels'
          ? gzipSync(['no JSON', JSON.stringify({ title: 5 }), JSON.stringify(label)].join('\n'))
          : Buffer.from('no gzip'),
      ),
    )
    const { transfer, entity } = await from(url)
    expect(transfer).toMatchObject({ status: 'finished', has_failures: true })
    expect(entity).toMatchObject({ stats: { labels: { fetched: 3, imported: 1 } }, has_failures: true })
    expect(
      new Set((entity['failures'] as Json[]).map((one) => [one['relation'], one['step']].join(' '))),
    ).toEqual(new Set(['labels transformer', 'milestones extractor']))
    const path = entity['destination_full_path'] as string
    expect((await world.root.get(`/groups/${path}/labels`)).body).toMatchObject([{ name: 'good' }])
  })

  test('unpacks to too much: that is not taken', async () => {
    const { url } = await pretend(honest(['labels'], () => gzipSync(Buffer.alloc(3 * 1024 * 1024))))
    await during(world, { max_decompressed_archive_size: 2 }, async () => {
      const { entity } = await from(url)
      expect(messagesOf(entity)).toEqual(['Decompressed archive size validation failed.'])
    })
  })

  test('sends us on to others: they do not get the token', async () => {
    const other = await pretend({ '*': json({ version: '17.0.0' }) })
    const { url, asked } = await pretend({
      '*': (_, reply) => void reply.writeHead(302, { location: `${other.url}/` }).end(),
    })
    await from(url)
    expect(asked[0]).toBe('GET /version secret')
    expect(other.asked.length).toBeGreaterThan(0)
    expect(other.asked.join()).not.toContain('secret')
  })

  test('does not answer: the transfer can be canceled, by administrators', async () => {
    const { url, asked } = await pretend({ '*': () => undefined })
    const user = await world.user()
    const made = expectStatus(
      await ask({ url, entities: [groupEntity('g', world.unique('silent'))] }, user),
      201,
    )
    await eventually(async () => asked.length > 0)
    const path = `/bulk_imports/${made['id'] as number}`
    expect((await user.post(`${path}/cancel`)).status).toBe(403)
    expect(expectStatus(await world.root.post(`${path}/cancel`), 200)).toMatchObject({ status: 'canceled' })
    expect((await over(made, user)).entities).toMatchObject([{ status: 'canceled' }])
    expect((await world.root.post('/bulk_imports/999999/cancel')).status).toBe(404)
  })

  test('bulk_import_concurrent_pipeline_batch_limit: so many pieces at once, others wait', async () => {
    const silent = await Promise.all([1, 2, 3].map(() => pretend({ '*': () => undefined })))
    const begin = async ({ url }: { url: string }) =>
      expectStatus(await ask({ url, entities: [groupEntity('g', world.unique('waiting'))] }), 201)[
        'id'
      ] as number
    const stateOf = async (id: number) =>
      expectStatus(await world.root.get(`/bulk_imports/${id}`), 200)['status'] as string
    const ids: number[] = []
    try {
      await during(world, { bulk_import_concurrent_pipeline_batch_limit: 1 }, async () => {
        ids.push(await begin(silent[0]!), await begin(silent[1]!))
        await eventually(async () => silent[0]!.asked.length > 0)
        await world.settled()
        // The second one comes when the first is done, and that never is.
        expect([await stateOf(ids[0]!), await stateOf(ids[1]!)]).toEqual(['started', 'created'])
        await world.root.put('/application/settings', { bulk_import_concurrent_pipeline_batch_limit: 2 })
        ids.push(await begin(silent[2]!))
        await eventually(async () => silent[1]!.asked.length > 0)
        await world.settled()
        expect([await stateOf(ids[1]!), await stateOf(ids[2]!)]).toEqual(['started', 'created'])
        expect(silent[2]!.asked).toEqual([])
      })
    } finally {
      for (const id of ids) await world.root.post(`/bulk_imports/${id}/cancel`)
    }
  })
})

test('bulk_import_max_download_file_size: a larger file ends its entity', async () => {
  const group = await source.group()
  const large = await source.project({ namespace_id: group.id, path: 'large' })
  await pushFiles(source, large, { 'noise.txt': randomBytes(1_500_000).toString('base64') })
  const move = () => brought({ entities: [groupEntity(group.full_path, world.unique('large'))] })
  await during(world, { bulk_import_max_download_file_size: 1 }, async () => {
    const { transfer, entities } = await move()
    expect(transfer).toMatchObject({ status: 'finished', has_failures: true })
    expect(entities.map(({ status }) => status as string)).toEqual(['finished', 'failed'])
    expect(messagesOf(entities[1]!)).toEqual([
      expect.stringMatching(/^File size 1\.\d+ MB exceeds limit of 1 MB$/),
    ])
  })
  expect((await move()).transfer).toMatchObject({ status: 'finished', has_failures: false })
})

test('bulk_import_enabled: without it there are no transfers, for nobody', async () => {
  const calls = (who: { get: Person['get']; post: Person['post'] }) =>
    Promise.all([who.post('/bulk_imports', {}), who.get('/bulk_imports'), who.get('/bulk_imports/entities')])
  await during(world, { bulk_import_enabled: false }, async () => {
    for (const reply of [...(await calls(world.root)), ...(await calls(world.anonymous))]) {
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Not Found' }])
    }
  })
  expect((await calls(world.root)).map(({ status }) => status)).toEqual([400, 200, 200])
  expect((await calls(world.anonymous)).map(({ status }) => status)).toEqual([401, 401, 401])
})
