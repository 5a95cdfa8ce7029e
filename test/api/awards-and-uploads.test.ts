import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let guest: Person
let reporter: Person
beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'private' })
  guest = await world.member({ project }, 'guest')
  reporter = await world.member({ project }, 'reporter')
})
afterAll(() => world[Symbol.asyncDispose]())

async function issue(fields: Json = {}): Promise<string> {
  const made = expectStatus(
    await guest.post(`/projects/${project.id}/issues`, { title: 'T', ...fields }),
    201,
  )
  return `/projects/${project.id}/issues/${made['iid'] as number}`
}

test('a reaction is given once, counted, and taken back by its giver', async () => {
  const at = await issue()
  const made = expectStatus(await guest.post(`${at}/award_emoji`, { name: ':+1:' }), 201)
  expect(Object.keys(made)).toEqual([
    'id',
    'name',
    'user',
    'created_at',
    'updated_at',
    'awardable_id',
    'awardable_type',
    'url',
  ])
  expect(made).toMatchObject({
    name: 'thumbsup',
    awardable_type: 'Issue',
    user: { username: guest.username },
  })
  expect(bodyOf(await guest.get(at))).toMatchObject({ upvotes: 1, downvotes: 0 })
  expect(await guest.post(`${at}/award_emoji`, { name: 'thumbsup' })).toMatchObject({
    status: 404,
    body: { message: '404 Award Emoji Name has already been taken Not Found' },
  })
  expect(await guest.post(`${at}/award_emoji`, { name: 'nothing-like-it' })).toMatchObject({
    status: 404,
    body: { message: '404 Award Emoji Name is not a valid emoji name Not Found' },
  })
  const one = `${at}/award_emoji/${made['id'] as number}`
  expect((await reporter.delete(one)).status).toBe(401)
  expect((await guest.delete(one)).status).toBe(204)
  expect(await guest.get(one)).toMatchObject({ status: 404, body: { message: '404 Award Emoji Not Found' } })
  expect(bodyOf(await guest.get(at))).toMatchObject({ upvotes: 0 })
})

test('notes have reactions, which go with them', async () => {
  const at = await issue()
  const note = expectStatus(await guest.post(`${at}/notes`, { body: 'x' }), 201)
  const one = `${at}/notes/${note['id'] as number}`
  expectStatus(await reporter.post(`${one}/award_emoji`, { name: 'tada' }), 201)
  expect(rowsOf(await guest.get(`${one}/award_emoji`))).toMatchObject([
    { name: 'tada', awardable_type: 'Note', awardable_id: note['id'] },
  ])
  expect((await guest.delete(one)).status).toBe(204)
  expect((await guest.get(`${one}/award_emoji`)).status).toBe(404)
})

test('internal notes are for planners, reporters and above', async () => {
  const at = await issue()
  expectStatus(await guest.post(`${at}/notes`, { body: 'open' }), 201)
  const hidden = expectStatus(await reporter.post(`${at}/notes`, { body: 'x', internal: true }), 201)
  expect(hidden).toMatchObject({
    internal: true,
    confidential: true,
    noteable_iid: Number(at.split('/').at(-1)),
  })
  expect((await guest.post(`${at}/notes`, { body: 'x', internal: true })).status).toBe(403)
  const [ofGuest, ofReporter] = [
    await guest.get(`${at}/discussions`),
    await reporter.get(`${at}/discussions`),
  ]
  expect([rowsOf(ofGuest).length, ofGuest.headers.get('x-total')]).toEqual([1, '1'])
  expect([rowsOf(ofReporter).length, ofReporter.headers.get('x-total')]).toEqual([2, '2'])
  const thread = rowsOf(ofReporter)[1]!['id'] as string
  expect(await guest.get(`${at}/notes/${hidden['id'] as number}`)).toMatchObject({
    status: 404,
    body: { message: '404 Note Not Found' },
  })
  expect(await guest.post(`${at}/discussions/${thread}/notes`, { body: 'x' })).toMatchObject({ status: 404 })
  const answer = expectStatus(await reporter.post(`${at}/discussions/${thread}/notes`, { body: 'x' }), 201)
  expect(answer).toMatchObject({ internal: true })
  expect(
    await reporter.put(`${at}/notes/${hidden['id'] as number}`, { body: 'y', internal: false }),
  ).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - Note {:confidential=>["can not be changed for existing notes"]}' },
  })
  expect(bodyOf(await reporter.get(at))).toMatchObject({ user_notes_count: 1 })
})

function form(name: string, content: string | Uint8Array<ArrayBuffer>): FormData {
  const data = new FormData()
  data.append('file', new Blob([content]), name)
  return data
}

test('a file is uploaded, shown to who reads the project, listed and deleted', async () => {
  const at = `/projects/${project.id}/uploads`
  const made = expectStatus(await guest.post(at, form('../my plan (1).png', 'picture')), 201)
  expect(made).toEqual({
    id: expect.any(Number) as number,
    alt: 'my_plan_1_',
    url: expect.stringMatching(/^\/uploads\/[0-9a-f]{32}\/my_plan_1_\.png$/) as string,
    full_path: `/-/project/${project.id}${made['url'] as string}`,
    markdown: `![my_plan_1_](${made['url'] as string})`,
  })
  const file = `/projects/${project.id}${made['url'] as string}`
  const shown = await guest.get(file)
  expect([shown.text, shown.headers.get('content-type')]).toEqual(['picture', 'image/png'])
  expect(shown.headers.get('content-security-policy')).toContain('sandbox')
  expect((await (await world.user()).get(file)).status).toBe(404)
  expect((await world.anonymous.get(file)).status).toBe(404)
  expect(rowsOf(await world.root.get(at))).toMatchObject([
    { id: made['id'], size: 7, filename: 'my_plan_1_.png', uploaded_by: { username: guest.username } },
  ])
  expect((await guest.get(at)).status).toBe(403)
  const page = await guest.post(at, form('x.html', '<script>alert(1)</script>'))
  expect(page.body).toMatchObject({
    alt: 'x.html',
    markdown: expect.stringMatching(/^\[x\.html\]\(/) as string,
  })
  const stored = await guest.get(`/projects/${project.id}${bodyOf(page)['url'] as string}`)
  expect(stored.headers.get('content-disposition')).toMatch(/^attachment/)
  expect((await world.root.delete(`${at}/${made['id'] as number}`)).status).toBe(204)
  expect((await guest.get(file)).status).toBe(404)
})

test('what is no file, or too large a one, is refused', async () => {
  const at = `/projects/${project.id}/uploads`
  expect(await guest.post(at, { file: 'x' })).toMatchObject({
    status: 400,
    body: { error: 'file is invalid' },
  })
  const { settings } = world.service.services
  await settings.change({ max_attachment_size: 1 })
  const limit = new Uint8Array(1024 * 1024)
  expect((await guest.post(at, form('a.bin', limit))).status).toBe(201)
  const over = await guest.post(at, form('a.bin', new Uint8Array(1024 * 1024 + 1)))
  expect([over.status, over.body as Json]).toEqual([413, { message: '413 Request Entity Too Large' }])
  await settings.change({ max_attachment_size: 100 })
})

test('a file whose project goes while it comes in has no place any more', async () => {
  const passing = await world.project()
  const request = http.request(`${world.url}/api/v4/projects/${passing.id}/uploads`, {
    method: 'POST',
    headers: { 'private-token': world.root.token, 'content-type': 'multipart/form-data; boundary=b' },
  })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  request.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')
  request.write(Buffer.alloc(1_000_000, 'x'))
  const incoming = path.join(world.directory, 'uploads', 'incoming')
  await expect.poll(() => readdir(incoming).catch(() => [])).toHaveLength(1)
  await world.end({ project: passing })
  await expect.poll(async () => (await world.root.get(`/projects/${passing.id}`)).status).toBe(404)
  request.end('\r\n--b--\r\n')
  const [answer] = await answered
  expect([answer.statusCode, await text(answer)]).toEqual([404, '{"message":"404 Project Not Found"}'])
})
