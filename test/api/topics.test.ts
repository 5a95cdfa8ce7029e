import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const about = async (...topics: string[]): Promise<Json> => world.project({ topics })
const topicsOf = async ({ id }: Json) => bodyOf(await world.root.get(`/projects/${id as number}`))['topics']
const found = async (name: string): Promise<Json | undefined> => {
  const all = rowsOf(await world.anonymous.get(`/topics?search=${encodeURIComponent(name)}`))
  return all.find((one) => one['name'] === name)
}
const counted = async (name: string) => (await found(name))?.['total_projects_count']
const make = async (name: string): Promise<Json> =>
  expectStatus(await world.root.post('/topics', { name, title: name.toUpperCase() }), 201)
const projectsOf = async (query: string): Promise<unknown[]> =>
  rowsOf(await world.root.get(`/projects?${query}`)).map(({ id }) => id)

test('topics come with the projects that name them, and are counted', async () => {
  const one = await about('rust', 'games')
  const two = await about('Rust')
  // As it was spelled first.
  expect(await topicsOf(two)).toEqual(['rust'])
  expect(await found('rust')).toEqual({
    id: expect.any(Number),
    name: 'rust',
    title: 'rust',
    description: null,
    total_projects_count: 2,
    avatar_url: null,
  })
  const names = rowsOf(await world.anonymous.get('/topics')).map(({ name }) => name)
  expect(names.indexOf('rust')).toBeLessThan(names.indexOf('games'))
  expect(await projectsOf(`topic_id=${(await found('rust'))!['id'] as number}`)).toEqual([
    two['id'],
    one['id'],
  ])
  expect(await projectsOf('topic_id=999999')).toEqual([])

  expectStatus(
    await world.root.put(`/projects/${one['id'] as number}`, { topics: ['games', 'GAMES', 'new'] }),
    200,
  )
  expect(await topicsOf(one)).toEqual(['games', 'new'])
  expect([await counted('rust'), await counted('games'), await counted('new')]).toEqual([1, 1, 1])
  const gone = `/projects/${two['id'] as number}`
  expectStatus(await world.root.delete(gone), 202)
  const full_path = bodyOf(await world.root.get(gone))['path_with_namespace']
  expectStatus(await world.root.delete(gone, { permanently_remove: true, full_path }), 202)
  await expect.poll(() => counted('rust'), { timeout: 20_000, interval: 20 }).toBe(0)
  const unused = rowsOf(await world.anonymous.get('/topics?without_projects=true')).map(({ name }) => name)
  expect(unused).toContain('rust')
  expect(unused).not.toContain('games')
})

test('administrators create, change and delete topics; projects follow', async () => {
  const topic = await make('cpp')
  const other = await about('kept')
  const project = await about('before', 'cpp', 'after')
  const at = `/topics/${topic['id'] as number}`
  expect(
    expectStatus(await world.root.put(at, { name: 'c++', description: 'A language' }), 200),
  ).toMatchObject({
    name: 'c++',
    title: 'CPP',
    description: 'A language',
    total_projects_count: 1,
  })
  expect(await topicsOf(project)).toEqual(['before', 'c++', 'after'])
  expect(expectStatus(await world.root.put(at, { name: 'C++' }), 200)['total_projects_count']).toBe(1)
  expect(await topicsOf(project)).toEqual(['before', 'C++', 'after'])
  expect(bodyOf(await world.anonymous.get(at))).toMatchObject({ name: 'C++', title: 'CPP' })

  expectStatus(await world.root.delete(at), 204)
  expect(await topicsOf(project)).toEqual(['before', 'after'])
  expect(await topicsOf(other)).toEqual(['kept'])
  expect((await world.anonymous.get(at)).body).toEqual({ message: '404 Topic Not Found' })
  for (const call of [world.root.put(at, { title: 'x' }), world.root.delete(at)]) {
    expect((await call).status).toBe(404)
  }
})

test('one topic is merged into another', async () => {
  const [source, target] = [await make('merge-js'), await make('merge-javascript')]
  const [both, only] = [await about('merge-javascript', 'x', 'merge-js'), await about('merge-js')]
  const merge = (from: unknown, to: unknown) =>
    world.root.post('/topics/merge', { source_topic_id: from, target_topic_id: to })
  expect((await merge(source['id'], source['id'])).body).toEqual({
    message: '400 Bad request - The source topic and the target topic are identical.',
  })
  expect((await merge(source['id'], 999_999)).status).toBe(404)
  expect(expectStatus(await merge(source['id'], target['id']), 201)).toMatchObject({
    id: target['id'],
    total_projects_count: 2,
  })
  expect(await topicsOf(both)).toEqual(['merge-javascript', 'x'])
  expect(await topicsOf(only)).toEqual(['merge-javascript'])
  expect(await found('merge-js')).toBeUndefined()
})

test('a topic has a picture that everybody sees', async () => {
  const topic = await make('pictured')
  const send = async (avatar: Blob | string): Promise<Json> => {
    const body = new FormData()
    body.set('avatar', avatar)
    const answer = await fetch(`${world.url}/api/v4/topics/${topic['id'] as number}`, {
      method: 'PUT',
      body,
      headers: { 'private-token': world.root.token },
    })
    expect(answer.status).toBe(200)
    return (await answer.json()) as Json
  }
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'), Buffer.from('a topic')])
  const address = (await send(new Blob([Uint8Array.from(png)])))['avatar_url'] as string
  expect(address).toContain(`/uploads/-/system/projects/topic/avatar/${topic['id'] as number}/`)
  const shown = await fetch(address)
  expect([shown.status, Buffer.from(await shown.arrayBuffer())]).toEqual([200, png])
  expect((await send(''))['avatar_url']).toBeNull()
  expect((await fetch(address)).status).toBe(404)
})

test('what can be no topic is refused', async () => {
  await make('taken')
  const refusal = async (fields: Json) => {
    const { status, body } = await world.root.post('/topics', fields)
    return [status, body]
  }
  const title = 'A title'
  expect(await refusal({ name: 'x' })).toEqual([400, { error: 'title is missing' }])
  expect(await refusal({ name: 'TAKEN', title })).toEqual([
    400,
    { message: { name: ['has already been taken'] } },
  ])
  expect(await refusal({ name: ' ', title: '' })).toEqual([
    400,
    { message: { name: ["can't be blank"], title: ["can't be blank"] } },
  ])
  expect(await refusal({ name: 'a,b\nc', title: 'x'.repeat(256), description: 'x'.repeat(1025) })).toEqual([
    400,
    {
      message: {
        name: ['has to be one line', 'cannot contain commas'],
        title: ['is too long (maximum is 255 characters)'],
        description: ['is too long (maximum is 1024 characters)'],
      },
    },
  ])
})
