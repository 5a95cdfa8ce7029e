// @module-tag long
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statementChannel, type SentStatement } from '../../src/kernel/log/index.ts'
import { CiProjects, configFile, until, type CiProject } from '../runner/ci-project.ts'
import { during, set } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
let pages: Server
let site: string
const files: Record<string, string> = {
  '/jobs.yml': 'remote: {script: [x]}\n',
  '/nested.yml': 'include: /inner.yml\nremote: {script: [x]}\n',
  '/long.yml': `#${'x'.repeat(3_000_000)}`,
}
/** Paths of the site, as they were asked for. */
const asked: string[] = []
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
  pages = createServer(({ url = '' }, reply) => {
    asked.push(url)
    return url in files ? reply.end(files[url]) : reply.writeHead(404).end()
  })
  await new Promise<void>((done) => pages.listen(0, '127.0.0.1', done))
  site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  pages.close()
})

const create = (ci: CiProject, by: Person = world.root, body: Json = {}): Promise<Reply> =>
  by.post(`/projects/${ci.id}/pipeline`, { ref: 'main', ...body })
const base = (reply: Reply): unknown => (reply.status === 400 ? reply.body.message.base[0] : reply.status)
async function jobsOf(ci: CiProject, pipeline: Json): Promise<string[]> {
  const reply = await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}/jobs?per_page=100`)
  return (reply.body as Json[]).map(({ name }) => name as string).sort()
}

describe('includes', () => {
  test('of an address, when the instance lets it be asked', async () => {
    const ci = await projects.make(`include: ${site}/jobs.yml\n`)
    expect(base(await create(ci))).toBe(
      'Remote file could not be fetched because the URL is blocked: Requests to localhost are not allowed!',
    )
    const host = new URL(site).host
    await set(world, { outbound_local_requests_allowlist_raw: host })
    expect(await jobsOf(ci, expectStatus(await create(ci), 201))).toEqual(['remote'])

    const wrong = async (config: string) => base(await create(await projects.make(config)))
    expect(await wrong(`include: ${site}/none.yml\n`)).toBe(
      `Remote file \`${site}/none.yml\` could not be fetched after 1 attempts because of HTTP code \`404\` error!`,
    )
    expect(await wrong(`include: ${site}/nested.yml\n`)).toBe('Local file `inner.yml` does not have project!')
    expect(await wrong(`include: ${site}/long.yml\n`)).toMatch(/long\.yml` does not have valid YAML syntax!$/)
    expect(await wrong(`include: {remote: '${site}/jobs.yml', integrity: sha256-AAAA}\n`)).toBe(
      `Remote file \`${site}/jobs.yml\` failed integrity check!`,
    )
    await set(world, { outbound_local_requests_whitelist: [] })
    expect(base(await create(ci))).toContain('Requests to localhost are not allowed!')
    await set(world, { outbound_local_requests_whitelist: [host] })
    expect((await create(ci)).status).toBe(201)
  })

  test('of an address are asked for once where they may be kept', async () => {
    await set(world, { outbound_local_requests_whitelist: [new URL(site).host] })
    const count = (): number => asked.filter((url) => url === '/kept.yml').length
    files['/kept.yml'] = 'kept: {script: [x]}\n'
    const kept = await projects.make(`include: {remote: '${site}/kept.yml', cache: '10 minutes'}\n`)
    for (const _ of [1, 2]) expectStatus(await create(kept), 201)
    expect(count()).toBe(1)
    const anew = await projects.make(`include: {remote: '${site}/kept.yml'}\n`)
    for (const _ of [1, 2]) expectStatus(await create(anew), 201)
    expect(count()).toBe(3)
  })

  test('of a project, by the rights of whoever the pipeline is of', async () => {
    const other = await projects.make({ shared: { script: ['x'] } })
    const path = other.project['path_with_namespace'] as string
    const ci = await projects.make({ include: { project: path, file: configFile } })
    const maintainer = await world.member(ci, 'maintainer')
    expect(base(await create(ci, maintainer))).toMatch(/^Project `.*` not found or access denied!/)
    const role = { user_id: maintainer.id, access_level: 20 }
    expectStatus(await world.root.post(`/projects/${other.id}/members`, role), 201)
    expect(await jobsOf(ci, expectStatus(await create(ci, maintainer), 201))).toEqual(['shared'])
  })

  test('of components, by the version that a tag gives them', async () => {
    const other = await projects.make({ x: { script: ['x'] } })
    const template = (name: string) =>
      `spec: {inputs: {stage: {default: test}}}\n---\n${name}:\n  stage: $[[ inputs.stage ]]\n  script: [x]\n`
    for (const version of ['1.0.0', '1.2.0', '2.0.0-rc']) {
      const files = { 'templates/lint.yml': template(`lint-${version}`) }
      await other.push(files, { to: `refs/tags/${version}`, options: ['ci.skip'] })
    }
    const host = new URL(world.url).host
    const address = `${host}/${other.project['path_with_namespace'] as string}/lint`
    for (const [version, job] of [
      ['~latest', 'lint-1.2.0'],
      ['1', 'lint-1.2.0'],
      ['1.0', 'lint-1.0.0'],
      ['2.0.0-rc', 'lint-2.0.0-rc'],
    ]) {
      const ci = await projects.make({ include: { component: `${address}@${version}` } })
      expect(await jobsOf(ci, expectStatus(await create(ci), 201))).toEqual([job])
    }
    const ci = await projects.make({ include: { component: `${address}@3` } })
    expect(base(await create(ci))).toMatch(/^Component '.*@3' - content not found$/)
  })

  test('may look at what the push changed, and into other projects', async () => {
    const other = await projects.make({ x: { script: ['x'] } })
    const path = other.project['path_with_namespace'] as string
    const ci = await projects.make({ always: { script: ['x'] } })
    await ci.push({ 'docs/a.md': 'a', 'ci/docs.yml': 'docs: {script: [x]}\n' }, { options: ['ci.skip'] })
    const config = `
include: [{local: ci/docs.yml, rules: [{changes: ['docs/*']}]}]
always: {script: [x]}
there: {script: [x], rules: [{exists: {paths: [${configFile}], project: ${path}}}]}
away: {script: [x], rules: [{exists: {paths: [none], project: ${path}}}]}
`
    const first = await ci.push({ [configFile]: config })
    const second = await ci.push({ 'docs/a.md': 'b' })
    const of = async (sha: string) => {
      const list = await until(
        async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
        (found) => found.length > 0,
      )
      return jobsOf(ci, list[0]!)
    }
    expect(await of(first)).toEqual(['always', 'there'])
    expect(await of(second)).toEqual(['always', 'docs', 'there'])
  })

  test('are as many, and as large, as the instance lets them be', async () => {
    const ci = await projects.make({ include: ['a.yml', 'b.yml'] })
    await ci.push({ 'a.yml': 'a: {script: [x]}\n', 'b.yml': 'b: {script: [x]}\n' }, { options: ['ci.skip'] })
    await during(world, { ci_max_includes: 1 }, async () => {
      expect(base(await create(ci))).toBe('Maximum of 1 nested includes are allowed!')
      await set(world, { ci_max_includes: 2, ci_max_total_yaml_size_bytes: 40 })
      expect(base(await create(ci))).toBe('Total size of combined CI/CD configuration is too big')
      await set(world, { ci_max_total_yaml_size_bytes: 400, max_yaml_size_bytes: 10 })
      expect(base(await create(ci))).toBe('The parsed YAML is too big')
    })
    expect(await jobsOf(ci, expectStatus(await create(ci), 201))).toEqual(['a', 'b'])
  })
})

describe('a hostile configuration', () => {
  const bomb = [
    'a0: &a0 [x, x, x, x, x, x, x, x, x]',
    ...Array.from({ length: 9 }, (_, i) => {
      const alias = `*a${i}`
      return `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => alias).join(', ')}]`
    }),
  ].join('\n')
  const circle = `include: ${configFile}\njob: {script: [x]}\n`

  test.each([
    ['of 10 MB', `# ${'x'.repeat(10_000_000)}\njob: {script: [x]}\n`, 'The parsed YAML is too big'],
    ['of aliases in aliases', bomb, 'The parsed YAML is too big'],
    ['that includes itself', circle, 'Maximum of 150 nested includes are allowed!'],
  ])('%s makes none, and a failed one of a push', async (_, config, text) => {
    const ci = await projects.make(config)
    expect(base(await create(ci))).toBe(text)
    const sha = await ci.push({ a: 'a' })
    const [made] = await until(
      async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
      (found) => found.length > 0,
    )
    const shown = (await world.root.get(`/projects/${ci.id}/pipelines/${made!['id']}`)).body
    expect(shown).toMatchObject({ sha, status: 'failed', yaml_errors: text, source: 'push' })
  })
})

describe('creations', () => {
  test('at the same time get numbers of their own', async () => {
    const ci = await projects.make({ job: { script: ['x'] } })
    const made = await Promise.all(Array.from({ length: 6 }, () => create(ci)))
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 201))
    const iids = made.map(({ body }) => (body as Json)['iid'] as number)
    expect(new Set(iids).size).toBe(iids.length)
  })

  test('at the same time are listed in the order of their ids, which is that of their numbers', async () => {
    const ci = await projects.make({ a: { script: ['x'] } })
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 8 }, () => create(ci)))
    }
    const list = `/projects/${ci.id}/pipelines?per_page=100&sort=asc`
    const found = expectStatus(await world.root.get(list), 200) as Json[]
    const ids = found.map(({ id }) => id as number)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    // The first one is of the push that made the project.
    expect(found.map(({ iid }) => iid)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
  })

  test('of 200 jobs take at most 9 SQL statements', async () => {
    const jobs = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`job-${i}`, { script: ['x'] }]))
    const ci = await projects.make({ ...jobs })
    // What its push makes at the same time might have a later id, and be quicker.
    await until(
      async () => expectStatus(await world.root.get(`/projects/${ci.id}/pipelines`), 200) as Json[],
      (list) => list.length > 0,
    )
    // The project is another one since; who has seen that need not find it anew.
    expectStatus(await world.root.get(`/projects/${ci.id}`), 200)
    const heard: string[] = []
    const listen = (message: unknown): void => {
      const { text, requestId } = message as SentStatement
      if (requestId === 'two-hundred') heard.push(text)
    }
    subscribe(statementChannel, listen)
    const request = { 'x-request-id': 'two-hundred' }
    try {
      const path = `/projects/${ci.id}/pipeline`
      expectStatus(await world.root.post(path, { ref: 'main' }, request), 201)
    } finally {
      unsubscribe(statementChannel, listen)
    }
    expect(heard.length, heard.join('\n\n')).toBeLessThanOrEqual(9)
    expect(heard.length).toBeGreaterThan(2)
  })

  test('are for refs of 300 characters at most', async () => {
    const ci = await projects.make({ job: { script: ['x'] } })
    const run = async (branch: string): Promise<Reply> => {
      const path = `/projects/${ci.id}`
      const made = await world.root.post(`${path}/repository/branches`, { branch, ref: 'main' })
      expectStatus(made, 201)
      return world.root.post(`${path}/pipeline`, { ref: branch })
    }
    const ref = `long/${'ä'.repeat(99)}/${'b'.repeat(195)}`
    expect((await run(ref)).status).toBe(201)
    const refused = await run(`${ref}b`)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { base: ['Ref is too long (maximum is 300 characters)'] } },
    ])
  })

  test('can be limited for one user and commit', async () => {
    const ci = await projects.make({ job: { script: ['x'] } })
    const [one, other] = [await world.member(ci, 'maintainer'), await world.member(ci, 'maintainer')]
    await during(world, { pipeline_limit_per_project_user_sha: 1 }, async () => {
      expectStatus(await create(ci, one), 201)
      expect(base(await create(ci, one))).toBe(
        'Too many pipelines created in the last minute. Try again later.',
      )
      expectStatus(await create(ci, other), 201)
    })
    expectStatus(await create(ci, one), 201)
  })

  test('have their deployments counted', async () => {
    const deploy = { script: ['x'], environment: { name: 'e-$N' } }
    const matrix = (count: number) => ({
      matrix: [{ N: Array.from({ length: count }, (_, i) => String(i)) }],
    })
    const ci = await projects.make({
      a: { ...deploy, parallel: matrix(200) },
      b: { ...deploy, parallel: matrix(200) },
      c: { ...deploy, parallel: matrix(101) },
    })
    expect(base(await create(ci))).toBe(
      'Pipeline has too many deployments! Requested 501, but the limit is 500.',
    )
  })
})

describe('inputs', () => {
  const config = `
spec: {inputs: {level: {type: number, default: 1}}}
---
job-$[[ inputs.level ]]: {script: [x]}
`
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`i${i}`, i]))

  test('are not looked at before the feature is switched on', async () => {
    const ci = await projects.make(config)
    const developer = await world.member(ci, 'maintainer')
    const names = async (inputs: Json) => {
      const reply = await create(ci, developer, { inputs })
      return reply.status === 201 ? jobsOf(ci, reply.body as Json) : base(reply)
    }
    expect(await names({ level: 2 })).toEqual(['job-1'])
    expect(await names(many)).toEqual(['job-1'])

    await world.service.services.settings.switch('ci_inputs_for_pipelines', true)
    try {
      expect(await names({ level: 2 })).toEqual(['job-2'])
      expect(await names({ level: 'x' })).toMatch(/level/)
      expect(await names(many)).toBe('There cannot be more than 20 inputs')

      const path = `/projects/${ci.id}/trigger`
      const made = await world.root.post(`${path}s`, { description: 'x' })
      const fired = { token: made.body.token as string, ref: 'main', inputs: { level: 3 } }
      const pipeline = expectStatus(await world.anonymous.post(`${path}/pipeline`, fired), 201)
      expect(await jobsOf(ci, pipeline)).toEqual(['job-3'])

      const sha = await ci.push({ a: 'a' }, { options: ['ci.input=level=4'] })
      const [pushed] = await until(
        async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
        ({ length }) => length > 0,
      )
      expect(await jobsOf(ci, pushed!)).toEqual(['job-4'])
    } finally {
      await world.service.services.settings.switch('ci_inputs_for_pipelines', false)
    }
  })
})
