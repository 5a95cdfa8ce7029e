// @module-tag long
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { during } from '../settings/effects.ts'
import { pushFiles } from '../world/push.ts'
import { siteArchive, visit, visitRaw } from '../world/site.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let runner: RawRunner
beforeAll(async () => {
  world = await startWorld({ PAGES_URL: 'http://sites.test' })
  runner = await RawRunner.create(world, { tag_list: ['site'], run_untagged: false })
})
afterAll(() => world[Symbol.asyncDispose]())

const configuration = 'pages: {script: x, tags: [site], artifacts: {paths: [public]}}\n'

interface Publishing {
  readonly config?: string
  readonly ref?: string
  /** What else the project has to be like. */
  readonly fields?: Json
}

async function siteProject({ config = configuration, fields = {} }: Publishing = {}): Promise<Made> {
  const project = await world.project({ visibility: 'public', pages_access_level: 'enabled', ...fields })
  await pushFiles(world, project, { '.gitlab-ci.yml': config }, ['main'])
  await takeJob()
  return project
}

const takeJob = () =>
  until(
    async () => (await runner.ask({ last_update: '' })).status,
    (status) => status === 201,
  )

/** Runs a pipeline whose job leaves this archive; answers the statuses that it shows in the end. */
async function publish(project: Made, archive: Uint8Array<ArrayBuffer>, ref = 'main'): Promise<Json[]> {
  const made = expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref }), 201)
  const job = await runner.take()
  expect((await job.upload(archive, { artifact_type: 'archive', artifact_format: 'zip' })).status).toBe(201)
  await job.end('success')
  await world.settled()
  const path = `/projects/${project.id}/repository/commits/${made['sha'] as string}/statuses`
  const { body } = await world.root.get(`${path}?pipeline_id=${made['id'] as number}`)
  return (body as Json[]).filter(({ name }) => name === 'pages:deploy')
}

const siteOf = async (project: Made): Promise<Json> =>
  expectStatus(await world.root.get(`/projects/${project.id}/pages`), 200)

const small = (text: string) => siteArchive({ 'public/index.html': text })

describe('a site', () => {
  let project: Made
  let url: string
  const large = Buffer.alloc(300_000, 'abcdefghij')
  beforeAll(async () => {
    project = await siteProject()
    const archive = await siteArchive(
      {
        'public/index.html': '<h1>home</h1>',
        'public/404.html': 'nothing here',
        'public/about.html': 'about',
        'public/docs/index.html': 'docs',
        'public/style.css': 'body {}',
        'public/app.mjs': 'export {}',
        'public/large.bin': large,
        'public/empty.txt': '',
        'public/with space/ä.txt': 'umlaut',
        'secret.txt': 'not of the site',
      },
      { 'public/passwd': '/etc/passwd', 'public/out': '../secret.txt' },
    )
    const statuses = await publish(project, archive)
    expect(statuses.map(({ status }) => status as string)).toEqual(['success'])
    url = (await siteOf(project))['url'] as string
    expect(statuses[0]!['target_url']).toBe(url)
  })

  test('has a name of its own, which a project with a unique domain is told of', async () => {
    expect(url).toMatch(/^http:\/\/project-\d+-\d+-[0-9a-f]{20}\.sites\.test$/)
    expect(await siteOf(project)).toMatchObject({
      is_unique_domain_enabled: true,
      force_https: false,
      deployments: [{ path_prefix: '', root_directory: 'public', url: `${url}/` }],
    })
  })

  test.for([
    ['/', 200, 'text/html; charset=utf-8', '<h1>home</h1>'],
    ['/index.html', 200, 'text/html; charset=utf-8', '<h1>home</h1>'],
    ['/about', 200, 'text/html; charset=utf-8', 'about'],
    ['/docs/', 200, 'text/html; charset=utf-8', 'docs'],
    ['/style.css', 200, 'text/css; charset=utf-8', 'body {}'],
    ['/app.mjs', 200, 'text/javascript; charset=utf-8', 'export {}'],
    ['/empty.txt', 200, 'text/plain; charset=utf-8', ''],
    ['/with%20space/%C3%A4.txt', 200, 'text/plain; charset=utf-8', 'umlaut'],
    ['/nowhere', 404, 'text/html; charset=utf-8', 'nothing here'],
    // Links are no files, and nothing leads out of the folder.
    ['/passwd', 404, 'text/html; charset=utf-8', 'nothing here'],
    ['/out', 404, 'text/html; charset=utf-8', 'nothing here'],
    ['/../secret.txt', 404, 'text/html; charset=utf-8', 'nothing here'],
    ['/%2e%2e/secret.txt', 404, 'text/html; charset=utf-8', 'nothing here'],
    ['/..%2f..%2fsecret.txt', 404, 'text/html; charset=utf-8', 'nothing here'],
    ['//etc/passwd', 404, 'text/html; charset=utf-8', 'nothing here'],
  ] as const)('%s', async ([at, status, type, text]) => {
    const reply = await visitRaw(world, new URL(url).host, at)
    expect([reply.status, reply.headers['content-type'], reply.text]).toEqual([status, type, text])
  })

  test.for(['/%00', '/%', '/%ff', `/${'a'.repeat(5000)}`])('%s is no address', async (at) => {
    expect([400, 404]).toContain((await visitRaw(world, new URL(url).host, at)).status)
  })

  test('a folder without its slash is sent on, never to another host', async () => {
    const reply = await visit(world, `${url}/docs?x=1`)
    expect([reply.status, reply.headers.location]).toEqual([302, `${url}/docs/?x=1`])
  })

  test('is served in parts, and not again to who has it', async () => {
    const part = await visit(world, `${url}/large.bin`, { headers: { range: 'bytes=299995-' } })
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      'fghij',
      'bytes 299995-299999/300000',
    ])
    const { etag } = part.headers
    const whole = await visit(world, `${url}/large.bin`, {
      headers: { range: 'bytes=0-4', 'if-range': '"another"' },
    })
    expect([whole.status, whole.text.length]).toEqual([200, 300_000])
    const same = await visit(world, `${url}/large.bin`, { headers: { 'if-none-match': etag! } })
    expect([same.status, same.text]).toEqual([304, ''])
    const head = await visit(world, `${url}/large.bin`, { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '300000'])
    const behind = await visit(world, `${url}/large.bin`, { headers: { range: 'bytes=300000-' } })
    expect(behind.status).toBe(416)
  })

  test('is only read, and nothing of the service is on its host', async () => {
    expect((await visit(world, `${url}/`, { method: 'POST' })).status).toBe(405)
    expect((await visit(world, `${url}/api/v4/version`)).text).toBe('nothing here')
    expect((await visit(world, `${url}/users/sign_in`)).text).toBe('nothing here')
    expect((await visit(world, 'http://sites.test/api/v4/version')).status).toBe(404)
    expect((await visit(world, 'http://nobody.sites.test/users/sign_in')).status).toBe(404)
    // The name of the service itself is no site's.
    expect((await world.root.get('/version')).status).toBe(200)
  })

  test('a name that was made up leads to no site', async () => {
    const wrong = url.replace(/[0-9a-f]{20}/, '0'.repeat(20))
    expect((await visit(world, `${wrong}/`)).status).toBe(404)
  })

  test('shared names send on to the own one', async () => {
    const [root, name] = project.path_with_namespace.split('/') as [string, string]
    const reply = await visit(world, `http://${root}.sites.test/${name}/docs/?x`)
    expect([reply.status, reply.headers.location]).toEqual([302, `${url}/docs/?x`])
    const odd = await visit(world, `http://${root}.sites.test/${name}/a%3Fb%23c`)
    expect(odd.headers.location).toBe(`${url}/a%3Fb%23c`)
  })
})

test('a later job takes the place of the site at once, an older one never does; what was there is removed', async () => {
  const project = await siteProject()
  const folder = path.join(world.directory, 'sites')
  const kept = async () =>
    (await readdir(folder, { recursive: true })).filter((name) => /[0-9a-f]{64}$/.test(name)).length
  await publish(project, await small('first'))
  const url = (await siteOf(project))['url'] as string
  const before = await kept()
  const older = expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' }), 201)
  const late = await runner.take()
  await publish(project, await small('second'))
  expect((await visit(world, `${url}/`)).text).toBe('second')
  expect(await kept()).toBe(before)
  await late.upload(await small('late'), { artifact_type: 'archive', artifact_format: 'zip' })
  await late.end('success')
  await world.settled()
  expect((await visit(world, `${url}/`)).text).toBe('second')
  const shown = await world.root.get(`/projects/${project.id}/pipelines/${older['id'] as number}`)
  expect(shown.body.status).toBe('failed')
  expect(await kept()).toBe(before)

  expect((await world.root.delete(`/projects/${project.id}/pages`)).status).toBe(204)
  await world.settled()
  expect((await visit(world, `${url}/`)).status).toBe(404)
  expect(await kept()).toBe(before - 1)
  await publish(project, await small('again'))
  expect((await visit(world, `${url}/`)).text).toBe('again')
  await world.end({ project })
  await world.settled()
  expect((await visit(world, `${url}/`)).status).toBe(404)
  expect(await kept()).toBe(before - 1)
})

describe('what is not published', () => {
  test('a folder that is not there, no archive, or a folder outside', async () => {
    const project = await siteProject()
    const nothing = await publish(project, await siteArchive({ 'private/index.html': 'x' }))
    expect(nothing).toMatchObject([
      { status: 'failed', description: 'there are no files in the folder public' },
    ])
    const broken = await publish(project, new Uint8Array(Buffer.from('no zip')))
    expect(broken).toMatchObject([
      { status: 'failed', description: 'the archive of the artifacts cannot be read' },
    ])
    expect((await siteOf(project))['deployments']).toEqual([])
    const outside = await siteProject({
      config: 'site: {script: x, tags: [site], pages: {publish: ../x}, artifacts: {paths: [x]}}\n',
    })
    expect(await publish(outside, await small('x'))).toMatchObject([
      { status: 'failed', description: '../x is no folder to publish' },
    ])
  })

  test('what is larger than max_pages_size, counted as it is unpacked', async () => {
    const project = await siteProject()
    const bomb = await siteArchive({ 'public/index.html': Buffer.alloc(1024 * 1024 + 1) })
    expect(bomb.length).toBeLessThan(10_000)
    await during(world, { max_pages_size: 1 }, async () => {
      expect(await publish(project, bomb)).toMatchObject([
        { status: 'failed', description: 'the site is larger than 1048576 bytes' },
      ])
      expect((await siteOf(project))['deployments']).toEqual([])
    })
    await during(world, { max_pages_size: 0 }, async () => {
      expect(await publish(project, bomb)).toMatchObject([{ status: 'success' }])
    })
  })
})

test('publish, path_prefix and expire_in, with the variables of the job', async () => {
  const project = await siteProject({
    config: [
      'variables: {WHERE: dist, KEPT: never}',
      'site:',
      '  script: x',
      '  tags: [site]',
      '  pages: {publish: $WHERE/html, path_prefix: $CI_COMMIT_BRANCH, expire_in: $KEPT}',
      '  rules: [{if: $CI_COMMIT_BRANCH != "main"}]',
      'pages: {script: x, tags: [site], rules: [{if: $CI_COMMIT_BRANCH == "main"}], artifacts: {paths: [public]}}',
      '',
    ].join('\n'),
  })
  await publish(
    project,
    await siteArchive({ 'public/index.html': 'main', 'public/feature/x.txt': 'of main' }),
  )
  const branch = { branch: 'Feature/X', ref: 'main' }
  expectStatus(await world.root.post(`/projects/${project.id}/repository/branches`, branch), 201)
  await takeJob()
  await publish(project, await siteArchive({ 'dist/html/index.html': 'of a branch' }), 'Feature/X')
  const { url, deployments } = await siteOf(project)
  expect(deployments).toMatchObject([
    { path_prefix: '', root_directory: 'public' },
    { path_prefix: 'feature-x', root_directory: 'dist/html', url: `${url as string}/feature-x` },
  ])
  expect((await visit(world, `${url as string}/`)).text).toBe('main')
  expect((await visit(world, `${url as string}/feature-x/`)).text).toBe('of a branch')
  expect((await visit(world, `${url as string}/feature/x.txt`)).text).toBe('of main')
})

test('pages_unique_domain_default_enabled: where new sites are, and stay', async () => {
  await during(world, { pages_unique_domain_default_enabled: false }, async () => {
    const project = await siteProject()
    await publish(project, await small('shared'))
    const [root, name] = project.path_with_namespace.split('/') as [string, string]
    const { url } = await siteOf(project)
    expect(url).toBe(`http://${root}.sites.test/${name}`)
    expect((await visit(world, `${url as string}/`)).text).toBe('shared')
    const bare = await visit(world, url as string)
    expect([bare.status, bare.headers.location]).toEqual([302, `${url as string}/`])
    // What is decided stays so.
    await during(world, { pages_unique_domain_default_enabled: true }, async () => {
      expect((await siteOf(project))['url']).toBe(url)
      const later = await siteProject()
      await publish(later, await small('own'))
      expect((await siteOf(later))['is_unique_domain_enabled']).toBe(true)
    })
    const changed = await world.root.patch(`/projects/${project.id}/pages`, {
      pages_unique_domain_enabled: true,
    })
    expect(expectStatus(changed, 200)).toMatchObject({ is_unique_domain_enabled: true, force_https: false })
    expect((await visit(world, `${url as string}/`)).status).toBe(302)
    // A project named like the host of its group is there without a path.
    const home = await world.project({
      name: `${root}.sites.test`,
      path: `${root}.sites.test`,
      namespace_id: project['namespace'].id as number,
      visibility: 'public',
      pages_access_level: 'public',
    })
    await pushFiles(world, home, { '.gitlab-ci.yml': configuration }, ['main'])
    await takeJob()
    await publish(home, await small('home of the group'))
    expect((await siteOf(home))['url']).toBe(`http://${root}.sites.test`)
    expect((await visit(world, `http://${root}.sites.test/`)).text).toBe('home of the group')
  })
})

test('a job that publishes below a prefix is told where; a time that is none is told to people', async () => {
  const project = await siteProject({
    config: [
      'site:',
      '  script: x',
      '  tags: [site]',
      '  variables: {KEPT: soon}',
      '  pages: {path_prefix: "Docs/v1.2", expire_in: $KEPT}',
      '',
    ].join('\n'),
  })
  const [status] = await publish(project, await small('of a version'))
  expect(status).toMatchObject({ status: 'failed', description: 'soon is no time after which a site goes' })
  const { url } = await siteOf(project)
  expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' }), 201)
  const job = await runner.take()
  expect(job.variable('CI_PAGES_URL')).toBe(`${url as string}/docs-v1.2`)
  await job.end('failed')
})

test('jobs are told where the site is', async () => {
  const project = await siteProject()
  const { url } = await siteOf(project)
  expectStatus(await world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' }), 201)
  const job = await runner.take()
  expect(['CI_PAGES_DOMAIN', 'CI_PAGES_HOSTNAME', 'CI_PAGES_URL'].map((key) => job.variable(key))).toEqual([
    'sites.test',
    new URL(url as string).hostname,
    url,
  ])
  await job.end('failed')
})
