import { afterAll, beforeAll, expect, test } from 'vitest'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  group = await world.group({ visibility: 'public' })
  const below = await world.group({ parent_id: group.id, visibility: 'public' })
  project = await world.project({ namespace_id: below.id, visibility: 'public' })
})
afterAll(() => world[Symbol.asyncDispose]())

const urls = {
  link_url: 'https://ci.example.com/%{project_path}/-/commits/%{default_branch}',
  image_url: 'https://ci.example.com/%{project_id}/%{project_name}.svg',
}
const add = async (place: string, fields: Json = {}): Promise<Json> =>
  expectStatus(await world.root.post(`${place}/badges`, { ...urls, ...fields }), 201)

test('a badge is added, shown with its addresses filled in, changed and removed', async () => {
  const place = `/projects/${project.id}`
  const made = await add(place, { name: 'Builds' })
  const path = project['path_with_namespace']
  expect(made).toEqual({
    name: 'Builds',
    ...urls,
    rendered_link_url: `https://ci.example.com/${path}/-/commits/${project['default_branch'] as string}`,
    rendered_image_url: `https://ci.example.com/${project.id}/${project['path']}.svg`,
    id: made['id'],
    kind: 'project',
  })
  expect((await world.anonymous.get(`${place}/badges/${made['id']}`)).body).toEqual(made)
  const changed = expectStatus(await world.root.put(`${place}/badges/${made['id']}`, { name: 'Tests' }), 200)
  expect(changed).toEqual({ ...made, name: 'Tests' })
  expect((await world.root.get(`${place}/badges?name=Tests`)).body).toEqual([changed])
  expect((await world.root.get(`${place}/badges?name=tests`)).body).toEqual([])
  expectStatus(await world.root.delete(`${place}/badges/${made['id']}`), 204)
  expect((await world.root.get(`${place}/badges/${made['id']}`)).status).toBe(404)
})

test('those of a group are shown by its projects, which have no say in them', async () => {
  const own = await add(`/projects/${project.id}`)
  const { id } = await add(`/groups/${group.id}`, { name: 'Of all' })
  const listed = (await world.anonymous.get(`/projects/${project.id}/badges`)).body as Json[]
  expect(listed.map((badge) => [badge['id'], badge['kind']])).toEqual([
    [own['id'], 'project'],
    [id, 'group'],
  ])
  expect(listed[1]).toMatchObject({ rendered_image_url: listed[0]!['rendered_image_url'] as string })
  for (const method of ['put', 'delete'] as const) {
    expect((await world.root[method](`/projects/${project.id}/badges/${id}`)).status).toBe(403)
  }
  // By itself it is of no project.
  const alone = (await world.anonymous.get(`/groups/${group.id}/badges`)).body as Json[]
  expect(alone).toEqual([
    {
      name: 'Of all',
      ...urls,
      rendered_link_url: urls.link_url,
      rendered_image_url: urls.image_url,
      id,
      kind: 'group',
    },
  ])
  const other = await world.group()
  expect((await world.root.get(`/groups/${other.id}/badges/${id}`)).status).toBe(404)
})

test('render tells what addresses would come to, the last commit and tag too', async () => {
  const pushed = await world.project()
  await pushFiles(world, pushed, { 'README.md': 'x' }, ['main'])
  for (const tag of ['v1.9', 'v1.10']) {
    expectStatus(
      await world.root.post(`/projects/${pushed.id}/repository/tags`, { tag_name: tag, ref: 'main' }),
      201,
    )
  }
  const [commit] = (await world.root.get(`/projects/${pushed.id}/repository/commits`)).body as Json[]
  const query = new URLSearchParams({
    link_url: 'https://a.example/%{commit_sha}/%{latest_tag}/%{unknown}',
    image_url: 'https://a.example/x.svg',
  })
  const shown = expectStatus(await world.root.get(`/projects/${pushed.id}/badges/render?${query}`), 200)
  expect(shown).toMatchObject({
    rendered_link_url: `https://a.example/${commit!['id'] as string}/v1.10/%{unknown}`,
    rendered_image_url: 'https://a.example/x.svg',
  })
})

test.each([
  [{}, { error: 'link_url is missing, image_url is missing' }],
  [{ ...urls, link_url: '' }, { error: 'link_url is empty' }],
  [
    { ...urls, link_url: 'javascript:alert(1)' },
    { message: { link_url: ['is blocked: Only allowed schemes are http, https'] } },
  ],
  [
    { ...urls, image_url: '/x.svg' },
    { message: { image_url: ['is blocked: Only allowed schemes are http, https'] } },
  ],
])('%o is refused', async (fields, body) => {
  const reply = await world.root.post(`/projects/${project.id}/badges`, fields)
  expect([reply.status, reply.body]).toEqual([400, body])
})
