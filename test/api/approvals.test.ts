// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, type Person, type Reply } from '../world/client.ts'
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
const statusOf = async (at: MergeProject, iid = 1): Promise<unknown> =>
  expectStatus(await at.developer.get(at.one(iid)), 200)['detailed_merge_status']

test('are given once and taken back', async () => {
  const at = await projects.make()
  const { sha } = await at.request({ 'a.txt': 'a\n' }, { reviewer_ids: [at.maintainer.id] })
  const path = at.one(1)
  expect(expectStatus(await at.maintainer.get(`${path}/approvals`), 200)).toMatchObject({
    approved: true,
    approvals_required: 0,
    approvals_left: 0,
    approved_by: [],
    user_has_approved: false,
    user_can_approve: true,
  })
  expect((await at.maintainer.post(`${path}/approve`, { sha: '0'.repeat(40) })).status).toBe(409)
  expect(expectStatus(await at.maintainer.post(`${path}/approve`, { sha }), 201)).toMatchObject({
    approved_by: [{ user: { id: at.maintainer.id } }],
    user_has_approved: true,
    user_can_approve: false,
  })
  expect((await at.maintainer.post(`${path}/approve`)).status).toBe(401)
  expect((await at.developer.post(`${path}/approve`)).status).toBe(401)
  expect(expectStatus(await at.developer.get(`${path}/reviewers`), 200)).toMatchObject([
    { state: 'approved' },
  ])
  const ids = (
    (await at.developer.get(`${at.path}?approved_by_ids[]=${at.maintainer.id}`)).body as Json[]
  ).map(({ iid }) => iid as number)
  expect(ids).toEqual([1])
  expect(expectStatus(await at.maintainer.post(`${path}/unapprove`), 201)).toMatchObject({
    approved_by: [],
  })
  expect((await at.maintainer.post(`${path}/unapprove`)).status).toBe(404)
})

test('are asked for by rules, and lost by a push', async () => {
  const at = await projects.make()
  const rules = `${at.base}/approval_rules`
  const rule = expectStatus(
    await at.maintainer.post(rules, {
      name: 'Security',
      approvals_required: 1,
      user_ids: [at.maintainer.id],
    }),
    201,
  )
  expect(rule).toMatchObject({ rule_type: 'regular', eligible_approvers: [{ id: at.maintainer.id }] })
  expect(answer(await at.maintainer.post(rules, { name: 'Security', approvals_required: 1 }))).toEqual([
    400,
    { message: { name: ['has already been taken'] } },
  ])
  expect((await at.developer.post(rules, { name: 'x', approvals_required: 1 })).status).toBe(403)
  const made = await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
  expect(made['detailed_merge_status']).toBe('not_approved')
  expect((await at.merge(1)).status).toBe(405)
  const path = at.one(1)
  expect(expectStatus(await at.maintainer.get(`${path}/approvals`), 200)).toMatchObject({
    approved: false,
    approvals_required: 1,
    approvals_left: 1,
    approval_rules_left: [{ name: 'Security' }],
    suggested_approvers: [{ id: at.maintainer.id }],
  })
  const other = await world.member(at, 'developer')
  expectStatus(await other.post(`${path}/approve`), 201)
  expect(expectStatus(await at.developer.get(path), 200)['detailed_merge_status']).toBe('not_approved')
  expectStatus(await at.maintainer.post(`${path}/approve`), 201)
  expect(expectStatus(await at.developer.get(path), 200)['detailed_merge_status']).toBe('mergeable')
  expect(expectStatus(await at.developer.get(`${path}/approval_state`), 200)).toMatchObject({
    rules: [{ name: 'Security', approved: true, approved_by: [{ id: at.maintainer.id }] }],
  })
  await at.commit('a', { 'a.txt': 'more\n' })
  await eventually(
    async () => ((await at.developer.get(path)).body as Json)['detailed_merge_status'] === 'not_approved',
  )
  const own = expectStatus(
    await at.developer.post(`${path}/approval_rules`, {
      name: 'Security',
      approvals_required: 0,
      approval_project_rule_id: rule['id'],
    }),
    201,
  )
  expect(own).toMatchObject({ source_rule: { id: rule['id'] }, overridden: true })
  expect(expectStatus(await at.developer.get(path), 200)['detailed_merge_status']).toBe('mergeable')
  expect((await at.developer.delete(`${path}/approval_rules/${own['id'] as number}`)).status).toBe(204)
  expect((await at.maintainer.delete(`${rules}/${rule['id'] as number}`)).status).toBe(204)
  expectStatus(await at.merge(1), 200)
})

test('hold for what was looked at, wherever it stands', async () => {
  const at = await projects.make()
  await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
  const versions = async (): Promise<Json[]> =>
    expectStatus(await at.developer.get(`${at.one(1)}/versions`), 200) as Json[]
  const approvers = async (): Promise<number> =>
    (expectStatus(await at.developer.get(`${at.one(1)}/approvals`), 200)['approved_by'] as Json[]).length
  const after = async (count: number): Promise<Json[]> =>
    eventually(async () => {
      const found = await versions()
      return found.length === count && found
    })
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  await at.commit('main', { 'ahead.txt': 'ahead\n' })
  expectStatus(await at.developer.put(`${at.one(1)}/rebase`), 202)
  const [rebased, first] = await after(2)
  expect(rebased!['patch_id_sha']).toMatch(/^[0-9a-f]{40}$/)
  expect(rebased!['patch_id_sha']).toBe(first!['patch_id_sha'])
  expect(rebased!['head_commit_sha']).not.toBe(first!['head_commit_sha'])
  expect(await approvers()).toBe(1)
  // Blanks mean something.
  await at.commit('a', { 'a.txt': ' a\n' })
  const [changed] = await after(3)
  expect(changed!['patch_id_sha']).not.toBe(first!['patch_id_sha'])
  await eventually(async () => (await approvers()) === 0)
  // Another target is another question.
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  await at.branch({ 'base.txt': 'base\n' }, 'base')
  expectStatus(await at.developer.put(at.one(1), { target_branch: 'base' }), 200)
  expect(await approvers()).toBe(0)
})

test('work as the project says', async () => {
  const at = await projects.make()
  const path = `${at.base}/approvals`
  expect(expectStatus(await at.developer.get(path), 200)).toEqual({
    approvers: [],
    approver_groups: [],
    approvals_before_merge: 0,
    reset_approvals_on_push: true,
    selective_code_owner_removals: false,
    disable_overriding_approvers_per_merge_request: false,
    merge_requests_author_approval: false,
    merge_requests_disable_committers_approval: false,
    require_password_to_approve: false,
    require_reauthentication_to_approve: false,
  })
  await at.request({ 'a.txt': 'a\n' })
  expect((await at.developer.post(`${at.one(1)}/approve`)).status).toBe(401)
  const changed = { approvals_before_merge: 1, merge_requests_author_approval: true }
  expect(expectStatus(await at.maintainer.post(path, changed), 201)).toMatchObject(changed)
  expect(await statusOf(at)).toBe('not_approved')
  expect(expectStatus(await at.developer.get(`${at.one(1)}/approvals`), 200)).toMatchObject({
    approvals_required: 1,
    approvals_left: 1,
  })
  expectStatus(await at.developer.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')
  expect(answer(await at.maintainer.post(path, { selective_code_owner_removals: true }))).toEqual([
    400,
    { message: { selective_code_owner_removals: ['only works without reset_approvals_on_push'] } },
  ])
  // Not to be changed by what other settings change.
  expectStatus(await world.root.put(at.base, { description: 'x' }), 200)
  expect(expectStatus(await at.developer.get(path), 200)).toMatchObject(changed)
})

test('that nobody can give are not waited for', async () => {
  const at = await projects.make()
  const rule = async (name: string, approvals_required: number, user_ids: number[]) =>
    expectStatus(
      await at.maintainer.post(`${at.base}/approval_rules`, {
        ...{ name, approvals_required, user_ids },
        rule_type: 'regular',
      }),
      201,
    )
  await rule('nobody', 1, [])
  await rule('author', 1, [at.developer.id])
  await rule('two of one', 2, [at.maintainer.id])
  await at.request({ 'a.txt': 'a\n' })
  expect(expectStatus(await at.developer.get(`${at.one(1)}/approvals`), 200)).toMatchObject({
    approved: false,
    approvals_required: 4,
    approvals_left: 2,
    approval_rules_left: [{ name: 'two of one' }],
    invalid_approvers_rules: [{ name: 'nobody' }, { name: 'author' }],
  })
  expect(await statusOf(at)).toBe('not_approved')
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')
  expect(expectStatus(await at.developer.get(`${at.one(1)}/approvals`), 200)).toMatchObject({
    approved: true,
    approvals_left: 0,
  })
})

test('of a rule of the project can be done without by one request', async () => {
  const at = await projects.make()
  const rules = `${at.base}/approval_rules`
  const body = { name: 'Security', approvals_required: 1, user_ids: [at.maintainer.id] }
  const rule = expectStatus(await at.maintainer.post(rules, body), 201)
  await at.request({ 'a.txt': 'a\n' })
  await at.request({ 'b.txt': 'b\n' })
  const own = `${at.one(1)}/approval_rules`
  expect((await at.developer.delete(`${own}/${rule['id'] as number}`)).status).toBe(204)
  expect(expectStatus(await at.developer.get(own), 200)).toEqual([])
  expect((await at.developer.delete(`${own}/${rule['id'] as number}`)).status).toBe(404)
  expect([await statusOf(at, 1), await statusOf(at, 2)]).toEqual(['mergeable', 'not_approved'])
  expectStatus(await at.developer.post(own, body), 201)
  expect(await statusOf(at, 1)).toBe('not_approved')
})

test('are set in two ways of words', async () => {
  const at = await projects.make()
  const path = `${at.base}/merge_request_approval_setting`
  const free = (value: boolean) => ({ value, locked: false, inherited_from: null })
  expect(expectStatus(await at.maintainer.get(path), 200)).toEqual({
    allow_author_approval: free(false),
    allow_committer_approval: free(true),
    allow_overrides_to_approver_list_per_merge_request: free(true),
    retain_approvals_on_push: free(false),
    selective_code_owner_removals: free(false),
    require_password_to_approve: free(false),
    require_reauthentication_to_approve: free(false),
  })
  const wanted = { retain_approvals_on_push: true, allow_author_approval: true }
  expect(expectStatus(await at.maintainer.put(path, wanted), 200)).toMatchObject({
    retain_approvals_on_push: free(true),
    allow_author_approval: free(true),
  })
  expect(expectStatus(await at.maintainer.get(`${at.base}/approvals`), 200)).toMatchObject({
    reset_approvals_on_push: false,
    merge_requests_author_approval: true,
  })
  await settingTo({ prevent_merge_requests_author_approval: true }, async () => {
    expect(expectStatus(await at.maintainer.get(path), 200)).toMatchObject({
      allow_author_approval: { value: false, locked: true, inherited_from: 'instance' },
    })
  })
  expect((await at.maintainer.put(path, {})).status).toBe(400)
  expect((await at.developer.get(path)).status).toBe(403)
})

test('a bot of the project takes them all back, and nobody else', async () => {
  const at = await projects.make()
  await at.request({ 'a.txt': 'a\n' })
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  const expires_at = new Date(Date.now() + 864e5).toISOString().slice(0, 10)
  const fields = { name: 'bot', scopes: ['api'], access_level: 40, expires_at }
  const made = expectStatus(await world.root.post(`${at.base}/access_tokens`, fields), 201)
  const bot = new Client(world.url, { 'private-token': made['token'] as string })
  const approvedBy = async (): Promise<unknown> =>
    expectStatus(await at.maintainer.get(`${at.one(1)}/approvals`), 200)['approved_by']
  expect((await at.maintainer.put(`${at.one(1)}/reset_approvals`)).status).toBe(401)
  expect(await approvedBy()).toHaveLength(1)
  expect(await bot.put(`${at.one(1)}/reset_approvals`)).toMatchObject({
    status: 202,
    body: { message: '202 Accepted' },
  })
  expect(await approvedBy()).toEqual([])
})

test('may ask for the password once more', async () => {
  const at = await projects.make()
  expectStatus(await at.maintainer.post(`${at.base}/approvals`, { require_password_to_approve: true }), 201)
  await at.request({ 'a.txt': 'a\n' })
  const password = 'correct horse battery staple'
  const approver = await world.user({ password, force_random_password: false })
  const member = { user_id: approver.id, access_level: 30 }
  expectStatus(await world.root.post(`${at.base}/members`, member), 201)
  const approve = async (body: Json = {}) => (await approver.post(`${at.one(1)}/approve`, body)).status
  expect(await approve()).toBe(401)
  expect(await approve({ approval_password: 'wrong' })).toBe(401)
  expect(await approve({ approval_password: password })).toBe(201)
})

test('a request may ask for more than its project', async () => {
  const at = await projects.make()
  const made = await at.request({ 'a.txt': 'a\n' }, { approvals_before_merge: 1 })
  expect(made).toMatchObject({ approvals_before_merge: 1, detailed_merge_status: 'not_approved' })
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')
})

test('of code owners are needed where the branch asks for them', async () => {
  const at = await projects.make()
  const owner = await world.member(at, 'developer')
  const guide = await world.member(at, 'developer')
  const rules = `/src/ @${owner.username}\n\n^[Docs]\n*.md @${guide.username}\n\n[Web]\n/src/ @${owner.username} @${guide.username}\n`
  await at.commit('main', { CODEOWNERS: rules })
  await at.request({ 'src/a.txt': 'a\n', 'read.md': 'a\n' }, { source_branch: 'a' })
  await at.request({ 'other.txt': 'a\n' })
  expect(await statusOf(at, 1)).toBe('mergeable')
  expectStatus(
    await at.maintainer.patch(`${at.base}/protected_branches/main`, { code_owner_approval_required: true }),
    200,
  )
  expect(await statusOf(at, 1)).toBe('not_approved')
  expect(await statusOf(at, 2)).toBe('mergeable')
  expect((await at.merge(1)).status).toBe(405)
  const state = expectStatus(await at.developer.get(`${at.one(1)}/approval_state`), 200) as {
    rules: Json[]
  }
  const shown = state.rules.map(
    ({ name, section, rule_type, approvals_required, approved, eligible_approvers }) => [
      name,
      section,
      rule_type,
      approvals_required,
      approved,
      (eligible_approvers as Json[]).map(({ id }) => id),
    ],
  )
  expect(shown).toEqual([
    ['/src/', 'codeowners', 'code_owner', 1, false, [owner.id]],
    ['*.md', 'Docs', 'code_owner', 0, true, [guide.id]],
    ['/src/', 'Web', 'code_owner', 1, false, [owner.id, guide.id]],
  ])
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('not_approved')
  expectStatus(await owner.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')
  // Another file at the head of the target: another say.
  await at.commit('main', { CODEOWNERS: `/src/ @${guide.username}\n` })
  expect(await statusOf(at)).toBe('not_approved')
  expectStatus(await guide.post(`${at.one(1)}/approve`), 201)
  expectStatus(await at.merge(1), 200)
})

test('of code owners lapse with their files alone, where the project wants that', async () => {
  const at = await projects.make()
  const owner = await world.member(at, 'developer')
  await at.commit('main', { CODEOWNERS: `/src/ @${owner.username}\n` })
  await at.request({ 'src/a.txt': 'a\n', 'b.txt': 'b\n' }, { source_branch: 'a' })
  const settings = { reset_approvals_on_push: false, selective_code_owner_removals: true }
  expectStatus(await at.maintainer.post(`${at.base}/approvals`, settings), 201)
  for (const one of [at.maintainer, owner]) expectStatus(await one.post(`${at.one(1)}/approve`), 201)
  const approvers = async (sha: string): Promise<unknown> => {
    await eventually(async () => ((await at.developer.get(at.one(1))).body as Json)['sha'] === sha)
    const { approved_by } = expectStatus(await at.developer.get(`${at.one(1)}/approvals`), 200) as {
      approved_by: { user: Json }[]
    }
    return approved_by.map(({ user }) => user['id'])
  }
  expect(await approvers(await at.commit('a', { 'b.txt': 'more\n' }))).toEqual([at.maintainer.id, owner.id])
  expect(await approvers(await at.commit('a', { 'src/a.txt': 'more\n' }))).toEqual([at.maintainer.id])
})

/** With a setting of the instance, and again without. */
async function settingTo(values: Json, look: () => Promise<void>): Promise<void> {
  expectStatus(await world.root.put('/application/settings', values), 200)
  await look()
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, false]))
  expectStatus(await world.root.put('/application/settings', before), 200)
}

test('the instance can keep authors and committers from approving, whatever a project says', async () => {
  const at = await projects.make()
  const path = `${at.base}/approvals`
  expectStatus(await at.maintainer.post(path, { merge_requests_author_approval: true }), 201)
  const mayApprove = async (who: Person, iid: number): Promise<unknown> =>
    expectStatus(await who.get(`${at.one(iid)}/approvals`), 200)['user_can_approve']
  await at.request({ 'a.txt': 'a\n' })
  await settingTo({ prevent_merge_requests_author_approval: true }, async () => {
    expect(await mayApprove(at.developer, 1)).toBe(false)
    expect((await at.developer.post(`${at.one(1)}/approve`)).status).toBe(401)
    expect(expectStatus(await at.maintainer.get(path), 200)['merge_requests_author_approval']).toBe(false)
    expectStatus(await at.maintainer.post(path, { merge_requests_author_approval: true }), 201)
    expect(await mayApprove(at.developer, 1)).toBe(false)
  })
  expectStatus(await at.developer.post(`${at.one(1)}/approve`), 201)

  // The commits of the world are made by the administrator.
  await at.request({ 'b.txt': 'b\n' })
  await settingTo({ prevent_merge_requests_committers_approval: true }, async () => {
    expect(await mayApprove(world.root, 2)).toBe(false)
    expect((await world.root.post(`${at.one(2)}/approve`)).status).toBe(401)
    expect(await mayApprove(at.maintainer, 2)).toBe(true)
  })
  expectStatus(await world.root.post(`${at.one(2)}/approve`), 201)
})

test('of who made its commits do not count where the project says so, also when they were given before', async () => {
  const at = await projects.make()
  const [second, third] = [await world.member(at, 'developer'), await world.member(at, 'developer')]
  const settings = { reset_approvals_on_push: false, merge_requests_disable_committers_approval: true }
  expectStatus(await at.maintainer.post(`${at.base}/approvals`, settings), 201)
  const user_ids = [at.maintainer.id, second.id, third.id]
  const rule = { name: 'Looked at', approvals_required: 1, user_ids }
  expectStatus(await at.maintainer.post(`${at.base}/approval_rules`, rule), 201)
  await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
  const shown = async (): Promise<Json> => expectStatus(await at.developer.get(`${at.one(1)}/approvals`), 200)
  expectStatus(await second.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')

  const write = async (who: Person, file: string) =>
    expectStatus(
      await who.post(`${at.base}/repository/files/${file}`, {
        ...{ branch: 'a', content: file, commit_message: file },
      }),
      201,
    )
  await write(second, 'mine')
  await eventually(async () => (await statusOf(at)) === 'not_approved')
  expect(await shown()).toMatchObject({ approved: false, approvals_left: 1, user_has_approved: false })
  const state = expectStatus(await at.developer.get(`${at.one(1)}/approval_state`), 200)
  expect(state['rules']).toMatchObject([{ approved: false, approved_by: [] }])
  // An address that stands for its holder names him, too.
  expectStatus(await world.root.put(`/users/${third.id}`, { commit_email: '_private' }), 200)
  await write(third, 'hidden')
  const mayApprove = async (who: Person): Promise<unknown> =>
    expectStatus(await who.get(`${at.one(1)}/approvals`), 200)['user_can_approve']
  await eventually(async () => !(await mayApprove(third)))
  expect((await third.post(`${at.one(1)}/approve`)).status).toBe(401)
  expect(await mayApprove(at.maintainer)).toBe(true)
  const open = { merge_requests_disable_committers_approval: false }
  expectStatus(await at.maintainer.post(`${at.base}/approvals`, open), 201)
  expect(await statusOf(at)).toBe('mergeable')
  expect(await shown()).toMatchObject({ approved: true, approvals_left: 0 })
})

test('the instance can leave all rules to its administrators', async () => {
  const at = await projects.make()
  await at.request({ 'a.txt': 'a\n' })
  const place = [`${at.base}/approval_rules`, `${at.one(1)}/approval_rules`]
  const rule = (name: string) => ({ name, approvals_required: 0, user_ids: [at.maintainer.id] })
  const make = async (who: Person, name: string) =>
    Promise.all(place.map(async (path) => (await who.post(path, rule(name))).status))
  await settingTo({ disable_overriding_approvers_per_merge_request: true }, async () => {
    expect(await make(at.maintainer, 'kept')).toEqual([403, 403])
    expect(await make(world.root, 'given')).toEqual([201, 201])
  })
  expect(await make(at.maintainer, 'free')).toEqual([201, 201])
})
