// @module-tag long
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { Person } from '../world/client.ts'
import { copyDatabase } from '../world/databases.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, rootToken, startWorld, type Json } from '../world/world.ts'
import { freePort, Program, temporaryFolder } from './process.ts'

/** Just before these are sent the service is killed: in the midst of what a transfer does, in the order of its stages. */
const points = [
  'insert into bulk_import_steps (entity_id, stage',
  'insert into "protected_branches"',
  'insert into labels',
  'insert into wikis',
  'insert into merge_requests (iid',
  'insert into notes',
]

test('a transfer goes on after each crash, and nothing comes twice', async () => {
  await using stack = new AsyncDisposableStack()
  const source = stack.use(await startWorld())
  await source.service.services.settings.change({ bulk_import_enabled: true })
  const group = await source.group()
  const project = await source.project({ namespace_id: group.id, path: 'app' })
  await pushFiles(source, project, { 'README.md': '# Hello\n' })
  for (const name of ['one', 'two']) {
    await source.root.post(`/projects/${project.id}/labels`, { name, color: '#ff0000' })
    await source.root.post(`/projects/${project.id}/issues`, { title: name, labels: name })
  }
  const branch = { branch: 'side', ref: 'main' }
  await source.root.post(`/projects/${project.id}/repository/branches`, branch)
  const file = { branch: 'side', commit_message: 'Add', content: 'x' }
  await source.root.post(`/projects/${project.id}/repository/files/new.txt`, file)
  const request = { source_branch: 'side', target_branch: 'main', title: 'Brings it' }
  expectStatus(await source.root.post(`/projects/${project.id}/merge_requests`, request), 201)
  await source.root.post(`/projects/${project.id}/merge_requests/1/notes`, { body: 'Said' })
  await source.root.post(`/projects/${project.id}/wikis`, { title: 'Home', content: 'Of the wiki' })

  const database = stack.use(await copyDatabase(inject('postgres')))
  const db = new pg.Client({ connectionString: database.url })
  await db.connect()
  stack.defer(() => db.end())
  const folder = stack.use(await temporaryFolder()).path
  const url = `http://127.0.0.1:${await freePort()}`
  const root = new Person(url, { id: 1, username: 'root', token: rootToken })
  const start = async (environment: NodeJS.ProcessEnv): Promise<Program> => {
    const program = new Program(['serve'], {
      PORT: new URL(url).port,
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      ROOT_TOKEN: rootToken,
      ROLES: 'web,tasks',
      ...environment,
    })
    await program.ready(url)
    return program
  }
  const settings = { bulk_import_enabled: true, allow_local_requests_from_web_hooks_and_services: true }
  const first = await start({ ROLES: 'web' })
  expectStatus(await root.put('/application/settings', settings), 200)
  const made = expectStatus(
    await root.post('/bulk_imports', {
      configuration: { url: source.url, access_token: rootToken },
      entities: [
        { source_type: 'group_entity', source_full_path: group.full_path, destination_slug: 'moved' },
      ],
    }),
    201,
  )
  await first[Symbol.asyncDispose]()

  const crashPoints = pathToFileURL(path.join(import.meta.dirname, '../git/crash-points.ts')).href
  for (const words of points) {
    const program = new Program(['serve'], {
      PORT: new URL(url).port,
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      ROOT_TOKEN: rootToken,
      ROLES: 'web,tasks',
      CRASH_AT: words,
      NODE_OPTIONS: `--import=${crashPoints}`,
    })
    expect([words, (await program.ended).signal]).toEqual([words, 'SIGKILL'])
    // As if the time of its leases were over.
    await db.query(`update bulk_import_steps set leased_until = now() where state = 'started'`)
  }

  stack.use(await start({}))
  const at = `/bulk_imports/${made['id'] as number}`
  const ended = async (): Promise<Json> => {
    for (;;) {
      const body = expectStatus(await root.get(at), 200)
      if (!['created', 'started'].includes(body['status'] as string)) return body
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  expect(await ended()).toMatchObject({ status: 'finished', has_failures: false })
  const entities = expectStatus(await root.get(`${at}/entities?sort=asc`), 200) as Json[]
  expect(entities.map((entity) => entity['destination_full_path'] as string)).toEqual(['moved', 'moved/app'])
  const app = `/projects/${entities[1]!['project_id'] as number}`
  const read = async (rest: string): Promise<Json[]> =>
    expectStatus(await root.get(app + rest), 200) as Json[]
  expect(((await root.get('/groups')).body as Json[]).map((one) => one['full_path'] as string)).toEqual([
    'moved',
  ])
  expect((await read('/labels')).map(({ name }) => name as string)).toEqual(['one', 'two'])
  expect((await read('/issues?sort=asc')).map(({ title }) => title as string)).toEqual(['one', 'two'])
  expect(await read('/repository/branches')).toHaveLength(2)
  expect(await read('/merge_requests')).toMatchObject([{ title: 'Brings it', state: 'opened' }])
  expect(await read('/merge_requests/1/notes')).toMatchObject([{ body: 'Said' }])
  expect(await read('/merge_requests/1/versions')).toHaveLength(1)
  expect(await read('/protected_branches')).toMatchObject([{ name: 'main' }])
  expect((await root.get(`${app}/wikis/Home`)).body).toMatchObject({ content: 'Of the wiki' })
}, 300_000)
