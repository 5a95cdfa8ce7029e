import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let base: string
let developer: Person
let maintainer: Person
let reporter: Person
let sha: string

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  const project = await world.project()
  base = `/projects/${project.id}`
  developer = await world.member({ project }, 'developer')
  maintainer = await world.member({ project }, 'maintainer')
  reporter = await world.member({ project }, 'reporter')
  await pushFiles(world, project, { a: 'a' }, ['main', 'free'])
  const { body } = await developer.get(`${base}/repository/commits/free`)
  sha = (body as Json)['id'] as string
})
afterAll(() => world[Symbol.asyncDispose]())

const post = (body: Json, by = developer): Promise<Reply> =>
  by.post(`${base}/statuses/${sha}`, { ref: 'free', ...body })
const list = async (query = ''): Promise<Json[]> =>
  (await reporter.get(`${base}/repository/commits/${sha}/statuses?${query}`)).body as Json[]

describe('reports of another CI system', () => {
  test('make a pipeline, which follows them', async () => {
    const pending = await post({ state: 'pending', name: 'build', target_url: 'https://ci.example/1' })
    expect(pending).toMatchObject({
      status: 201,
      body: {
        sha,
        ref: 'free',
        status: 'pending',
        name: 'build',
        target_url: 'https://ci.example/1',
        description: null,
        started_at: null,
        author: { username: developer.username },
      },
    })
    const { id, pipeline_id } = pending.body as { id: number; pipeline_id: number }
    const pipeline = async () => (await developer.get(`${base}/pipelines/${pipeline_id}`)).body as Json
    expect(await pipeline()).toMatchObject({ source: 'external', status: 'pending', sha, ref: 'free' })
    expect(await post({ state: 'running', name: 'build' })).toMatchObject({ body: { id, status: 'running' } })
    expect(await pipeline()).toMatchObject({ status: 'running' })
    const done = await post({ state: 'success', name: 'build', description: 'Well done', coverage: 81.5 })
    expect(done).toMatchObject({
      body: {
        id,
        status: 'success',
        description: 'Well done',
        coverage: 81.5,
        target_url: 'https://ci.example/1',
      },
    })
    expect(await pipeline()).toMatchObject({ status: 'success' })
    const commit = await developer.get(`${base}/repository/commits/${sha}`)
    const { name: _, ...brief } = rowsOf(await developer.get(`${base}/pipelines`))[0]!
    expect(brief['id']).toBe(pipeline_id)
    expect(commit.body).toMatchObject({ status: 'success' })
    expect(bodyOf(commit)['last_pipeline']).toEqual(brief)
  })

  test('of one commit and ref are in one pipeline; a new run of a name takes the place of the old', async () => {
    const [first, second] = await Promise.all([
      post({ state: 'failed', context: 'lint' }),
      post({ state: 'success', name: 'other' }),
    ])
    const pipelineOf = (reply: Reply) => (reply.body as Json)['pipeline_id'] as number
    expect(pipelineOf(first)).toBe(pipelineOf(second))
    const again = await post({ state: 'running', name: 'lint' })
    expect((again.body as Json)['id']).not.toBe((first.body as Json)['id'])
    expect((await list('name=lint')).map(({ status }) => status as string)).toEqual(['running'])
    const all = await list('name=lint&all=true&sort=desc')
    expect(all.map(({ status }) => status as string)).toEqual(['running', 'failed'])
  })

  test('follow one from another', async () => {
    await post({ state: 'running', name: 'order' })
    expect(await post({ state: 'pending', name: 'order' })).toMatchObject({
      status: 400,
      body: {
        message: expect.stringMatching(/^Cannot transition status via :enqueue from :running/) as string,
      },
    })
    expect(await post({ state: 'running', name: 'order' })).toMatchObject({ status: 400 })
    expect(await post({ state: 'canceled', name: 'order' })).toMatchObject({ status: 201 })
  })

  test('find their ref by themselves, and are for those who may run pipelines there', async () => {
    expect(await post({ state: 'success', ref: undefined })).toMatchObject({ body: { name: 'default' } })
    expect(await post({ state: 'success', ref: 'main' })).toMatchObject({ status: 403 })
    expect(await post({ state: 'success', ref: 'main' }, maintainer)).toMatchObject({ status: 201 })
    expect(await post({ state: 'success' }, reporter)).toMatchObject({ status: 403 })
    expect(await post({ state: 'happy' })).toMatchObject({
      status: 400,
      body: { error: 'state does not have a valid value' },
    })
    for (const ref of ['a'.repeat(1_000_000), 'a..b', '-a']) {
      expect(await post({ state: 'success', ref })).toMatchObject({
        status: 400,
        body: { error: 'ref is invalid' },
      })
    }
    expect(await developer.post(`${base}/statuses/${'1'.repeat(40)}`, { state: 'success' })).toMatchObject({
      status: 404,
      body: { message: '404 Commit Not Found' },
    })
    expect(await post({ state: 'success', pipeline_id: 999_999 })).toMatchObject({
      status: 404,
      body: { message: '404 Pipeline Not Found' },
    })
  })

  test.each([
    ['javascript:alert(1)', 'is blocked: Only allowed schemes are http, https'],
    ['no address', 'is blocked: URI is invalid'],
  ])('lead to an address of the web, not to %s', async (target_url, fault) => {
    const name = world.unique('address')
    expect(await post({ state: 'success', name, target_url })).toMatchObject({
      status: 400,
      body: { message: { target_url: [fault] } },
    })
    expect(await list(`name=${name}`)).toEqual([])
    expect(await post({ state: 'success', name, target_url: '' })).toMatchObject({ status: 201 })
  })

  test('of a commit that no branch has must say the ref', async () => {
    const file = { branch: 'gone', start_branch: 'main', commit_message: 'x', content: 'x' }
    expectStatus(await developer.post(`${base}/repository/files/gone`, file), 201)
    const tag = { tag_name: 'kept', ref: 'gone' }
    const { target } = expectStatus(await developer.post(`${base}/repository/tags`, tag), 201)
    expect((await developer.delete(`${base}/repository/branches/gone`)).status).toBe(204)
    const report = (fields: Json) =>
      developer.post(`${base}/statuses/${target as string}`, { state: 'success', ...fields })
    expect(await report({})).toMatchObject({
      status: 404,
      body: { message: '404 References for commit Not Found' },
    })
    expect(await report({ ref: 'kept' })).toMatchObject({ status: 201, body: { ref: 'kept' } })
  })
})

test('what another system told is not run again here', async () => {
  const told = (await post({ state: 'failed', name: 'elsewhere' })).body as Json
  const pipeline = `${base}/pipelines/${told['pipeline_id']}`
  expect(await developer.post(`${pipeline}/retry`)).toMatchObject({ status: 201 })
  expect(await developer.post(`${base}/jobs/${told['id']}/retry`)).toMatchObject({ status: 403 })
  const found = (await list()).filter(({ name }) => name === 'elsewhere')
  expect(found).toMatchObject([{ id: told['id'], status: 'failed' }])
})
