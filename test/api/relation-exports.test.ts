// @module-tag long
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made

beforeAll(async () => {
  world = await startWorld()
  await world.service.services.settings.change({ bulk_import_enabled: true })
  group = await world.group({ description: 'Of the first house' })
  project = await world.project({ namespace_id: group.id, description: 'To be moved' })
  await pushFiles(world, project, { 'README.md': '# Hello\n' })
})
afterAll(() => world[Symbol.asyncDispose]())

const base = (of: Made): string =>
  `/${'path_with_namespace' in of ? 'projects' : 'groups'}/${of.id}/export_relations`

async function statusOf(of: Made, who: Person = world.root): Promise<Json[]> {
  return expectStatus(await who.get(`${base(of)}/status`), 200) as Json[]
}

async function exported(of: Made, batched = false): Promise<Json[]> {
  expect(expectStatus(await world.root.post(base(of), { batched }), 202)).toEqual({ message: '202 Accepted' })
  return eventually(async () => {
    const status = await statusOf(of)
    return status.every((one) => one['status'] !== 0) && status
  })
}

async function download(of: Made, query: string): Promise<{ name: string; content: Buffer }> {
  const answer = await fetch(`${world.url}/api/v4${base(of)}/download?${query}`, {
    headers: world.root.headers,
  })
  expect(answer.status).toBe(200)
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? ''
  return { name, content: gunzipSync(Buffer.from(await answer.arrayBuffer())) }
}

async function records(of: Made, query: string): Promise<Json[]> {
  const { content } = await download(of, query)
  const lines = content.toString('utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Json)
}

async function namesIn(tar: Buffer): Promise<string[]> {
  const names: string[] = []
  const reading = extract()
  reading.end(tar)
  for await (const entry of reading) {
    names.push(entry.header.name)
    entry.resume()
  }
  return names
}

test('relations of a project: records a line each, repositories in an archive', async () => {
  const path = `/projects/${project.id}`
  await world.root.post(`${path}/labels`, { name: 'bug', color: '#ff0000' })
  const issue = expectStatus(await world.root.post(`${path}/issues`, { title: 'One', labels: 'bug' }), 201)
  await world.root.post(`${path}/issues/${issue['iid'] as number}/notes`, { body: 'Said' })
  const member = await world.member({ project }, 'developer')

  const status = await exported(project)
  const one = { status: 1, error: null, batched: false, batches_count: 0, updated_at: expect.any(String) }
  expect(status.find(({ relation }) => relation === 'issues')).toEqual({
    relation: 'issues',
    total_objects_count: 1,
    ...one,
  })
  expect(status.every((relation) => relation['status'] === 1)).toBe(true)
  expect((await world.root.get(`${base(project)}/status?relation=labels`)).body).toMatchObject([
    { relation: 'labels', total_objects_count: 1 },
  ])
  expect(await records(project, 'relation=self')).toMatchObject([
    { format: 'project 1.0', description: 'To be moved', default_branch: 'main' },
  ])
  expect(await records(project, 'relation=labels')).toMatchObject([{ title: 'bug', color: '#ff0000' }])
  expect(await records(project, 'relation=issues')).toMatchObject([
    { title: 'One', labels: ['bug'], author: 'root', discussions: [{ notes: [{ body: 'Said' }] }] },
  ])
  expect(await records(project, 'relation=project_members')).toEqual(
    expect.arrayContaining([
      { username: member.username, public_email: null, access_level: 30, expires_at: null },
    ]),
  )
  const { name, content } = await download(project, 'relation=repository')
  expect([name, await namesIn(content)]).toEqual(['repository.tar.gz', ['project.bundle']])
  expect((await download(project, 'relation=labels')).name).toBe('labels.ndjson.gz')
  expect(await namesIn((await download(project, 'relation=wiki')).content)).toEqual([])
  expect((await world.root.get(`${base(project)}/download?relation=issues&batched=true`)).status).toBe(404)
  expect((await world.root.get(`${base(project)}/download?relation=secrets`)).status).toBe(400)
})

test('relations of a group: without what is below it; in batches when there is much', async () => {
  const below = await world.group({ parent_id: group.id })
  await world.root.post(`/groups/${below.id}/labels`, { name: 'inner', color: '#00ff00' })
  await sql`
    insert into labels (namespace_id, title, color)
    select ${group.id}::bigint, 'label ' || n, '#123456' from generate_series(1, 2001) n`.execute(
    world.service.services.db.writer,
  )
  const status = await exported(group, true)
  expect(status.find(({ relation }) => relation === 'labels')).toMatchObject({
    status: 1,
    batched: true,
    batches_count: 3,
    total_objects_count: 2001,
    batches: [
      { batch_number: 1, objects_count: 1000, status: 1, error: null },
      { batch_number: 2, objects_count: 1000, status: 1 },
      { batch_number: 3, objects_count: 1, status: 1 },
    ],
  })
  const titles = new Set<string>()
  for (const number of [1, 2, 3]) {
    const batch = await records(group, `relation=labels&batched=true&batch_number=${number}`)
    for (const { title, group: place } of batch) {
      titles.add(title as string)
      expect(place).toBe('')
    }
  }
  expect([titles.size, titles.has('inner')]).toEqual([2001, false])
  expect(await records(group, 'relation=self&batched=true')).toMatchObject([
    { format: 'group 1.0', path: '', description: 'Of the first house' },
  ])
  expect(
    (await world.root.get(`${base(group)}/download?relation=labels&batched=true&batch_number=4`)).status,
  ).toBe(404)
  // Begun anew, in another way: what was there before is gone.
  await exported(group)
  expect(await records(group, 'relation=labels')).toHaveLength(2001)
  expect((await world.root.get(`${base(group)}/download?relation=labels&batched=true`)).status).toBe(404)
})

test('bulk_import_enabled: without it there are no relation exports, for nobody', async () => {
  const asked = async () =>
    Promise.all(
      [world.root, world.anonymous].flatMap((who) => [
        who.post(base(project)),
        who.get(`${base(project)}/status`),
        who.get(`${base(group)}/download?relation=labels`),
      ]),
    )
  await during(world, { bulk_import_enabled: false }, async () => {
    for (const reply of await asked()) {
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Not Found' }])
    }
  })
  expect((await asked()).map(({ status }) => status)).toEqual([202, 200, 200, 401, 401, 401])
})

test('concurrent_relation_batch_export_limit: so many files are written at once, others wait', async () => {
  const { db } = world.service.services
  const [first, second] = [await world.group(), await world.group()]
  const states = async (of: Made) => {
    const status = await statusOf(of)
    return Object.fromEntries(
      status.map(({ relation, batches }) => [relation, (batches as Json[])[0]!['status'] as number]),
    )
  }
  const [waiting, started, finished] = [2, 0, 1]
  await during(world, { concurrent_relation_batch_export_limit: 1 }, async () => {
    // Nobody reads labels as long as this lasts.
    const locked = Promise.withResolvers<null>()
    const over = Promise.withResolvers<null>()
    const holding = db.transaction(async (tx) => {
      await sql`lock table labels in access exclusive mode`.execute(tx)
      locked.resolve(null)
      await over.promise
    })
    await locked.promise
    try {
      for (const of of [first, second]) expectStatus(await world.root.post(base(of), { batched: true }), 202)
      const stuck = {
        self: finished,
        members: finished,
        labels: started,
        milestones: waiting,
        epics: waiting,
      }
      expect(
        await eventually(async () => (await states(first))['labels'] === started && states(first)),
      ).toEqual(stuck)
      expect(new Set(Object.values(await states(second)))).toEqual(new Set([waiting]))
      await world.root.put('/application/settings', { concurrent_relation_batch_export_limit: 2 })
      expectStatus(await world.root.post(base(second), { batched: true }), 202)
      // Epics tell their labels, too.
      await eventually(async () => (await states(first))['epics'] === started)
      expect(await states(first)).toEqual({ ...stuck, milestones: finished, epics: started })
      expect(new Set(Object.values(await states(second)))).toEqual(new Set([waiting]))
    } finally {
      over.resolve(null)
      await holding
    }
  })
  await eventually(async () =>
    [...Object.values(await states(first)), ...Object.values(await states(second))].every(
      (state) => state === finished,
    ),
  )
})
