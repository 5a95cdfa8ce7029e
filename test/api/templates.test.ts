import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
let guest: Person

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  group = await world.group({ visibility: 'private' })
  project = await world.project({ namespace_id: group.id, visibility: 'private' })
  guest = await world.member({ group }, 'guest')
})
afterAll(() => world[Symbol.asyncDispose]())

const keys = async (path: string, by = world.anonymous): Promise<string[]> => {
  const reply = await by.get(`${path}?per_page=100`)
  expect(reply.status, path).toBe(200)
  return (reply.body as Json[]).map(({ key }) => key as string)
}
const text = async (path: string, by = world.anonymous): Promise<string> =>
  (expectStatus(await by.get(path), 200) as { content: string }).content

describe('templates that come with the service', () => {
  test.each([
    ['dockerfiles', 'Go', 'FROM golang'],
    ['gitignores', 'C++', '*.o'],
    ['gitlab_ci_ymls', 'Nodejs', 'npm'],
  ])('%s', async (type, key, content) => {
    expect(await keys(`/templates/${type}`)).toContain(key)
    expect(await keys(`/projects/${project.id}/templates/${type}`, guest)).toContain(key)
    const address = `/templates/${type}/${encodeURIComponent(key)}`
    expect(await text(address)).toContain(content)
    expect(await text(`/projects/${project.id}${address}`, guest)).toBe(await text(address))
    for (const name of ['nothing', '..%2Fdockerfiles%2FGo', 'constructor'])
      expect((await world.anonymous.get(`/templates/${type}/${name}`)).status).toBe(404)
  })

  test('those in folders go by their own name, and by their path', async () => {
    const listed = await keys('/templates/gitlab_ci_ymls')
    expect(listed.length).toBeGreaterThan(20)
    expect(listed).toContain('Hugo')
    expect(listed.filter((key) => key.includes('/'))).toEqual([])
    for (const at of ['', `/projects/${project.id}`]) {
      const one = await guest.get(`${at}/templates/gitlab_ci_ymls/Hugo`)
      expect(one.body).toEqual({ name: 'Hugo', content: expect.stringContaining('hugo --gc') as string })
      expect((await guest.get(`${at}/templates/gitlab_ci_ymls/Pages%2FHugo`)).body).toEqual(one.body)
      const workflow = await guest.get(`${at}/templates/gitlab_ci_ymls/Workflows%2FMergeRequest-Pipelines`)
      expect(workflow.body).toMatchObject({ name: 'MergeRequest-Pipelines' })
      for (const name of ['Pages%2F..%2FGo', '..%2Ftemplates%2FGo', '%2Fetc%2Fpasswd', 'Pages%2F'])
        expect((await guest.get(`${at}/templates/gitlab_ci_ymls/${name}`)).status, name).toBe(404)
    }
  })

  test('licences, with what the caller fills in', async () => {
    const popular = (await world.anonymous.get('/templates/licenses?popular=true')).body as Json[]
    expect(popular.map(({ key }) => key as string)).toEqual(['apache-2.0', 'gpl-3.0', 'mit'])
    expect(popular[2]).toMatchObject({
      name: 'MIT License',
      nickname: null,
      conditions: ['include-copyright'],
      limitations: ['liability', 'warranty'],
    })
    const year = new Date().getFullYear()
    expect(await text('/templates/licenses/mit')).toContain(`(c) ${year} [fullname]`)
    expect(await text('/templates/licenses/mit', guest)).toContain(`(c) ${year} Name of ${guest.username}`)
    expect(await text('/templates/licenses/mit?fullname=Ida%20$%26Holm')).toContain(
      `(c) ${year} Ida $&Holm\n`,
    )
    const missing = await world.anonymous.get('/templates/licenses/constructor')
    expect([missing.status, missing.body]).toEqual([404, { message: '404 License Not Found' }])
    for (const key of await keys('/templates/licenses'))
      expect((await text(`/templates/licenses/${key}`)).length, key).toBeGreaterThan(1000)
  })

  test('refuse in the words of the specification', async () => {
    const at = `/projects/${project.id}/templates`
    const wrong = await guest.get(`${at}/nothing`)
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'type does not have a valid value' }])
    const missing = await guest.get(`${at}/licenses/nothing`)
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Template Not Found' }])
  })
})

describe('templates of projects', () => {
  const files = {
    'Dockerfile/Ours.dockerfile': 'FROM ours',
    'Dockerfile/Go.dockerfile': 'FROM our-go',
    'gitignore/Ours.gitignore': 'ours',
    'gitlab-ci/Ours.yml': 'job: {script: x}',
    'LICENSE/Ours & Co.txt': 'Copyright [year] [fullname] for [project]',
    'LICENSE/notes.md': 'no licence',
    'elsewhere/Other.dockerfile': 'FROM other',
  }

  test('file_template_project_id gives them to everybody, and they come first', async () => {
    const source = await world.project({ visibility: 'private' })
    await pushFiles(world, source, files)
    expect(await keys('/templates/dockerfiles')).not.toContain('Ours')
    await during(world, { file_template_project_id: source.id }, async () => {
      expect((await keys('/templates/dockerfiles')).slice(0, 2)).toEqual(['Go', 'Ours'])
      expect((await keys('/templates/dockerfiles')).filter((key) => key === 'Go')).toHaveLength(1)
      expect(await text('/templates/dockerfiles/Go')).toBe('FROM our-go')
      expect(await text('/templates/gitignores/Ours')).toBe('ours')
      expect(await text(`/projects/${project.id}/templates/gitlab_ci_ymls/Ours`, guest)).toBe(
        'job: {script: x}',
      )
      expect(await keys('/templates/licenses')).toContain('Ours & Co')
      const license = await text('/templates/licenses/Ours%20%26%20Co?fullname=Ida&project=Tower')
      expect(license).toBe(`Copyright ${new Date().getFullYear()} Ida for Tower`)
    })
    expect(await keys('/templates/dockerfiles')).not.toContain('Ours')
  })

  test('a group gives its own to the projects below it, and no project that is not its own', async () => {
    const source = await world.project({ namespace_id: group.id, visibility: 'private' })
    await pushFiles(world, source, files)
    const elsewhere = await world.project({ visibility: 'private' })
    await pushFiles(world, elsewhere, { 'Dockerfile/Secret.dockerfile': 'FROM secret' })
    const at = `/projects/${project.id}/templates/dockerfiles`
    const set = async (id: number | null) =>
      expectStatus(await world.root.put(`/groups/${group.id}`, { file_template_project_id: id }), 200)
    await set(source.id)
    expect((await keys(at, guest)).slice(0, 2)).toEqual(['Go', 'Ours'])
    expect(await text(`${at}/Go?source_template_project_id=${source.id}`, guest)).toBe('FROM our-go')
    expect((await guest.get(`${at}/Go?source_template_project_id=${elsewhere.id}`)).status).toBe(404)
    expect(await keys('/templates/dockerfiles')).not.toContain('Ours')
    const other = await world.project({ visibility: 'public' })
    expect(await keys(`/projects/${other.id}/templates/dockerfiles`)).not.toContain('Ours')
    await set(elsewhere.id)
    expect(await keys(at, guest)).not.toContain('Secret')
    await set(null)
  })

  test('descriptions of issues and merge requests are of the project itself, for those who read its code', async () => {
    const own = await world.project({ visibility: 'public' })
    const at = `/projects/${own.id}/templates`
    expect(await keys(`${at}/issues`)).toEqual([])
    await pushFiles(world, own, {
      '.gitlab/issue_templates/Bug.md': '## Steps',
      '.gitlab/issue_templates/Idea.md': '## Why',
      '.gitlab/merge_request_templates/Default.md': '## What',
    })
    expect(await keys(`${at}/issues`)).toEqual(['Bug', 'Idea'])
    expect(await text(`${at}/issues/Bug`)).toBe('## Steps')
    expect(await text(`${at}/merge_requests/Default`)).toBe('## What')
    expectStatus(await world.root.put(`/projects/${own.id}`, { repository_access_level: 'private' }), 200)
    expect(await keys(`${at}/issues`)).toEqual([])
    expect((await world.anonymous.get(`${at}/issues/Bug`)).status).toBe(404)
  })
})
