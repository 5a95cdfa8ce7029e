// @module-tag long
import { generateKeyPair, importSPKI, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RawRunner } from '../runner/raw-runner.ts'
import type { Person, Reply } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { Tracker } from '../world/tracker.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

const local = { allow_local_requests_from_web_hooks_and_services: true }
const app = '/-/jira_connect'

let world: World
let tracker: Tracker
let group: Made
let maintainer: Person
beforeAll(async () => {
  tracker = await Tracker.open()
  world = await startWorld({ TRACKER_KEYS_URL: `${tracker.url}/keys` })
  group = await world.group()
  maintainer = await world.member({ group }, 'maintainer')
  await set(world, local)
  expect(await tracker.lifecycle(world.url, 'installed')).toBe(200)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await tracker[Symbol.asyncDispose]()
})
beforeEach(() => {
  tracker.says = undefined
})

interface Answer {
  readonly status: number
  readonly text: string
  readonly body: Json
}

async function call(
  method: string,
  path: string,
  { jwt = '', body }: { jwt?: string; body?: Json } = {},
): Promise<Answer> {
  const answer = await fetch(world.url + app + path, {
    method,
    headers: { authorization: `JWT ${jwt}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const json = answer.headers.get('content-type')?.includes('json') === true
  return { status: answer.status, text, body: json ? (JSON.parse(text) as Json) : {} }
}

const subscribed = async (): Promise<Json[]> =>
  (await call('GET', '/subscriptions', { jwt: await tracker.token('admin') })).body['subscriptions'] as Json[]

const link = async (
  by: Person,
  namespace_path: string,
  account = 'admin',
  forged: object = {},
): Promise<Reply> =>
  by.post('/integrations/jira_connect/subscriptions', {
    namespace_path,
    jwt: await tracker.token(account, forged),
  })

test('the descriptor says where the app is and how it is installed', async () => {
  const { body } = await call('GET', '/app_descriptor.json')
  expect(body).toMatchObject({
    key: 'gitlab-jira-connect-127.0.0.1',
    baseUrl: `${world.url}${app}`,
    lifecycle: { installed: '/events/installed', uninstalled: '/events/uninstalled' },
    authentication: { type: 'jwt' },
    apiMigrations: { 'signed-install': true, 'context-qsh': true },
  })
})

test('tracker_connect_application_key: is told to the app', async () => {
  const at = () => call('GET', '/oauth_application_id')
  expect((await at()).status).toBe(404)
  await during(world, { tracker_connect_application_key: 'application' }, async () => {
    expect((await at()).body).toEqual({ application_id: 'application' })
  })
  expect((await at()).status).toBe(404)
})

describe('an installation', () => {
  test('is taken only as the cloud signs it', async () => {
    const other = (await generateKeyPair('RS256')).privateKey
    const now = Math.floor(Date.now() / 1000)
    const wrong = [
      { key: other },
      { kid: 'no-key' },
      { kid: '../a-key' },
      { forged: { iss: 'another' } },
      { forged: { aud: 'https://elsewhere.example/-/jira_connect' } },
      { forged: { qsh: 'context-qsh' } },
      { forged: { exp: now - 120 } },
      { forged: { exp: undefined } },
      { body: { clientKey: 'another' } },
      { body: { clientKey: 7 } },
    ]
    for (const one of wrong)
      expect([one, await tracker.lifecycle(world.url, 'installed', one)]).toEqual([one, 401])
    for (const body of [
      { baseUrl: 'ftp://x' },
      { baseUrl: [] },
      { sharedSecret: '' },
      { sharedSecret: 'a\0' },
    ])
      expect(await tracker.lifecycle(world.url, 'installed', { body })).toBe(422)
    for (const path of ['/events/installed', '/events/uninstalled'])
      for (const jwt of ['', 'x', 'a.b.c', await tracker.token('admin')])
        expect((await call('POST', path, { jwt, body: { clientKey: 'client-key' } })).status).toBe(401)
    await during(world, { allow_local_requests_from_web_hooks_and_services: false }, async () => {
      expect(await tracker.lifecycle(world.url, 'installed')).toBe(401)
    })
    expect(await tracker.lifecycle(world.url, 'installed')).toBe(200)
  })

  test('tracker_connect_additional_audience_url: may be for another address as well', async () => {
    const install = () =>
      tracker.lifecycle(world.url, 'installed', {
        forged: { aud: 'https://outside.example/-/jira_connect' },
      })
    expect(await install()).toBe(401)
    await during(world, { tracker_connect_additional_audience_url: 'https://outside.example' }, async () => {
      expect(await install()).toBe(200)
      expect(await tracker.lifecycle(world.url, 'installed')).toBe(200)
    })
    expect(await install()).toBe(401)
  })

  test('tracker_connect_proxy_url: is believed by the keys of the proxy', async () => {
    await using proxy = await Tracker.open()
    const install = () => proxy.lifecycle(world.url, 'installed', { body: { baseUrl: tracker.url } })
    expect(await install()).toBe(401)
    await during(world, { tracker_connect_proxy_url: proxy.url }, async () => {
      expect(await install()).toBe(200)
      expect(proxy.asked.map(({ path }) => path)).toEqual([`${app}/public_keys/a-key`])
      expect(await tracker.lifecycle(world.url, 'installed')).toBe(401)
    })
    expect(await install()).toBe(401)
  })

  test('tracker_connect_public_key_storage_enabled: is passed on to another instance, which fetches the key here', async () => {
    await using other = await Tracker.open()
    const choose = async (instance_url: string | null, account = 'admin') =>
      (
        await call('PUT', '/installations', {
          body: { jwt: await tracker.token(account), installation: { instance_url } },
        })
      ).status
    await during(world, { tracker_connect_public_key_storage_enabled: true }, async () => {
      expect(await choose(other.url, 'person')).toBe(403)
      for (const wrong of ['ftp://x', 'x', ' ']) expect(await choose(wrong)).toBe(422)
      // It answers 404 to what it does not know.
      expect(await choose(other.url)).toBe(422)
      const { authorization, body, path } = other.asked.at(-1)!
      expect(path).toBe(`${app}/events/installed`)
      expect(body).toMatchObject({
        clientKey: 'client-key',
        baseUrl: tracker.url,
        sharedSecret: tracker.secret,
      })
      const token = authorization.replace('JWT ', '')
      const { kid } = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }
      const key = await call('GET', `/public_keys/${kid}`)
      expect(key.status).toBe(200)
      const { payload } = await jwtVerify(token, await importSPKI(key.text, 'RS256'), {
        audience: other.url + app,
        issuer: 'client-key',
      })
      expect(payload).toHaveProperty('qsh')
      for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
        expect((await call('GET', `/public_keys/${id}`)).status).toBe(404)
      await set(world, { tracker_connect_public_key_storage_enabled: false })
      expect((await call('GET', `/public_keys/${kid}`)).status).toBe(404)
    })
    const before = other.asked.length
    expect(await choose(other.url)).toBe(200)
    expect(other.asked).toHaveLength(before)
    expect(await choose(null)).toBe(200)
  })
})

describe('a group', () => {
  test('is linked by who maintains it and administers the tracker', async () => {
    const path = group.full_path
    const developer = await world.member({ group }, 'developer')
    expect((await link(developer, path)).status).toBe(403)
    expect((await link(await world.user(), path)).status).toBe(404)
    expect((await link(maintainer, path, 'person')).status).toBe(403)
    expect((await link(maintainer, path, 'nobody')).status).toBe(403)
    expect((await link(maintainer, 'no/where')).status).toBe(404)
    expect((await link(maintainer, maintainer.username)).status).toBe(404)
    for (const forged of [
      { by: 'another secret' },
      { forged: { iss: 'nobody' } },
      { forged: { iss: 7 } },
      { forged: { qsh: 'x' } },
      { forged: { exp: 1 } },
    ])
      expect((await link(maintainer, path, 'admin', forged)).status).toBe(401)
    for (const answer of [
      { status: 500, text: '' },
      { status: 200, text: '[' },
      { status: 200, text: '{"groups":{"items":[null,1]}}' },
      { status: 200, text: 'x'.repeat(1_000_000) },
    ]) {
      tracker.says = answer
      expect((await link(maintainer, path)).status).toBe(403)
    }
    tracker.says = undefined
    expect(await subscribed()).toEqual([])
    expect(await link(maintainer, path)).toMatchObject({ status: 201, body: { success: true } })
    expect((await link(maintainer, path)).status).toBe(201)
    const [one, ...more] = await subscribed()
    expect([one!['group'], more]).toMatchObject([{ full_name: path }, []])
    const unlink = async (account: string, at: string) =>
      (await call('DELETE', at.replace(app, ''), { jwt: await tracker.token(account) })).status
    const at = one!['unlink_path'] as string
    expect(await unlink('person', at)).toBe(403)
    expect(await unlink('admin', `${at}0`)).toBe(404)
    expect(await unlink('admin', '/subscriptions/x')).toBe(404)
    expect(await unlink('admin', at)).toBe(200)
    expect(await subscribed()).toEqual([])
    for (const jwt of ['', 'x']) expect((await call('GET', '/subscriptions', { jwt })).status).toBe(401)
    const body = { jwt: await tracker.token('admin'), namespace_path: path }
    expect((await call('POST', '/subscriptions', { body })).status).toBe(401)
  })

  test('tells of what names issues of the tracker', async () => {
    expectStatus(await link(maintainer, group.full_path), 201)
    const project = await world.project({ namespace_id: (await world.group({ parent_id: group.id })).id })
    const told = (path: string) => tracker.at(path)
    const config = 'go: { script: [echo], environment: { name: live, deployment_tier: production } }'
    await pushFiles(world, project, { '.gitlab-ci.yml': config })
    await world.settled()
    expect(told('/rest/devinfo/0.10/bulk')).toEqual([])

    const at = `/projects/${project.id}`
    const commit = {
      branch: 'ABC-7-fix',
      start_branch: 'main',
      commit_message: 'Mend it\n\nFor ABC-8',
      actions: [{ action: 'create', file_path: 'b', content: 'x' }],
    }
    expectStatus(await world.root.post(`${at}/repository/commits`, commit), 201)
    await world.settled()
    const [pushed] = told('/rest/devinfo/0.10/bulk')
    expect(pushed!['repositories']).toMatchObject([
      {
        id: String(project.id),
        name: project.path_with_namespace,
        commits: [{ fileCount: 1, issueKeys: ['ABC-8'], message: 'Mend it\n\nFor ABC-8' }],
        branches: [{ name: 'ABC-7-fix', issueKeys: ['ABC-7'], lastCommit: { issueKeys: ['ABC-7'] } }],
      },
    ])
    const request = { source_branch: 'ABC-7-fix', target_branch: 'main', title: 'Mend ABC-9' }
    expectStatus(await world.root.post(`${at}/merge_requests`, request), 201)
    const runner = await RawRunner.forProject(world, project)
    for (const _ of [1, 2]) await (await runner.take()).end('success')
    await world.settled()
    const requests = told('/rest/devinfo/0.10/bulk').flatMap(
      ({ repositories: [one] }) => (one.pullRequests ?? []) as Json[],
    )
    expect(requests.at(-1)).toMatchObject({
      displayId: '!1',
      status: 'OPEN',
      issueKeys: ['ABC-9', 'ABC-7'],
      sourceBranch: 'ABC-7-fix',
    })
    const builds = told('/rest/builds/0.1/bulk').flatMap(({ builds: some }) => some as Json[])
    expect(builds.find(({ state }) => state === 'successful')).toMatchObject({
      issueKeys: ['ABC-7', 'ABC-8'],
    })
    const deployed = told('/rest/deployments/0.1/bulk').flatMap(({ deployments: some }) => some as Json[])
    expect(deployed.find(({ state }) => state === 'successful')).toMatchObject({
      associations: [{ associationType: 'issueKeys', values: ['ABC-7'] }],
      environment: { displayName: 'live', type: 'production' },
    })

    // What it answers is nobody's failure; in silent mode it is not told at all.
    tracker.says = { status: 500, text: '' }
    const title = { title: 'Still ABC-9' }
    expectStatus(await world.root.put(`${at}/merge_requests/1`, title), 200)
    await world.settled()
    const before = tracker.asked.length
    await during(world, { silent_mode_enabled: true }, async () => {
      expectStatus(await world.root.put(`${at}/merge_requests/1`, { title: 'Yet ABC-9' }), 200)
      await world.settled()
    })
    tracker.says = undefined
    expect(await tracker.lifecycle(world.url, 'uninstalled')).toBe(200)
    expect(await tracker.lifecycle(world.url, 'uninstalled')).toBe(422)
    expectStatus(await world.root.put(`${at}/merge_requests/1`, { title: 'ABC-9 again' }), 200)
    await world.settled()
    expect(tracker.asked.slice(before).filter(({ path }) => path.startsWith('/rest'))).toEqual([])
  })
})
