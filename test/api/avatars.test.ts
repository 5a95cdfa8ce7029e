import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'), Buffer.from('a picture')])
const gif = Buffer.from('GIF89a another picture')

function form(content: Buffer | '', fields: Record<string, string> = {}): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  if (content === '') data.set('avatar', '')
  else data.set('avatar', new Blob([Uint8Array.from(content)]), '../../etc/p.svg')
  return data
}

function sending(person: Person, method: string, path: string, body: FormData): Promise<Response> {
  return fetch(`${world.url}/api/v4${path}`, { method, body, headers: { 'private-token': person.token } })
}

const fetched = async (address: string, headers: Record<string, string> = {}) => {
  const response = await fetch(address, { headers })
  return { response, content: Buffer.from(await response.arrayBuffer()) }
}

test('users put up pictures that everybody sees, and take them away', async () => {
  const user = await world.user()
  const put = await sending(user, 'PUT', '/user/avatar', form(png))
  expect(put.status).toBe(200)
  const { avatar_url: address } = (await put.json()) as { avatar_url: string }
  expect(address).toMatch(
    new RegExp(`^${world.url}/uploads/-/system/user/avatar/${user.id}/[0-9a-f]{16}\\.png$`),
  )
  expect(bodyOf(await world.root.get(`/users/${user.id}`))).toMatchObject({ avatar_url: address })

  const { response, content } = await fetched(address)
  expect(response.status).toBe(200)
  expect(content).toEqual(png)
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const again = await fetched(address, { 'if-none-match': response.headers.get('etag')! })
  expect(again.response.status).toBe(304)

  const other = await sending(user, 'PUT', '/user/avatar', form(gif))
  expect(((await other.json()) as { avatar_url: string }).avatar_url).not.toBe(address)
  expect((await sending(user, 'PUT', '/user/avatar', form(''))).status).toBe(200)
  expect((await fetched(address)).response.status).toBe(404)
})

test('what is no picture or too large is refused', async () => {
  const user = await world.user()
  for (const [content, text] of [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'file format is not supported.'],
    [Buffer.concat([png, Buffer.alloc(200 * 1024)]), 'is too big (should be at most 200 KiB)'],
  ] as const) {
    const answer = await sending(user, 'PUT', '/user/avatar', form(content))
    expect(answer.status).toBe(400)
    expect(JSON.stringify(await answer.json())).toContain(`{"message":{"avatar":["${text}`)
  }
  expect(await user.put('/user/avatar', {})).toMatchObject({
    status: 400,
    body: { error: 'avatar is missing' },
  })
  expect(await user.put('/user/avatar', { avatar: 'text' })).toMatchObject({
    status: 400,
    body: { error: 'avatar is invalid' },
  })
})

test('projects and groups have pictures that those see who see them', async () => {
  const owner = await world.user()
  const stranger = await world.user()
  const group = await world.group({}, owner)
  const name = world.unique('pictured')
  const made = await sending(owner, 'POST', '/projects', form(png, { name, namespace_id: String(group.id) }))
  expect(made.status).toBe(201)
  const project = (await made.json()) as { id: number; avatar_url: string; namespace: { avatar_url: null } }
  expect(project.avatar_url).toContain(`/uploads/-/system/project/avatar/${project.id}/`)
  expect(project.namespace.avatar_url).toBeNull()
  const changed = await sending(owner, 'PUT', `/groups/${group.id}`, form(gif))
  expect(changed.status).toBe(200)

  for (const [place, content] of [
    [`/projects/${project.id}`, png],
    [`/groups/${group.id}`, gif],
  ] as const) {
    const { avatar_url: address } = expectStatus(await owner.get(place), 200) as { avatar_url: string }
    const seen = await fetched(address, { 'private-token': owner.token })
    expect(seen.response.status).toBe(200)
    expect(seen.content).toEqual(content)
    expect((await fetched(address, { 'private-token': stranger.token })).response.status).toBe(404)
    expect((await fetched(address)).response.status).toBe(404)
    expect(bodyOf(await owner.put(place, { avatar: '' }))).toMatchObject({ avatar_url: null })
    expect(await owner.get(`${place}/avatar`)).toMatchObject({
      status: 404,
      body: { message: '404 Avatar Not Found' },
    })
  }
})

test('administrators give users pictures', async () => {
  const username = world.unique('pictured')
  const fields = { username, name: username, email: `${username}@example.com`, force_random_password: 'true' }
  const made = await sending(world.root, 'POST', '/users', form(png, fields))
  expect(made.status).toBe(201)
  const user = (await made.json()) as { id: number; avatar_url: string }
  expect((await fetched(user.avatar_url)).content).toEqual(png)
  expect((await sending(world.root, 'PUT', `/users/${user.id}`, form(''))).status).toBe(200)
  expect((await fetched(user.avatar_url)).response.status).toBe(404)
})

test('avatar_service_enabled: who has no picture gets one by the digest of the address', async () => {
  const user = await world.user()
  const own = bodyOf(await user.get('/user')) as { email: string; avatar_url: string }
  const digest = createHash('sha256').update(own.email).digest('hex')
  expect(own.avatar_url).toContain(`${digest}?s=80&d=identicon`)
  const email = 'Some.Body@example.com'
  const asked = bodyOf(await world.anonymous.get(`/avatar?email=${email}&size=32`)) as { avatar_url: string }
  expect(asked.avatar_url).toContain(
    `${createHash('sha256').update(email.toLowerCase()).digest('hex')}?s=32&d=identicon`,
  )

  expectStatus(await world.root.put('/application/settings', { avatar_service_enabled: false }), 200)
  expect(bodyOf(await user.get('/user'))).toMatchObject({ avatar_url: null })
  expect(bodyOf(await world.anonymous.get(`/avatar?email=${email}`))).toEqual({ avatar_url: null })
  expectStatus(await world.root.put('/application/settings', { avatar_service_enabled: true }), 200)
  expect(bodyOf(await user.get('/user'))).toMatchObject({ avatar_url: own.avatar_url })

  expect((await sending(user, 'PUT', '/user/avatar', form(png))).status).toBe(200)
  expectStatus(await world.root.put(`/users/${user.id}`, { public_email: own.email }), 200)
  expect(bodyOf(await world.anonymous.get(`/avatar?email=${own.email}`))).toMatchObject({
    avatar_url: expect.stringContaining(`/uploads/-/system/user/avatar/${user.id}/`) as string,
  })

  expectStatus(
    await world.root.put('/application/settings', { restricted_visibility_levels: ['public'] }),
    200,
  )
  expect((await world.anonymous.get(`/avatar?email=${email}`)).status).toBe(403)
  expect((await user.get(`/avatar?email=${email}`)).status).toBe(200)
  expectStatus(await world.root.put('/application/settings', { restricted_visibility_levels: [] }), 200)
})
