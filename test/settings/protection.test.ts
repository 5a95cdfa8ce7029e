import { afterAll, beforeAll, expect, test } from 'vitest'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'
import { during } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

test('secret_push_protection_available: projects can keep tokens out of pushes, and only then', async () => {
  const project = await world.project()
  const maintainer = await world.member({ project }, 'maintainer')
  await pushFiles(world, project, { 'a.txt': 'a' })
  const settings = `/projects/${project.id}/security_settings`
  const on = { secret_push_protection_enabled: true }
  const secret = ['gl', 'pat-', 'x'.repeat(20)].join('')
  const write = (content: string, more: object = {}) =>
    maintainer.post(`/projects/${project.id}/repository/files/${world.unique('file')}`, {
      branch: 'main',
      content,
      commit_message: 'Add',
      ...more,
    })
  expect((await maintainer.put(settings, on)).status).toBe(403)
  await during(world, { secret_push_protection_available: true }, async () => {
    expectStatus(await write(secret), 201)
    expect((await maintainer.put(settings, on)).body).toEqual({ project_id: project.id, ...on })
    const refused = await write(`nothing\n${secret}`)
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringMatching(/Personal access token in file-\d+:2/),
    ])
    expectStatus(await write('nothing'), 201)
    expectStatus(await write(secret, { commit_message: 'Add [skip secret push protection]' }), 201)
    await expect(pushFiles(world, project, { 'b.txt': secret }, ['other'])).rejects.toThrow('PUSH BLOCKED')
  })
  expectStatus(await write(secret), 201)
  expect((await maintainer.get(settings)).body).toEqual({ project_id: project.id, ...on })
})

test('globally_allowed_ips: what is shown to some addresses only is shown to these, too', async () => {
  const group = await world.group({ visibility: 'public' })
  const project = await world.project({ namespace_id: group.id, visibility: 'public' })
  await pushFiles(world, project, { 'a.txt': 'a' })
  const [owner, developer] = [
    await world.member({ group }, 'owner'),
    await world.member({ group }, 'developer'),
  ]
  const restrict = (ip_restriction_ranges: string) =>
    owner.put(`/groups/${group.id}`, { ip_restriction_ranges })
  const statuses = async () => [
    (await developer.get(`/groups/${group.id}`)).status,
    (await developer.get(`/projects/${project.id}/repository/branches`)).status,
    (await world.anonymous.get(`/projects/${project.id}`)).status,
    (await fetch(`${world.url}/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`)).status,
  ]
  const wrong = await restrict('10.1.2.3/99')
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('invalid address: 10.1.2.3/99')])
  expect(await statuses()).toEqual([200, 200, 200, 200])
  expectStatus(await restrict('10.1.0.0/16, 2001:db8::/32'), 200)
  expect(await statuses()).toEqual([404, 404, 404, 404])
  expect((await owner.get(`/groups/${group.id}`)).status).toBe(200)
  expect((await owner.get(`/projects/${project.id}`)).status).toBe(404)
  await during(world, { globally_allowed_ips: '192.168.0.1,127.0.0.0/8' }, async () => {
    expect(await statuses()).toEqual([200, 200, 200, 200])
  })
  expect(await statuses()).toEqual([404, 404, 404, 404])
  expectStatus(await restrict('127.0.0.1'), 200)
  expect(await statuses()).toEqual([200, 200, 200, 200])
})

test('dns_rebinding_protection_enabled: an address that nobody can check beforehand is taken only without it', async () => {
  const project = await world.project()
  const save = () => world.root.post(`/projects/${project.id}/hooks`, { url: 'http://no-such-host.invalid/' })
  expect([(await save()).status, (await save()).body]).toEqual([422, { error: 'Invalid url given' }])
  await during(world, { dns_rebinding_protection_enabled: false }, async () => {
    expect((await save()).status).toBe(201)
  })
  expect((await save()).status).toBe(422)
})
