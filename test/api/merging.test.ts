// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import type { Reply } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: MergeProjects
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): [number, unknown] => [status, body]
const commit = async (at: MergeProject, ref: string): Promise<Json> =>
  expectStatus(await world.root.get(`${at.base}/repository/commits/${encodeURIComponent(ref)}`), 200)
const set = async (at: MergeProject, fields: Json) => expectStatus(await world.root.put(at.base, fields), 200)

describe('a merge', () => {
  test('makes a merge commit, and ends the request', async () => {
    const at = await projects.make()
    const before = (await at.head('main'))!
    const { sha } = await at.request({ 'a.txt': 'a\n' }, { title: 'Add a', source_branch: 'a' })
    const merged = expectStatus(await at.merge(1), 200)
    expect(merged).toMatchObject({
      state: 'merged',
      detailed_merge_status: 'not_open',
      merge_user: { id: at.maintainer.id },
      merged_by: { id: at.maintainer.id },
      merged_at: expect.any(String),
      squash_commit_sha: null,
      sha,
    })
    const made = await commit(at, 'main')
    expect(made).toMatchObject({
      id: merged['merge_commit_sha'],
      parent_ids: [before, sha],
      author_email: `${at.maintainer.username}@example.com`,
    })
    expect(made['message']).toBe(
      `Merge branch 'a' into 'main'\n\nAdd a\n\nSee merge request ${at.fullPath}!1`,
    )
    expect(answer(await at.merge(1))).toEqual([405, { message: '405 Method Not Allowed' }])
    expect(await at.head('a')).toBe(sha)
    for (const brought of [sha, merged['merge_commit_sha'], 'main'] as string[]) {
      const of = `${at.base}/repository/commits/${brought}/merge_requests`
      expect(expectStatus(await at.developer.get(of), 200)).toMatchObject([{ iid: 1, state: 'merged' }])
    }
    const first = `${at.base}/repository/commits/${before}/merge_requests`
    expect(expectStatus(await at.developer.get(first), 200)).toEqual([])
    const events = (await at.developer.get(`${at.path}?state=merged`)).body as Json[]
    expect(events.map(({ iid }) => iid as number)).toEqual([1])
  })

  test('squashes, with messages of the caller or the project', async () => {
    const at = await projects.make()
    await at.branch({ 'a.txt': 'a\n' }, 'a')
    await at.commit('a', { 'b.txt': 'b\n' })
    await at.request({ 'c.txt': 'c\n' }, { source_branch: 'a', title: 'Three files', description: 'Why' })
    await set(at, {
      squash_commit_template: '%{title}\n\n%{description}\n%{co_authored_by}\n%{unknown}',
      merge_commit_template:
        'Bring %{source_branch} (%{local_reference})\n\n%{approved_by}\n\n%{all_commits}',
    })
    const merged = expectStatus(await at.merge(1, { squash: true, should_remove_source_branch: true }), 200)
    expect(merged).toMatchObject({ squash: true, squash_on_merge: true })
    const squashed = await commit(at, merged['squash_commit_sha'] as string)
    expect(squashed['message']).toBe(
      'Three files\n\nWhy\nCo-authored-by: Administrator <admin@example.com>\n%{unknown}',
    )
    expect(squashed['author_email']).toBe(`${at.developer.username}@example.com`)
    const made = await commit(at, 'main')
    expect(made['parent_ids'][1]).toBe(squashed['id'])
    expect(made['message']).toBe('Bring a (!1)\n\n* Write a.txt\n\n* Write b.txt\n\n* Write c.txt')
    await eventually(async () => (await at.head('a')) === undefined)
  })

  test('fast-forwards only what has all that the target has', async () => {
    const at = await projects.make()
    await set(at, { merge_method: 'ff' })
    const { sha } = await at.request({ 'a.txt': 'a\n' })
    await at.request({ 'b.txt': 'b\n' })
    expect(expectStatus(await at.merge(1), 200)).toMatchObject({ merge_commit_sha: null })
    expect(await at.head('main')).toBe(sha)
    const second = expectStatus(await at.developer.get(at.one(2)), 200)
    expect(second['detailed_merge_status']).toBe('need_rebase')
    expect(answer(await at.merge(2))).toEqual([422, { message: 'Branch cannot be merged' }])
    expect(answer(await at.developer.put(`${at.one(2)}/rebase`))).toEqual([202, { rebase_in_progress: true }])
    await eventually(async () => {
      const one = (await at.developer.get(`${at.one(2)}?include_rebase_in_progress=true`)).body as Json
      return one['rebase_in_progress'] === false && one['detailed_merge_status'] === 'mergeable'
    })
    expectStatus(await at.merge(2), 200)
    expect((await commit(at, 'main'))['parent_ids']).toEqual([sha])
  })

  test('with a linear history makes a merge commit of what was rebased', async () => {
    const at = await projects.make()
    await set(at, { merge_method: 'rebase_merge', squash_option: 'always' })
    const before = await at.head('main')
    await at.request({ 'a.txt': 'a\n' })
    const merged = expectStatus(await at.merge(1, { squash: false }), 200)
    expect((await commit(at, 'main'))['parent_ids']).toEqual([before, merged['squash_commit_sha']])
  })

  test('is refused in this order: who, whether, how, what', async () => {
    const at = await projects.make()
    await at.request({ 'README.md': 'one\n' }, { source_branch: 'one' })
    await at.request({ 'README.md': 'two\n' }, { source_branch: 'two', title: 'Draft: two' })
    const stale = { sha: '0'.repeat(40) }
    expect(answer(await at.merge(1, stale, at.developer))).toEqual([401, { message: '401 Unauthorized' }])
    expectStatus(await at.merge(1), 200)
    expect((await at.merge(2, stale)).status).toBe(405)
    await at.developer.put(at.one(2), { title: 'two' })
    expect(expectStatus(await at.developer.get(at.one(2)), 200)).toMatchObject({
      detailed_merge_status: 'conflict',
      merge_status: 'cannot_be_merged',
      has_conflicts: true,
    })
    expect(answer(await at.merge(2, stale))).toEqual([422, { message: 'Branch cannot be merged' }])
    expect((await at.developer.get(`${at.one(2)}/merge_ref`)).status).toBe(400)
    const { sha } = await at.request({ 'c.txt': 'c\n' })
    expect(answer(await at.merge(3, stale))).toEqual([
      409,
      { message: `SHA does not match HEAD of source branch: ${sha as string}` },
    ])
    expectStatus(await at.merge(3, { sha }), 200)
  })

  test('notices a push between look and merge', async () => {
    const at = await projects.make()
    const { sha } = await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
    const newer = await at.commit('a', { 'a.txt': 'more\n' })
    expect(answer(await at.merge(1, { sha }))).toEqual([
      409,
      { message: `SHA does not match HEAD of source branch: ${newer}` },
    ])
    expect(expectStatus(await at.merge(1, { sha: newer }), 200)).toMatchObject({ sha: newer })
  })

  test('happens once, however many ask', async () => {
    const at = await projects.make()
    const before = await at.head('main')
    await at.request({ 'a.txt': 'a\n' })
    const replies = await Promise.all(Array.from({ length: 4 }, () => at.merge(1)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 405, 405, 405])
    expect((await commit(at, 'main'))['parent_ids'][0]).toBe(before)
  })

  test('of several requests into one branch brings them all', async () => {
    const at = await projects.make()
    for (const name of ['a', 'b', 'c']) await at.request({ [`${name}.txt`]: name })
    const replies = await Promise.all([1, 2, 3].map((iid) => at.merge(iid)))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect([...(await at.paths('main'))].sort()).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
  })

  test('needs no more than the right to merge, for the very merge', async () => {
    const at = await projects.make()
    await world.root.delete(`${at.base}/protected_branches/main`)
    expectStatus(
      await world.root.post(`${at.base}/protected_branches`, {
        name: 'main',
        push_access_level: 0,
        merge_access_level: 30,
      }),
      201,
    )
    await at.request({ 'a.txt': 'a\n' }, {}, at.maintainer)
    expect(expectStatus(await at.developer.get(at.one(1)), 200)).toMatchObject({ user: { can_merge: true } })
    expectStatus(await at.merge(1, {}, at.developer), 200)
    const push = await at.maintainer.post(`${at.base}/repository/commits`, {
      branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'x', content: 'x' }],
    })
    expect(push.status).toBe(403)
  })

  test('is for members whom the rule names, whatever their role; a push is not', async () => {
    const at = await projects.make({ visibility: 'public' })
    const named = await world.member({ project: at.project }, 'reporter')
    const other = await world.member({ project: at.project }, 'reporter')
    await world.root.patch(`${at.base}/protected_branches/main`, {
      allowed_to_merge: [{ user_id: named.id }],
      allowed_to_push: [{ user_id: named.id }],
    })
    await at.request({ 'a.txt': 'a\n' })
    const preview = `${at.base}/protected_branches/preview?ref=main`
    expect(expectStatus(await named.get(preview), 200)).toMatchObject({
      merge: { allowed: true, by: { entry: { user_id: named.id } } },
      push: { allowed: false },
    })
    expect(expectStatus(await named.get(`${at.base}/repository/branches/main`), 200)).toMatchObject({
      can_push: false,
    })
    const file = { branch: 'main', commit_message: 'x', content: 'x' }
    expect((await named.post(`${at.base}/repository/files/x`, file)).status).toBe(403)
    expect((await at.merge(1, {}, other)).status).toBe(401)
    expect(expectStatus(await named.get(at.one(1)), 200)).toMatchObject({ user: { can_merge: true } })
    expectStatus(await at.merge(1, {}, named), 200)

    expect((await world.root.delete(`${at.base}/members/${named.id}`)).status).toBe(204)
    await at.request({ 'b.txt': 'b\n' })
    expect((await at.merge(2, {}, named)).status).toBe(401)
  })

  test('done by hand, with a push, is one too', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
    const reply = await world.root.post(`${at.base}/repository/commits/a/cherry_pick`, { branch: 'main' })
    expectStatus(reply, 201)
    await at.request({ 'b.txt': 'b\n' }, { source_branch: 'b' })
    const { sha } = await at.request({ 'c.txt': 'c\n' }, { source_branch: 'c', target_branch: 'b' })
    await world.root.delete(`${at.base}/protected_branches/main`)
    expect((await at.merge(3)).status).toBe(200)
    const merged = await eventually(async () => {
      const one = (await at.developer.get(at.one(3))).body as Json
      return one['state'] === 'merged' && one
    })
    expect(merged['sha']).toBe(sha)
  })

  test('that a crash left is ended, one way or the other', async () => {
    const at = await projects.make()
    const { db } = world.service.services
    for (const name of ['a', 'b']) await at.request({ [`${name}.txt`]: name }, { source_branch: name })
    const head = await at.head('main')
    await sql`
      update merge_requests set state = 'locked', locked_at = now() - interval '5 minutes',
        merging_sha = case iid when 1 then ${head} else head_sha end where project_id = ${at.id}`.execute(
      db.writer,
    )
    await world.sibling({})
    const states = await eventually(async () => {
      const found = ((await at.developer.get(`${at.path}?sort=asc`)).body as Json[]).map(
        ({ state }) => state as string,
      )
      return !found.includes('locked') && found
    })
    expect(states).toEqual(['merged', 'opened'])
    expect(((await at.developer.get(at.one(2))).body as Json)['merge_error']).toMatch(/^Merge failed/)
    expectStatus(await at.merge(2), 200)
  })
})

describe('a merge that is left to happen by itself', () => {
  test('waits for a draft to be ready, and can be called off', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' }, { title: 'Draft: a' })
    expect(expectStatus(await at.merge(1, { auto_merge: true }), 200)).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
      merge_user: { id: at.maintainer.id },
    })
    expect(expectStatus(await at.merge(1, { auto_merge: true, squash: true }), 200)['squash']).toBe(true)
    const cancel = `${at.one(1)}/cancel_merge_when_pipeline_succeeds`
    expect(answer(await at.maintainer.post(cancel))).toEqual([201, { status: 'success' }])
    expect(bodyOf(await at.maintainer.get(at.one(1)))).toMatchObject({ merge_when_pipeline_succeeds: false })
    expect(answer(await at.maintainer.post(cancel))).toEqual([
      406,
      { message: "Can't cancel the automatic merge" },
    ])
    expectStatus(
      await at.merge(1, { merge_when_pipeline_succeeds: true, should_remove_source_branch: true }),
      200,
    )
    expectStatus(await at.developer.put(at.one(1), { title: 'a', squash: false }), 200)
    await eventually(async () => ((await at.developer.get(at.one(1))).body as Json)['state'] === 'merged')
    expect(expectStatus(await at.developer.get(at.one(1)), 200)['squash_commit_sha']).toBeNull()
  })

  test('happens once its time has come', async () => {
    const at = await projects.make()
    const { detailed_merge_status } = await at.request({ 'a.txt': 'a\n' }, { merge_after: '2100-01-01' })
    expect(detailed_merge_status).toBe('merge_time')
    expect((await at.merge(1)).status).toBe(405)
    expect(expectStatus(await at.merge(1, { auto_merge: true }), 200)['state']).toBe('opened')
    const soon = new Date(Date.now() + 1000).toISOString()
    expectStatus(await at.developer.put(at.one(1), { merge_after: soon }), 200)
    await eventually(async () => ((await at.developer.get(at.one(1))).body as Json)['state'] === 'merged')
  })

  test('is called off by a push', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' }, { title: 'Draft: a', source_branch: 'a' })
    expectStatus(await at.merge(1, { auto_merge: true }), 200)
    await at.commit('a', { 'a.txt': 'more\n' })
    await eventually(
      async () =>
        ((await at.developer.get(at.one(1))).body as Json)['merge_when_pipeline_succeeds'] === false,
    )
  })
})

describe('code', () => {
  test('commits, diffs, changes, patch and versions follow the pushes', async () => {
    const at = await projects.make()
    const { sha: first } = await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
    const second = await at.commit('a', { 'b.txt': 'b\n' })
    await eventually(async () => ((await at.developer.get(at.one(1))).body as Json)['sha'] === second)
    const commits = expectStatus(await at.developer.get(`${at.one(1)}/commits`), 200) as Json[]
    expect(commits.map(({ id }) => id as string)).toEqual([second, first])
    const page = await at.developer.get(`${at.one(1)}/diffs?per_page=1&page=2&unidiff=true`)
    expect(page.headers.get('x-total')).toBe('2')
    expect(page.body).toMatchObject([
      { new_path: 'b.txt', new_file: true, diff: '--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n' },
    ])
    const changes = expectStatus(await at.developer.get(`${at.one(1)}/changes`), 200)
    expect(changes).toMatchObject({ iid: 1, overflow: false, changes_count: '2' })
    expect(changes['changes']).toHaveLength(2)
    const raw = await at.developer.get(`${at.one(1)}/raw_diffs`)
    expect(raw.headers.get('content-type')).toContain('text/plain')
    expect(raw.text).toContain('diff --git a/a.txt b/a.txt\nnew file mode 100644')
    const versions = expectStatus(await at.developer.get(`${at.one(1)}/versions`), 200) as Json[]
    expect(versions).toMatchObject([
      { head_commit_sha: second, state: 'collected', real_size: '2' },
      { head_commit_sha: first, state: 'collected', real_size: '1' },
    ])
    const one = expectStatus(
      await at.developer.get(`${at.one(1)}/versions/${versions[1]!['id'] as number}`),
      200,
    )
    expect(one).toMatchObject({ commits: [{ id: first }], diffs: [{ new_path: 'a.txt' }] })
    expect((await at.developer.get(`${at.one(1)}/versions/999999`)).status).toBe(404)
    expect(expectStatus(await at.developer.get(`${at.one(1)}/merge_ref`), 200)['commit_id']).toMatch(
      /^[0-9a-f]{40}$/,
    )
  })

  test('another target makes another version', async () => {
    const at = await projects.make()
    await at.branch({ 'base.txt': 'base\n' }, 'base')
    await at.request({ 'a.txt': 'a\n' })
    const changed = expectStatus(await at.developer.put(at.one(1), { target_branch: 'base' }), 200)
    expect(changed['diff_refs'].start_sha).toBe(await at.head('base'))
    expect(expectStatus(await at.developer.get(`${at.one(1)}/versions`), 200)).toHaveLength(2)
    expect((await at.developer.put(at.one(1), { target_branch: 'nowhere' })).status).toBe(400)
  })

  test('a branch that is gone leaves nothing to merge', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
    expect((await world.root.delete(`${at.base}/repository/branches/a`)).status).toBe(204)
    await eventually(
      async () =>
        ((await at.developer.get(at.one(1))).body as Json)['detailed_merge_status'] === 'commits_status',
    )
    expect((await at.merge(1)).status).toBe(405)
    expect(expectStatus(await at.developer.get(`${at.one(1)}/diffs`), 200)).toHaveLength(1)
    await at.developer.put(at.one(1), { state_event: 'close' })
    expect((await at.developer.put(at.one(1), { state_event: 'reopen' })).status).toBe(422)
  })
})

describe('forks', () => {
  test('bring their commits, which are merged as those of a branch', async () => {
    const at = await projects.make({ visibility: 'public' })
    const stranger = await world.user()
    const fork = expectStatus(await stranger.post(`${at.base}/fork`, {}), 201)
    const path = `/projects/${fork['id'] as number}`
    const made = expectStatus(
      await stranger.post(`${path}/repository/commits`, {
        branch: 'work',
        start_branch: 'main',
        commit_message: 'Work',
        actions: [{ action: 'create', file_path: 'w.txt', content: 'w\n' }],
      }),
      201,
    )
    const fields = {
      source_branch: 'work',
      target_branch: 'main',
      title: 'Work',
      target_project_id: at.id,
      allow_collaboration: true,
    }
    const request = expectStatus(await stranger.post(`${path}/merge_requests`, fields), 201)
    expect(request).toMatchObject({
      project_id: at.id,
      source_project_id: fork['id'],
      sha: made['id'],
      allow_collaboration: true,
      detailed_merge_status: 'mergeable',
      user: { can_merge: false },
    })
    expect((await stranger.post(`${path}/merge_requests`, fields)).status).toBe(409)
    const next = expectStatus(
      await stranger.post(`${path}/repository/commits`, {
        branch: 'work',
        commit_message: 'More',
        actions: [{ action: 'create', file_path: 'x.txt', content: 'x\n' }],
      }),
      201,
    )
    expectStatus(await at.merge(request['iid'] as number, { sha: next['id'] }), 200)
    expect([...(await at.paths('main'))].sort()).toEqual(['README.md', 'w.txt', 'x.txt'])
  })
})

describe('planning', () => {
  test('labels and milestones, subscriptions and time', async () => {
    const at = await projects.make()
    const milestone = expectStatus(await at.maintainer.post(`${at.base}/milestones`, { title: 'M1' }), 201)
    const made = await at.request({ 'a.txt': 'a\n' }, { labels: 'bug,new', milestone_id: milestone['id'] })
    expect(made).toMatchObject({ labels: ['bug', 'new'], milestone: { title: 'M1' } })
    const changed = expectStatus(
      await at.developer.put(at.one(1), { add_labels: ['x'], remove_labels: ['new'] }),
      200,
    )
    expect(changed['labels']).toEqual(['bug', 'x'])
    const list = async (query: string): Promise<number> =>
      ((await at.developer.get(`${at.path}?${query}`)).body as Json[]).length
    expect(await list('labels=bug,x')).toBe(1)
    expect(await list('labels=new')).toBe(0)
    expect(await list('labels=None')).toBe(0)
    expect(await list('not[labels]=bug')).toBe(0)
    expect(await list('milestone=M1')).toBe(1)
    expect(await list('milestone=None')).toBe(0)
    expect(await list('not[milestone]=M1')).toBe(0)
    const [row] = (await at.developer.get(`${at.path}?with_labels_details=true`)).body as Json[]
    expect(row!['labels']).toMatchObject([{ name: 'bug', color: expect.any(String) }, { name: 'x' }])
    expect(expectStatus(await at.maintainer.post(`${at.one(1)}/subscribe`), 201)).toMatchObject({
      subscribed: true,
    })
    expect((await at.maintainer.post(`${at.one(1)}/subscribe`)).status).toBe(304)
    expect(expectStatus(await at.maintainer.post(`${at.one(1)}/unsubscribe`), 201)).toMatchObject({
      subscribed: false,
    })
    expect(
      expectStatus(await at.developer.post(`${at.one(1)}/time_estimate`, { duration: '1d 2h' }), 200),
    ).toMatchObject({
      time_estimate: 36_000,
      human_time_estimate: '1d 2h',
    })
    expectStatus(await at.developer.post(`${at.one(1)}/add_spent_time`, { duration: '90m' }), 201)
    expect((await at.developer.post(`${at.one(1)}/add_spent_time`, { duration: 'soon' })).status).toBe(400)
    expect(expectStatus(await at.developer.get(`${at.one(1)}/time_stats`), 200)).toMatchObject({
      total_time_spent: 5400,
    })
    expectStatus(await at.developer.post(`${at.one(1)}/reset_spent_time`), 200)
    await world.root.delete(at.one(1))
    const { rows } = await sql`select from noteable_labels where noteable_type = 'MergeRequest'`.execute(
      world.service.services.db.reader,
    )
    expect(rows).toHaveLength(0)
  })
})
