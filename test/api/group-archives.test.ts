import { afterAll, beforeAll, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { tarOf } from '../world/archives.ts'
import type { Person, Reply } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let archive: Buffer

beforeAll(async () => {
  world = await startWorld()
  await world.service.services.settings.change({ group_download_export_limit: 0 })
  group = await world.group({ description: 'Of the first house', visibility: 'internal' })
  const below = await world.group({ parent_id: group.id, path: 'below', name: 'Below' })
  await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: '#ff0000' })
  await world.root.post(`/groups/${below.id}/labels`, { name: 'inner', color: '#00ff00' })
  await world.root.post(`/groups/${group.id}/milestones`, { title: '1.0', due_date: '2031-01-01' })
  const parent = expectStatus(
    await world.root.post(`/groups/${group.id}/epics`, { title: 'Above', labels: 'bug', description: 'All' }),
    201,
  )
  await world.root.post(`/groups/${group.id}/epics`, { title: 'Under', parent_id: parent['id'] })
  archive = await archiveOf(group)
})
afterAll(() => world[Symbol.asyncDispose]())

async function archiveOf(of: Json): Promise<Buffer> {
  const path = `/groups/${of['id'] as number}/export`
  const begun = await world.root.post(path)
  expect([begun.status, begun.body]).toEqual([202, { message: '202 Accepted' }])
  const address = `${world.url}/api/v4${path}/download`
  return eventually(async () => {
    const answer = await fetch(address, { headers: world.root.headers })
    if (answer.status === 404) return false
    expect(answer.headers.get('content-disposition')).toContain(`${of['path'] as string}_export.tar.gz`)
    return Buffer.from(await answer.arrayBuffer())
  })
}

function send(content: Buffer, fields: Json = {}, who: Person = world.root): Promise<Reply> {
  const form = new FormData()
  const path = world.unique('imported')
  for (const [name, value] of Object.entries<string>({ name: path, path, ...fields })) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(content)]), 'archive.tar.gz')
  return who.post('/groups/import', form)
}

/** The status of the import once it is over. */
const ended = (path: string): Promise<Json> =>
  eventually(async () => {
    const { body } = await world.root.get(`/groups/${encodeURIComponent(path)}/import`)
    return ['finished', 'failed'].includes((body as Json)['import_status'] as string) && (body as Json)
  })

test('an archive brings a group back: subgroups, labels, milestones and epics', async () => {
  const path = world.unique('back')
  expect((await send(archive, { path })).status).toBe(202)
  expect(await ended(path)).toMatchObject({
    import_status: 'finished',
    import_error: null,
    failed_relations: [],
  })
  const read = async (rest: string) => (await world.root.get(`/groups/${path}${rest}`)).body as Json[]
  expect(await read('')).toMatchObject({ description: 'Of the first house', visibility: 'internal' })
  expect(await read('/subgroups')).toMatchObject([{ name: 'Below', full_path: `${path}/below` }])
  expect(await read('/labels?only_group_labels=true')).toMatchObject([{ name: 'bug', color: '#ff0000' }])
  expect(await read('%2Fbelow/labels?only_group_labels=true')).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'inner' })]),
  )
  expect(await read('/milestones')).toMatchObject([{ title: '1.0', due_date: '2031-01-01', iid: 1 }])
  const epics = await read('/epics?sort=asc&order_by=created_at')
  expect(epics).toMatchObject([
    { title: 'Above', labels: ['bug'], description: 'All', iid: 1 },
    { title: 'Under', iid: 2 },
  ])
  expect(epics[1]!['parent_id']).toBe(epics[0]!['id'])
  expect(expectStatus(await world.root.post(`/groups/${path}/epics`, { title: 'Next' }), 201)['iid']).toBe(3)
})

test('an archive goes below a group of the importer’s, and nowhere else', async () => {
  const home = await world.group()
  const [maintainer, developer] = [
    await world.member({ group: home }, 'maintainer'),
    await world.member({ group: home }, 'developer'),
  ]
  expect((await send(archive, { parent_id: home.id }, developer)).status).toBe(403)
  expect((await send(archive, { parent_id: home.id, path: 'inside' }, maintainer)).status).toBe(202)
  expect(await ended(`${home.path}/inside`)).toMatchObject({ import_status: 'finished' })
  // No more open than where it is.
  expect((await maintainer.get(`/groups/${home.path}%2Finside`)).body).toMatchObject({
    visibility: 'private',
  })
  expect((await send(archive, { parent_id: home.id, path: 'inside' }, maintainer)).status).toBe(400)
  expect((await send(archive, { parent_id: home.id + 100_000 })).status).toBe(404)
})

test('what is no archive is told by the status; records that are not usable are passed over', async () => {
  for (const [content, error] of [
    [Buffer.from('nothing'), 'The file is not an archive, or is not whole.'],
    [await tarOf({ VERSION: '9' }), 'The archive has a version that is not known.'],
  ] as const) {
    const path = world.unique('wrong')
    expect((await send(content, { path })).status).toBe(202)
    expect(await ended(path)).toMatchObject({ import_status: 'failed', import_error: error })
  }
  const line = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n')
  const epic = {
    title: 'x',
    state: 'opened',
    color: '#123456',
    created_at: '2030-01-01',
    updated_at: '2030-01-01',
  }
  const path = world.unique('half')
  const content = await tarOf({
    VERSION: 'group 1.0',
    'tree/groups.ndjson': line(
      { path: '', name: 'x' },
      { path: '../up', name: 'x' },
      { path: 'lost/child', name: 'x' },
      { path: 'good', name: 'x' },
      { path: 'good', name: 'Again' },
    ),
    'tree/epics.ndjson': line(
      { ...epic, iid: 1, parent: 2 },
      { ...epic, iid: 2, parent: 1 },
      { ...epic, iid: 2 ** 40 },
      { ...epic, iid: 4, group: 'nowhere' },
    ),
    'tree/labels.ndjson': 'no json\n',
  })
  expect((await send(content, { path })).status).toBe(202)
  const status = await ended(path)
  expect(status['import_status']).toBe('finished')
  expect((status['failed_relations'] as Json[]).map((one) => one['relation_name'])).toEqual([
    'groups',
    'groups',
    'labels',
    'epics',
  ])
  expect((await world.root.get(`/groups/${path}/epics`)).body).toHaveLength(2)
  expect((await world.root.post('/groups/import', { name: 'x', path: 'x' })).body).toEqual({
    error: 'file is missing',
  })
})

test('group_import_limit, group_export_limit, group_download_export_limit: so many a minute', async () => {
  const owner = await world.member({ group }, 'owner')
  const path = `/groups/${group.id}/export`
  const values = { group_import_limit: 1, group_export_limit: 1, group_download_export_limit: 1 }
  const twice = async (call: () => Promise<Reply>) => [(await call()).status, (await call()).status]
  await during(world, values, async () => {
    expect(await twice(() => owner.post(path))).toEqual([202, 429])
    expect((await twice(() => owner.get(`${path}/download`)))[1]).toBe(429)
    expect(await twice(() => send(archive, {}, owner))).toEqual([202, 429])
  })
  expect((await owner.post(path)).status).toBe(202)
  expect((await owner.get(`${path}/download`)).status).not.toBe(429)
  expect((await send(archive, {}, owner)).status).toBe(202)
})

test('silent_admin_exports_enabled: what administrators take away is not written down', async () => {
  const { settings } = world.service.services
  await settings.change({ project_export_limit: 0, project_download_export_limit: 0 })
  const place = await world.group()
  const project = await world.project({ namespace_id: place.id })
  const owner = await world.member({ group: place }, 'owner')
  const events = async (kind: 'project' | 'group') => {
    const id = kind === 'project' ? project.id : place.id
    const { body } = await world.root.get(
      `/audit_events?entity_type=${kind === 'project' ? 'Project' : 'Group'}&entity_id=${id}`,
    )
    return (body as Json[]).map(({ author_id, event_name }) => [author_id, event_name])
  }
  const take = async (who: Person) => {
    expectStatus(await who.post(`/groups/${place.id}/export`), 202)
    expectStatus(await who.post(`/projects/${project.id}/export`), 202)
  }
  await during(world, { silent_admin_exports_enabled: true }, async () => {
    await take(world.root)
    await archiveOf(place)
    expect([await events('group'), await events('project')]).toEqual([[], []])
    await take(owner)
  })
  const byOwner = [[owner.id, 'group_export_created']]
  expect([await events('group'), await events('project')]).toEqual([
    byOwner,
    [[owner.id, 'project_export_created']],
  ])
  await archiveOf(place)
  expect(await events('group')).toEqual([
    [world.root.id, 'group_export_file_download_started'],
    [world.root.id, 'group_export_created'],
    ...byOwner,
  ])
  const [event] = (await owner.get(`/groups/${place.id}/audit_events?created_after=2020-01-01`))
    .body as Json[]
  expect(event).toMatchObject({
    entity_type: 'Group',
    entity_id: place.id,
    details: { custom_message: 'Export file download started', entity_path: place.full_path },
  })
  expect((await owner.get(`/groups/${place.id}/audit_events/${event!['id'] as number}`)).body).toEqual(event)
  expect((await owner.get(`/groups/${place.id}/audit_events?created_before=2020-01-01`)).body).toEqual([])
  const other = await world.group({}, owner)
  expect((await owner.get(`/groups/${other.id}/audit_events/${event!['id'] as number}`)).status).toBe(404)
})
