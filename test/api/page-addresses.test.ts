import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import yazl from 'yazl'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import type { Person } from '../world/client.ts'
import { MergeProjects } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** Addresses outside the API that answers name, or that clients know: they have what endpoints of the API have. */
let world: World
let projects: CiProjects
let ci: CiProject
let project: Made
let guest: Person
let stranger: Person

beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
  ci = await projects.make({ test: { script: ['x'], artifacts: { paths: ['out'] } } })
  project = ci.project as Made
  guest = await world.member({ project }, 'reporter')
  stranger = await world.user()
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const look = (address: string, by?: Person, method = 'GET'): Promise<Response> =>
  fetch(new URL(address, world.url), { method, redirect: 'manual', headers: by?.headers ?? {} })

/** What a member gets; somebody else learns nothing. */
async function bytesOf(address: string): Promise<{ text: string; headers: Headers }> {
  for (const outsider of [stranger, undefined]) {
    const { status } = await look(address, outsider)
    expect([address, [401, 404].includes(status)]).toEqual([address, true])
  }
  const head = await look(address, guest, 'HEAD')
  const answer = await look(address, guest)
  const { status, headers } = answer
  expect([address, status, head.status]).toEqual([address, 200, 200])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect((await look(address, guest, 'POST')).status).toBe(404)
  return { text: await answer.text(), headers }
}

async function zip(files: Record<string, string>): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), name)
  archive.end()
  return new Uint8Array(await buffer(archive.outputStream))
}

test('logs and artifacts of jobs', async () => {
  const runner = await RawRunner.forProject(world, project)
  await ci.push({ 'a.txt': 'a' }, { to: 'some/branch', options: ['ci.skip'] })
  await ci.run(world.root, { ref: 'some/branch' })
  const job = await runner.take()
  await job.say('what the job said\n')
  const files = await zip({ 'out/a b.txt': 'content of a', 'out/x.html': '<script>alert(1)</script>' })
  await job.upload(files, { artifact_type: 'archive', artifact_format: 'zip' })
  await job.end('success')
  const { web_url } = expectStatus(await world.root.get(`/projects/${ci.id}/jobs/${job.id}`), 200)
  const log = await bytesOf(`${web_url as string}/raw`)
  expect([log.text, log.headers.get('content-type')]).toEqual(['what the job said\n', 'text/plain'])
  const whole = await bytesOf(`${web_url as string}/artifacts/download`)
  expect(whole.headers.get('content-type')).toBe('application/zip')
  const latest = `${project.web_url}/-/jobs/artifacts/some/branch`
  expect((await bytesOf(`${latest}/download?job=test`)).text).toBe(whole.text)
  expect((await bytesOf(`${web_url as string}/artifacts/raw/out/a%20b.txt`)).text).toBe('content of a')
  expect((await bytesOf(`${latest}/raw/out/a%20b.txt?job=test`)).text).toBe('content of a')
  const page = await bytesOf(`${latest}/raw/out/x.html?job=test`)
  expect(page.headers.get('content-disposition')).toMatch(/^attachment/)
  expect((await look(`${latest}/raw/out/none?job=test`, guest)).status).toBe(404)
  expect((await look(`${latest}/download?job=none`, guest)).status).toBe(404)
})

test('what releases offer', async () => {
  const release = {
    tag_name: 'v/1.0',
    ref: 'main',
    assets: { links: [{ name: 'bin', url: 'https://example.com/bin', direct_asset_path: '/bin/x' }] },
  }
  const { assets } = expectStatus(await world.root.post(`/projects/${ci.id}/releases`, release), 201)
  const [{ direct_asset_url }] = (assets as { links: [Json] }).links
  for (const address of [direct_asset_url as string, `${project.web_url}/-/releases/v/1.0/downloads/bin/x`]) {
    const answer = await look(address, guest)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://example.com/bin'])
    expect((await look(address, stranger)).status).toBe(404)
  }
  const latest = await look(`${project.web_url}/-/releases/permalink/latest/downloads/bin/x`, guest)
  const there = await look(latest.headers.get('location')!, guest)
  expect(there.headers.get('location')).toBe('https://example.com/bin')
})

test('files that were uploaded', async () => {
  const upload = async (at: string, name: string, content: string): Promise<Json> => {
    const form = new FormData()
    form.append('file', new Blob([content]), name)
    return expectStatus(await world.root.post(`${at}/uploads`, form), 201)
  }
  const made = await upload(`/projects/${ci.id}`, 'plan.png', 'picture')
  for (const address of [made['full_path'] as string, project.web_url + (made['url'] as string)]) {
    const { text, headers } = await bytesOf(address)
    expect([text, headers.get('content-type')]).toEqual(['picture', 'image/png'])
    expect(headers.get('content-security-policy')).toContain('sandbox')
  }
  const page = await upload(`/projects/${ci.id}`, 'x.html', '<script>alert(1)</script>')
  const { headers } = await bytesOf(page['full_path'] as string)
  expect(headers.get('content-disposition')).toMatch(/^attachment/)

  const group = await world.group()
  const member = { user_id: guest.id, access_level: 20 }
  expectStatus(await world.root.post(`/groups/${group.id}/members`, member), 201)
  const ofGroup = await upload(`/groups/${group.id}`, 'plan.txt', 'words')
  const places = [ofGroup['full_path'] as string, `/groups/${group.full_path}/-${ofGroup['url'] as string}`]
  for (const address of places) expect((await bytesOf(address)).text).toBe('words')
})

test('files of snippets', async () => {
  const files = [
    { file_path: 'a.html', content: '<script>alert(1)</script>' },
    { file_path: 'dir/b c.txt', content: 'two\n' },
  ]
  const of = async (snippet: Json): Promise<void> => {
    const first = await look(snippet['raw_url'] as string, guest)
    expect([first.status, await first.text()]).toEqual([200, files[0]!.content])
    expect(first.headers.get('content-type')).toBe('text/plain')
    expect(first.headers.get('content-security-policy')).toContain('sandbox')
    const shown = (snippet['files'] as { raw_url: string }[]).map(async ({ raw_url }) =>
      (await look(raw_url, guest)).text(),
    )
    expect(await Promise.all(shown)).toEqual(files.map(({ content }) => content))
    expect((await look(snippet['raw_url'] as string)).status).toBe(404)
  }
  const body = { title: 'T', visibility: 'private', files }
  await of(expectStatus(await guest.post(`/projects/${ci.id}/snippets`, body), 201))
  await of(expectStatus(await guest.post('/snippets', body), 201))
})

test('what merge requests change', async () => {
  const merging = await new MergeProjects(world).make()
  const { iid, web_url } = await merging.request({ 'a.txt': 'a\n' })
  const answer = await look(`${web_url as string}.diff`, merging.developer)
  expect([answer.status, await answer.text()]).toEqual([
    200,
    (await merging.developer.get(`${merging.one(iid as number)}/raw_diffs`)).text,
  ])
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  expect((await look(`${web_url as string}.diff`, stranger)).status).toBe(404)
})

test('browsers that are signed in look as who they are', async () => {
  const username = world.unique('browser')
  const password = 'a long password of somebody'
  const fields = { username, name: username, email: `${username}@example.com`, password }
  const user = expectStatus(await world.root.post('/users', { ...fields, skip_confirmation: true }), 201)
  const member = { user_id: user['id'] as number, access_level: 20 }
  expectStatus(await world.root.post(`/projects/${ci.id}/members`, member), 201)
  const signIn = await fetch(`${world.url}/users/sign_in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ login: username, password }),
  })
  expect(signIn.status).toBeLessThan(400)
  const cookie = signIn.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0]!)
    .join('; ')
  const form = new FormData()
  form.append('file', new Blob(['words']), 'plan.txt')
  const made = expectStatus(await world.root.post(`/projects/${ci.id}/uploads`, form), 201)
  const answer = await fetch(world.url + (made['full_path'] as string), { headers: { cookie } })
  expect([answer.status, await answer.text()]).toEqual([200, 'words'])
})

test('the old path of a project leads to the new one', async () => {
  const moving = await world.project({ visibility: 'public' })
  const old = moving.web_url
  const form = new FormData()
  form.append('file', new Blob(['words']), 'plan.txt')
  const { url } = expectStatus(await world.root.post(`/projects/${moving.id}/uploads`, form), 201)
  expectStatus(await world.root.put(`/projects/${moving.id}`, { path: world.unique('moved') }), 200)
  const answer = await fetch(old + (url as string))
  expect([answer.status, await answer.text()]).toEqual([200, 'words'])
})
