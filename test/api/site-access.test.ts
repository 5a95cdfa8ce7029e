// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { pushFiles } from '../world/push.ts'
import { siteArchive, visit } from '../world/site.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** Who may look at a site, and how the service tells its host who looks, without ever giving it the service's cookie. */
let world: World
let runner: RawRunner
beforeAll(async () => {
  world = await startWorld({ PAGES_URL: 'http://sites.test' })
  runner = await RawRunner.create(world, { tag_list: ['site'], run_untagged: false })
})
afterAll(() => world[Symbol.asyncDispose]())

const password = 'a-Password-of-9-words'

async function published(fields: Json): Promise<{ project: Made; url: string }> {
  const project = await world.project(fields)
  const config = 'pages: {script: x, tags: [site], artifacts: {paths: [public]}}\n'
  await pushFiles(world, project, { '.gitlab-ci.yml': config }, ['main'])
  await until(
    async () => (await runner.ask({ last_update: '' })).status,
    (status) => status === 201,
  )
  expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' }), 201)
  const job = await runner.take()
  const archive = await siteArchive({ 'public/index.html': 'secret', 'public/a/b.txt': 'deep' })
  await job.upload(archive, { artifact_type: 'archive', artifact_format: 'zip' })
  await job.end('success')
  await world.settled()
  return {
    project,
    url: expectStatus(await world.root.get(`/projects/${project.id}/pages`), 200)['url'] as string,
  }
}

/** The cookie of the service, of somebody with this role in the project. */
async function signIn(project?: Made, role = 'guest'): Promise<{ id: number; cookie: string }> {
  const { id, username } = await world.user({ password, force_random_password: undefined })
  if (project !== undefined) {
    const level = role === 'guest' ? 10 : 40
    expectStatus(
      await world.root.post(`/projects/${project.id}/members`, { user_id: id, access_level: level }),
      201,
    )
  }
  const reply = await fetch(`${world.url}/users/sign_in`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: world.url },
    body: new URLSearchParams({ login: username, password }),
    redirect: 'manual',
  })
  return { id, cookie: cookiesIn(reply.headers.getSetCookie()) }
}

const cookiesIn = (lines: readonly string[]): string => lines.map((line) => line.split(';')[0]!).join('; ')

/** Goes the way of a browser: to the site, to the service, and back with what each of them gave. */
async function enter(address: string, session: string): Promise<{ cookie: string; location: string }> {
  const sent = await visit(world, address)
  expect(sent.status).toBe(302)
  const state = cookiesIn(sent.headers['set-cookie']!)
  const back = await fetch(sent.headers.location!, { headers: { cookie: session }, redirect: 'manual' })
  expect(back.status, await back.text()).toBe(302)
  const taken = await visit(world, back.headers.get('location')!, { headers: { cookie: state } })
  expect(taken.status).toBe(302)
  return { cookie: cookiesIn(taken.headers['set-cookie']!), location: taken.headers.location! }
}

describe('a site for members', () => {
  let project: Made
  let url: string
  beforeAll(async () => {
    ;({ project, url } = await published({ visibility: 'private' }))
  })

  test('sends whoever is not signed in to the service, and a member back to where he was', async () => {
    const { cookie: session } = await signIn(project)
    const sent = await visit(world, `${url}/a/b.txt?q=1`)
    expect(sent.headers.location).toContain(`${world.url}/-/sites/enter?host=`)
    const anonymous = await fetch(sent.headers.location!, { redirect: 'manual' })
    expect(anonymous.headers.get('location')).toContain('/users/sign_in?return_to=%2F-%2Fsites%2Fenter')
    const { cookie, location } = await enter(`${url}/a/b.txt?q=1`, session)
    expect(location).toBe(`${url}/a/b.txt?q=1`)
    const shown = await visit(world, location, { headers: { cookie } })
    expect([shown.status, shown.text, shown.headers['cache-control']]).toEqual([
      200,
      'deep',
      'private, no-cache',
    ])
    expect(shown.headers['access-control-allow-origin']).toBeUndefined()
    // The cookie of the service is of no use there, nor is that of the site elsewhere.
    expect((await visit(world, `${url}/`, { headers: { cookie: session } })).status).toBe(302)
    const asService = await fetch(`${world.url}/api/v4/user`, { headers: { cookie } })
    expect(asService.status).toBe(401)
  })

  test('is not there for others who are signed in', async () => {
    const { cookie: session } = await signIn()
    const sent = await visit(world, `${url}/`)
    const back = await fetch(sent.headers.location!, { headers: { cookie: session }, redirect: 'manual' })
    expect(back.status).toBe(404)
  })

  test('ends with the membership, the account and the session', async () => {
    const member = await signIn(project)
    const { cookie } = await enter(`${url}/`, member.cookie)
    const look = async () => (await visit(world, `${url}/`, { headers: { cookie } })).status
    expect(await look()).toBe(200)
    expect((await world.root.delete(`/projects/${project.id}/members/${member.id}`)).status).toBe(204)
    expect(await look()).toBe(404)
    const other = await signIn(project)
    const entered = await enter(`${url}/`, other.cookie)
    expect((await visit(world, `${url}/`, { headers: { cookie: entered.cookie } })).status).toBe(200)
    expectStatus(await world.root.post(`/users/${other.id}/block`), 201)
    expect((await visit(world, `${url}/`, { headers: { cookie: entered.cookie } })).status).toBe(302)
  })

  test('a pass is for one browser and one host, and leads nowhere else', async () => {
    const other = await published({ visibility: 'private' })
    const { cookie: session } = await signIn(project)
    const sent = await visit(world, `${url}/`)
    const entrance = new URL(sent.headers.location!)
    const back = await fetch(entrance, { headers: { cookie: session }, redirect: 'manual' })
    const pass = back.headers.get('location')!
    expect((await visit(world, pass)).status).toBe(404)
    const state = cookiesIn(sent.headers['set-cookie']!)
    const elsewhere = pass.replace(new URL(url).host, new URL(other.url).host)
    expect((await visit(world, elsewhere, { headers: { cookie: state } })).status).toBe(404)
    const { cookie } = await enter(`${url}/`, session)
    expect((await visit(world, `${other.url}/`, { headers: { cookie } })).status).toBe(302)
    for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', '']) {
      entrance.searchParams.set('path', path)
      expect((await fetch(entrance, { headers: { cookie: session }, redirect: 'manual' })).status).toBe(404)
    }
    entrance.searchParams.set('path', '/')
    for (const host of ['evil.example', 'sites.test', 'group.sites.test', '', 'a b']) {
      entrance.searchParams.set('host', host)
      expect((await fetch(entrance, { headers: { cookie: session }, redirect: 'manual' })).status).toBe(404)
    }
  })

  test('is never where other sites of its group are', async () => {
    expectStatus(
      await world.root.patch(`/projects/${project.id}/pages`, { pages_unique_domain_enabled: false }),
      200,
    )
    const [root, name] = project.path_with_namespace.split('/') as [string, string]
    expect((await visit(world, `http://${root}.sites.test/${name}/`)).status).toBe(404)
    expect((await visit(world, `${url}/`)).status).toBe(302)
    const { body } = await world.root.get(`/projects/${project.id}/pages`)
    expect(body.url).toBe(url)
  })

  test.for([
    ['private project, open site', { pages_access_level: 'public' }, 200],
    ['site switched off', { pages_access_level: 'disabled' }, 404],
    ['for members again', { pages_access_level: 'private' }, 302],
  ] as const)('%s', async ([, fields, status]) => {
    expectStatus(await world.root.put(`/projects/${project.id}`, fields), 200)
    const [root, name] = project.path_with_namespace.split('/') as [string, string]
    const open = fields.pages_access_level === 'public'
    const at = open ? `http://${root}.sites.test/${name}/` : `${url}/`
    const { cookie } = await signIn(project)
    expect((await visit(world, at)).status).toBe(fields.pages_access_level === 'disabled' ? 302 : status)
    expect((await world.root.get(`/projects/${project.id}/pages`)).status).toBe(status === 404 ? 404 : 200)
    if (status !== 404) return
    const sent = await visit(world, at)
    expect((await fetch(sent.headers.location!, { headers: { cookie }, redirect: 'manual' })).status).toBe(
      404,
    )
  })
})

test('a site of an internal project is for all who are signed in', async () => {
  const { url } = await published({ visibility: 'internal', pages_access_level: 'enabled' })
  expect((await visit(world, `${url}/`)).status).toBe(302)
  const { cookie: session } = await signIn()
  const { cookie } = await enter(`${url}/`, session)
  expect((await visit(world, `${url}/`, { headers: { cookie } })).text).toBe('secret')
})
