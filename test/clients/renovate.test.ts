import { afterAll, beforeAll, expect, test } from 'vitest'
import { Person } from '../world/client.ts'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/*
 * The calls that the bot Renovate makes of its platform, one after the other as it makes them, with its own parameters:
 * it finds projects, looks after its merge requests, and lets them merge by themselves.
 */

let world: World
let at: MergeProject
let bot: Person
beforeAll(async () => {
  world = await startWorld()
  at = await new MergeProjects(world).make()
  bot = await world.member(at, 'maintainer')
})
afterAll(() => world[Symbol.asyncDispose]())

const encoded = () => encodeURIComponent(at.fullPath)

test('it finds its projects', async () => {
  expect(expectStatus(await bot.get('/user'), 200)).toMatchObject({ name: expect.any(String), id: bot.id })
  expect(expectStatus(await bot.get('/version'), 200)['version']).toMatch(/^\d+\.\d+\.\d+/)
  const query =
    'membership=true&per_page=100&with_merge_requests_enabled=true&min_access_level=30&archived=false'
  expect(expectStatus(await bot.get(`/projects?${query}`), 200)).toMatchObject([
    { path_with_namespace: at.fullPath },
  ])
  expect(expectStatus(await bot.get(`/projects/${encoded()}`), 200)).toMatchObject({
    archived: false,
    repository_access_level: 'enabled',
    merge_requests_access_level: 'enabled',
    default_branch: 'main',
    empty_repo: false,
    merge_method: 'merge',
    squash_option: 'default_off',
    http_url_to_repo: expect.any(String),
  })
  const file = `/projects/${encoded()}/repository/files/README.md?ref=HEAD`
  expect(expectStatus(await bot.get(file), 200)).toMatchObject({
    encoding: 'base64',
    content: expect.any(String),
  })
})

test('it looks after a merge request', async () => {
  const path = `/projects/${encoded()}/merge_requests`
  const sha = await at.commit('renovate/lodash', { 'package.json': '{}\n' })
  const made = expectStatus(
    await bot.post(path, {
      source_branch: 'renovate/lodash',
      target_branch: 'main',
      remove_source_branch: true,
      title: 'Draft: Update lodash',
      description: 'A table',
      labels: ['dependencies', 'bot'].join(','),
      squash: false,
    }),
    201,
  )
  expect(made).toMatchObject({ iid: 1, labels: ['bot', 'dependencies'], draft: true, sha })
  const mine = `${path}?per_page=100&scope=created_by_me&order_by=updated_at&sort=desc`
  expect(expectStatus(await bot.get(mine), 200)).toMatchObject([{ iid: 1, source_branch: 'renovate/lodash' }])
  const others = `${path}?source_branch=renovate/lodash&state=opened`
  expect(expectStatus(await bot.get(others), 200)).toHaveLength(1)
  const one = `${path}/1`
  expect(expectStatus(await bot.get(`${one}?include_diverged_commits_count=1`), 200)).toMatchObject({
    diverged_commits_count: 0,
    head_pipeline: null,
    merge_status: 'can_be_merged',
    reviewers: [],
    assignee: null,
  })
  const changed = {
    title: 'Update lodash',
    description: 'A list',
    add_labels: ['major'],
    remove_labels: ['bot'],
  }
  expect(expectStatus(await bot.put(one, changed), 200)).toMatchObject({
    draft: false,
    labels: ['dependencies', 'major'],
  })
  const [found] = expectStatus(await bot.get(`/users?username=${at.developer.username}`), 200) as Json[]
  expectStatus(await bot.put(`${one}?assignee_ids%5B%5D=${found!['id'] as number}`), 200)
  expectStatus(await bot.get(`/users/${at.developer.id}/status`), 200)
  expect(expectStatus(await bot.put(one, { reviewer_ids: [at.maintainer.id] }), 200)).toMatchObject({
    assignees: [{ id: at.developer.id }],
    reviewers: [{ id: at.maintainer.id }],
  })
  expectStatus(await bot.put(one, { labels: 'dependencies' }), 200)

  const status = { state: 'success', description: 'Fine', context: 'renovate/stability-days' }
  expectStatus(await bot.get(`/projects/${encoded()}/repository/commits/${sha}`), 200)
  expectStatus(await bot.post(`/projects/${encoded()}/statuses/${sha}`, status), 201)
  const statuses = `/projects/${encoded()}/repository/commits/${sha}/statuses`
  expect(expectStatus(await bot.get(statuses), 200)).toMatchObject([
    { name: 'renovate/stability-days', status: 'success' },
  ])

  const note = expectStatus(await bot.post(`${one}/notes`, { body: '### Topic\n\nText' }), 201)
  const notes = expectStatus(await bot.get(`${one}/notes`), 200) as Json[]
  expect(notes.some(({ body }) => body === '### Topic\n\nText')).toBe(true)
  const single = `${one}/notes/${note['id'] as number}`
  expectStatus(await bot.put(single, { body: '### Topic\n\nOther' }), 200)
  expect((await bot.delete(single)).status).toBe(204)
})

test('it does without approvals, and lets it merge by itself', async () => {
  const one = `/projects/${encoded()}/merge_requests/1`
  const rules = `${one}/approval_rules`
  const ofProject = `/projects/${encoded()}/approval_rules`
  for (const body of [
    { name: 'Everybody', approvals_required: 2, rule_type: 'any_approver' },
    { name: 'Security', approvals_required: 1, user_ids: [at.maintainer.id] },
  ])
    expectStatus(await at.maintainer.post(ofProject, body), 201)
  const wants = async (): Promise<unknown> => expectStatus(await bot.get(one), 200)['detailed_merge_status']
  expect(await wants()).toBe('not_approved')
  const held = expectStatus(await bot.get(rules), 200) as Json[]
  for (const rule of held) {
    const path = `${rules}/${rule['id'] as number}`
    if (rule['rule_type'] !== 'any_approver') expect((await bot.delete(path)).status).toBe(204)
    else expectStatus(await bot.put(path, { ...rule, approvals_required: 0 }), 200)
  }
  expect(await wants()).toBe('mergeable')
  const again = expectStatus(await bot.get(rules), 200) as Json[]
  expect(again).toMatchObject([{ rule_type: 'any_approver', approvals_required: 0 }])

  const merge = { should_remove_source_branch: true, merge_when_pipeline_succeeds: true }
  expect(expectStatus(await bot.put(`${one}/merge`, merge), 200)['state']).toBe('merged')
})

test('it keeps a dashboard', async () => {
  const path = `/projects/${encoded()}/issues`
  const body = { title: 'Dashboard', description: 'A', labels: '', confidential: false }
  expectStatus(await bot.post(path, body), 201)
  const mine = `${path}?per_page=100&state=opened&scope=created_by_me`
  expect(expectStatus(await bot.get(mine), 200)).toMatchObject([{ iid: 1, title: 'Dashboard', labels: [] }])
  expect(expectStatus(await bot.get(`${path}/1`), 200)['description']).toBe('A')
  expectStatus(await bot.put(`${path}/1`, { ...body, description: 'B' }), 200)
  expectStatus(await bot.put(`${path}/1`, { state_event: 'close' }), 200)
})
