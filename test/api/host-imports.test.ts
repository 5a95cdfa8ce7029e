// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { set } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { openOctoHost } from '../world/octo-host.ts'
import { listed, type HostAnswer, type SourceHost } from '../world/source-host.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const stack = new AsyncDisposableStack()
const repo = '/api/v3/repos/octo/app'
let world: World
let host: SourceHost
let home: Made

beforeAll(async () => {
  host = stack.use((await openOctoHost()).host)
  world = stack.use(await startWorld({ IMPORT_HOSTS: `github=${host.url}` }))
  await set(world, { import_sources: ['github'], allow_local_requests_from_web_hooks_and_services: true })
  home = await world.group()
})
afterAll(() => stack.disposeAsync())

async function begin(fields: Json = {}, who: Person = world.root): Promise<number> {
  const reply = await who.post('/import/github', {
    personal_access_token: host.secret,
    repo_id: 42,
    target_namespace: home.full_path,
    new_name: world.unique('app'),
    ...fields,
  })
  return expectStatus(reply, 201)['id'] as number
}

const read = async (path: string, who: Person = world.root): Promise<Json> =>
  expectStatus(await who.get(path), 200)

const statusOf = async (id: number): Promise<Json> => read(`/projects/${id}/import`)

function over(id: number): Promise<Json> {
  return eventually(async () => {
    const state = await statusOf(id)
    return !['scheduled', 'started'].includes(state['import_status'] as string) && state
  })
}

/** The first who asks at this address waits until he is let through; all others do not. */
function holdFirst(path: string): { readonly waiting: () => boolean; readonly open: () => void } {
  const answer = host.answers[path]!
  const { promise, resolve } = Promise.withResolvers<undefined>()
  let waiting = false
  host.answers[path] = async (...asked) => {
    host.answers[path] = answer
    waiting = true
    await promise
    return answer(...asked)
  }
  return { waiting: () => waiting, open: () => resolve(undefined) }
}

test('what a node held that died is taken by another one, and nothing is taken twice', async () => {
  const held = holdFirst(`${repo}/issues/comments`)
  const id = await begin()
  await eventually(async () => held.waiting())
  const db = world.service.services.db.writer
  // As after the end of a node that could not say so.
  await eventually(async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from host_import_steps s join host_imports i on i.id = s.import_id
      where i.project_id = ${id}`.execute(db)
    return rows[0]!.count === 1
  })
  const state = await eventually(async () => {
    // Until somebody else has it: who holds it may have said so in between.
    const { rows } = await sql`
      update host_import_steps set leased_until = now() - interval '1 second' where attempts = 1 returning id`.execute(
      db,
    )
    if (rows.length > 0) await sql`select graphile_worker.add_job('host-imports:wake')`.execute(db)
    const told = await statusOf(id)
    return told['import_status'] !== 'started' && told
  })
  expect(state).toMatchObject({ import_status: 'finished', stats: { imported: { notes: 2 } } })
  held.open()
  // Whoever was thought dead goes on, and leaves no trace.
  await eventually(async () => host.busy === 0)
  expect((await read(`/projects/${id}/issues/1/notes`)) as Json[]).toHaveLength(1)
  expect(await statusOf(id)).toEqual(state)
})

test('an import is ended before it is done', async () => {
  const held = holdFirst(`${repo}/labels`)
  const id = await begin()
  await eventually(async () => held.waiting())
  const member = await world.member({ group: home }, 'maintainer')
  const stranger = await world.user()
  const cancel = (who: Person, project_id: number = id) => who.post('/import/github/cancel', { project_id })
  expect((await cancel(stranger)).status).toBe(404)
  expect((await cancel(member)).status).toBe(403)
  expect((await cancel(world.root, 999_999)).status).toBe(404)
  const project = await world.project()
  expect((await cancel(world.root, project.id)).status).toBe(404)
  expect(expectStatus(await cancel(world.root), 200)).toMatchObject({
    id,
    import_status: 'canceled',
    human_import_status_name: 'canceled',
    import_source: 'octo/app',
  })
  held.open()
  const again = await cancel(world.root)
  expect([again.status, again.body]).toEqual([
    400,
    { message: 'The import cannot be canceled because it is canceled' },
  ])
  await eventually(async () => host.busy === 0)
  expect(await statusOf(id)).toMatchObject({ import_status: 'canceled' })
  expect(await read(`/projects/${id}/labels`)).toEqual([])
  // What has been brought stays.
  expect(await read(`/projects/${id}/repository/branches/feature`)).toMatchObject({ name: 'feature' })
  const { rows } = await sql`
    select i.credentials from host_imports i where i.project_id = ${id}`.execute(
    world.service.services.db.reader,
  )
  expect(rows).toEqual([{ credentials: null }])
})

test('comments come one issue after the other where that is asked for', async () => {
  const comment = (number: number): Json => ({
    id: number,
    body: `Of ${number}`,
    user: { login: 'ada', id: 3 },
    created_at: '2020-01-01T00:00:00Z',
    issue_url: `${host.url}${repo}/issues/${number}`,
  })
  const before = { ...host.answers }
  for (const number of [1, 2, 3, 4, 5]) {
    const second = { ...comment(number), id: number * 10 + 1, body: `Second of ${number}` }
    host.answers[`${repo}/issues/${number}/comments`] = listed(number === 2 ? [] : [comment(number), second])
    host.answers[`${repo}/pulls/${number}/comments`] = listed([])
  }
  const others: HostAnswer = () => [{ id: 'x' }]
  host.answers[`${repo}/issues/comments`] = others
  host.answers[`${repo}/pulls/comments`] = others
  const stages = { single_endpoint_notes_import: true }
  const id = await begin({ optional_stages: stages, pagination_limit: 1 })
  expect(await over(id)).toMatchObject({
    import_status: 'finished',
    stats: { imported: { notes: 8 } },
  })
  host.answers = before
  const notes = (await read(`/projects/${id}/merge_requests/4/notes?sort=asc`)) as Json[]
  expect(notes.map((note) => note['body'] as string).toSorted()).toEqual([
    '*Created by: ada*\n\nOf 4',
    '*Created by: ada*\n\nSecond of 4',
  ])
})

test('the host that everybody knows is believed about whose an account is', async () => {
  const owner = await world.user()
  const ada = await world.user({
    username: 'ada',
    email: 'other@example.com',
    provider: 'github',
    extern_uid: '3',
  })
  const id = await begin({ target_namespace: owner.username }, owner)
  await over(id)
  expect(await read(`/projects/${id}/issues/1`, owner)).toMatchObject({ author: { id: ada.id } })
  // Of a server of somebody's own the same numbers mean nothing.
  const other = await begin({ target_namespace: owner.username, github_hostname: host.url }, owner)
  await over(other)
  expect(await read(`/projects/${other}/issues/1`, owner)).toMatchObject({ author: { id: owner.id } })
})
