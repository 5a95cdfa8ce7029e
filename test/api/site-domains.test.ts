import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainProofs } from '../../src/areas/sites/domain-proofs.ts'
import { until } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { during } from '../settings/effects.ts'
import { startNameServer, type NameServer } from '../world/name-server.ts'
import { pushFiles } from '../world/push.ts'
import { siteArchive, visit } from '../world/site.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** Domains that projects have their site at, once the domain's own records say so. */
let names: NameServer
let world: World
let project: Made
let path: string
beforeAll(async () => {
  names = await startNameServer()
  world = await startWorld({ PAGES_URL: 'http://sites.test', PAGES_RESOLVERS: names.address })
  project = await world.project({ visibility: 'public', pages_access_level: 'enabled' })
  path = `/projects/${project.id}/pages/domains`
  const runner = await RawRunner.create(world, { tag_list: ['site'], run_untagged: false })
  const config = 'pages: {script: x, tags: [site], artifacts: {paths: [public]}}\n'
  await pushFiles(world, project, { '.gitlab-ci.yml': config }, ['main'])
  await until(
    async () => (await runner.ask({ last_update: '' })).status,
    (status) => status === 201,
  )
  expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' }), 201)
  const job = await runner.take()
  const archive = await siteArchive({ 'public/index.html': 'at home' })
  await job.upload(archive, { artifact_type: 'archive', artifact_format: 'zip' })
  await job.end('success')
  await world.settled()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await names[Symbol.asyncDispose]()
})

const create = async (domain: string): Promise<Json> =>
  expectStatus(await world.root.post(path, { domain }), 201)
const verify = (domain: string) => world.root.put(`${path}/${domain}/verify`)
/** What a browser gets there: the site, or what the service says to names it does not know. */
const look = async (domain: string): Promise<string> => (await visit(world, `http://${domain}/`)).text

test('a domain is served once one of its records has the code', async () => {
  const made = await create('WWW.One.example')
  expect(made).toMatchObject({
    domain: 'www.one.example',
    url: 'http://www.one.example',
    verified: false,
    verification_code: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    enabled_until: null,
    auto_ssl_enabled: false,
  })
  const code = made['verification_code'] as string
  await world.settled()
  const refused = await verify('www.one.example')
  expect([refused.status, refused.body]).toEqual([422, { message: "Couldn't verify www.one.example" }])
  expect(await look('www.one.example')).not.toBe('at home')

  names.texts.set('www.one.example', ['of something else', `gitlab-pages-verification-code=${code}x`])
  expect((await verify('www.one.example')).status).toBe(422)
  names.texts.set('www.one.example', ['of something else', `v=1 gitlab-pages-verification-code=${code}`])
  const proven = expectStatus(await verify('www.one.example'), 200)
  expect(proven).toMatchObject({ verified: true, enabled_until: expect.any(String) as string })
  expect(await look('www.one.example')).toBe('at home')
  expect(await look('WWW.ONE.EXAMPLE')).toBe('at home')

  // Below the domain, for those that are another name of something.
  const other = await create('two.example')
  names.texts.set('_gitlab-pages-verification-code.two.example', [other['verification_code'] as string])
  expectStatus(await verify('two.example'), 200)
  expect(await look('two.example')).toBe('at home')
})

test('a proof that has gone is missed when its days are over', async () => {
  const made = await create('three.example')
  names.texts.set('three.example', [made['verification_code'] as string])
  expectStatus(await verify('three.example'), 200)
  names.texts.delete('three.example')
  expect((await verify('three.example')).status).toBe(422)
  expect(await look('three.example')).toBe('at home')
  const { services } = world.service
  const end = (when: string) =>
    sql`update site_domains set enabled_until = now() + ${when}::interval where domain = 'three.example'`.execute(
      services.db.writer,
    )
  await end('-1 second')
  expect(await look('three.example')).not.toBe('at home')
  await new DomainProofs(services).verifyDue()
  const gone = expectStatus(await world.root.get(`${path}/three.example`), 200)
  expect(gone).toMatchObject({ verified: false, enabled_until: null })
  // And is found again before that by itself.
  names.texts.set('three.example', [made['verification_code'] as string])
  expectStatus(await verify('three.example'), 200)
  await end('1 hour')
  await new DomainProofs(services).verifyDue()
  const again = expectStatus(await world.root.get(`${path}/three.example`), 200)
  expect(Date.parse(again['enabled_until'] as string)).toBeGreaterThan(Date.now() + 6 * 24 * 3600_000)
})

test('pages_domain_verification_enabled: without it every domain is served', async () => {
  await create('four.example')
  // Looked for while it need not be there, the proof would count as found, for its days.
  await world.settled()
  expect(await look('four.example')).not.toBe('at home')
  await during(world, { pages_domain_verification_enabled: false }, async () => {
    expect(await look('four.example')).toBe('at home')
  })
  expect(await look('four.example')).not.toBe('at home')
})

test('lists, one, and taking it away', async () => {
  await create('five.example')
  const listed = (await world.root.get(`${path}?per_page=100`)).body as Json[]
  expect(listed.map(({ domain }) => domain as string)).toContain('five.example')
  expect(listed.every((one) => !('project_id' in one))).toBe(true)
  const all = (await world.root.get('/pages/domains?domain=FIVE.example')).body as Json[]
  expect(all).toMatchObject([{ domain: 'five.example', project_id: project.id }])
  expect((await world.root.get('/pages/domains?domain=nowhere.example')).status).toBe(404)
  expect((await world.root.delete(`${path}/five.example`)).status).toBe(204)
  const missing = await world.root.get(`${path}/five.example`)
  expect([missing.status, missing.body]).toEqual([404, { message: '404 PagesDomain Not Found' }])
})

test('refused are names that are none, are taken, or are the service', async () => {
  await create('six.example')
  const taken = await world.root.post(path, { domain: 'SIX.example' })
  expect([taken.status, taken.body]).toEqual([400, { message: { domain: ['has already been taken'] } }])
  const below = await world.root.post(path, { domain: 'x.sites.test' })
  expect(below.body).toEqual({ message: { domain: ['*.sites.test is restricted'] } })
  const none = [
    'localhost',
    '127.0.0.1',
    '::1',
    'a b.example',
    '-a.example',
    'a..example',
    `${'a'.repeat(64)}.example`,
  ]
  for (const domain of [...none, 'x.example/', 'x.example:80', `${'a.'.repeat(130)}example`]) {
    const { status, body } = await world.root.post(path, { domain })
    expect([domain, status, body]).toEqual([domain, 400, { message: { domain: ['is invalid'] } }])
  }
  expect((await world.root.post(path, { domain: '' })).status).toBe(400)
  const sealed = await world.root.put(`${path}/six.example`, { certificate: 'x', auto_ssl_enabled: true })
  expect([sealed.status, sealed.body]).toEqual([
    400,
    {
      message: {
        certificate: ['is kept by the proxy in front of the service'],
        auto_ssl_enabled: ['is not available'],
      },
    },
  ])
  expectStatus(await world.root.put(`${path}/six.example`, { certificate: '', key: '' }), 200)
})

test('the name of the service itself is nobody else’s', async () => {
  await using other = await startWorld({
    ROLES: 'web',
    EXTERNAL_URL: 'http://guild.example',
    PAGES_URL: 'http://sites.test',
  })
  const mine = await other.project()
  const { status } = await other.root.post(`/projects/${mine.id}/pages/domains`, { domain: 'guild.example' })
  expect(status).toBe(400)
})
