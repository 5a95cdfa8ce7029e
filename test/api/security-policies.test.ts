// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { pushSigned } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let projects: MergeProjects
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
})
afterAll(() => world[Symbol.asyncDispose]())

const file = '.gitlab/security-policies/policy.yml'
const everywhere = { type: 'any_merge_request', branches: [], commits: 'any' }
const policy = (action: Json, fields: Json = {}): Json => ({
  name: 'Two eyes',
  enabled: true,
  rules: [everywhere],
  actions: [{ type: 'require_approval', approvals_required: 1, ...action }],
  ...fields,
})
// JSON is YAML.
const write = (policies: readonly Json[]): string => JSON.stringify({ approval_policy: policies })

async function source(policies: readonly Json[]): Promise<Made> {
  const project = await world.project({ initialize_with_readme: true })
  await say(project, policies, 'create')
  return project
}

async function say(
  project: Made,
  policies: readonly Json[],
  as: 'create' | 'update' = 'update',
): Promise<void> {
  const actions = [{ action: as, file_path: file, content: write(policies) }]
  const commit = { branch: 'main', commit_message: 'Say who approves', actions }
  expectStatus(await world.root.post(`/projects/${project.id}/repository/commits`, commit), 201)
  await world.settled()
}

const link = async (path: string, project: Made): Promise<Json[]> => {
  const reply = await world.root.put(`${path}/security_policies`, { policy_project_id: project.id })
  return expectStatus(reply, 200)['sources'] as Json[]
}
const statusOf = async (at: MergeProject, iid: unknown = 1): Promise<unknown> =>
  expectStatus(await at.developer.get(at.one(iid as number)), 200)['detailed_merge_status']

test('hold a merge until those whom they name have approved', async () => {
  const at = await projects.make()
  const policies = await source([policy({ user_approvers: [at.maintainer.username.toUpperCase()] })])
  expect(await link(at.base, policies)).toMatchObject([
    {
      kind: 'project',
      id: at.id,
      own: true,
      policy_project_id: policies.id,
      problem: null,
      policies: [{ name: 'Two eyes', active: true, reason: null }],
    },
  ])
  await at.request({ 'a.txt': 'a\n' })
  expect(await statusOf(at)).toBe('not_approved')
  expect((await at.merge(1)).status).toBe(405)
  const { rules } = expectStatus(await at.developer.get(`${at.one(1)}/approval_state`), 200)
  expect(rules).toMatchObject([
    {
      name: 'Two eyes',
      rule_type: 'report_approver',
      report_type: 'any_merge_request',
      approvals_required: 1,
      eligible_approvers: [{ id: at.maintainer.id }],
      approved: false,
    },
  ])

  const rule = `${at.one(1)}/approval_rules/${rules[0].id as number}`
  expect((await world.root.put(rule, { approvals_required: 0 })).status).toBe(404)
  expect((await world.root.delete(rule)).status).toBe(404)
  const own = { name: 'x', approvals_required: 0, approval_project_rule_id: rules[0].id as unknown }
  expect((await world.root.post(`${at.one(1)}/approval_rules`, own)).status).toBe(404)
  const ofProject = `${at.base}/approval_rules`
  expect(expectStatus(await world.root.get(ofProject), 200)).toEqual([])
  expect((await world.root.delete(`${ofProject}/${rules[0].id as number}`)).status).toBe(404)

  expectStatus(await (await world.member(at, 'developer')).post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('not_approved')
  expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')
  expectStatus(await at.merge(1), 200)
})

test('change with the file, and tell why they do nothing', async () => {
  const at = await projects.make()
  const asked = { role_approvers: ['maintainer'] }
  const policies = await source([policy(asked)])
  await link(at.base, policies)
  await at.request({ 'a.txt': 'a\n' })
  expect(await statusOf(at)).toBe('not_approved')
  const told = async (): Promise<Json> => {
    const { sources } = expectStatus(await world.root.get(`${at.base}/security_policies`), 200)
    return sources[0] as Json
  }
  const scanning = { rules: [{ type: 'scan_finding', branches: [] }] }
  await say(policies, [policy(asked, { enabled: false }), policy(asked, scanning), { name: 'Broken' }])
  expect(await statusOf(at)).toBe('mergeable')
  expect((await told())['policies']).toMatchObject([
    { active: false, reason: 'It is not enabled' },
    { active: false, reason: 'No rule is of type any_merge_request' },
    { active: false, enabled: false, reason: 'It is not enabled' },
  ])
  // Nobody is Reporter, so nobody could approve.
  await say(policies, [policy({ role_approvers: ['reporter'] })])
  expect(await statusOf(at)).toBe('not_approved')
  await say(policies, [policy({ role_approvers: ['reporter'] }, { fallback_behavior: { fail: 'open' } })])
  expect(await statusOf(at)).toBe('mergeable')
  const remove = { branch: 'main', commit_message: 'End', actions: [{ action: 'delete', file_path: file }] }
  expectStatus(await world.root.post(`/projects/${policies.id}/repository/commits`, remove), 201)
  await world.settled()
  expect(await told()).toMatchObject({ problem: `There is no ${file}`, policies: [] })
})

test('hold for all projects of a group, for those in scope and branches that fit', async () => {
  const at = await projects.make()
  const group = `/groups/${at.project['namespace'].id as number}`
  const asked = { role_approvers: ['maintainer'] }
  const policies = await source([policy(asked)])
  expect(await link(group, policies)).toMatchObject([{ kind: 'group', own: true }])
  const { sources } = expectStatus(await world.root.get(`${at.base}/security_policies`), 200)
  expect(sources).toMatchObject([{ kind: 'group', own: false, policies: [{ active: true }] }])
  await at.request({ 'a.txt': 'a\n' })
  await at.branch({ 'x.txt': 'x\n' }, 'other')
  const open = await at.request({ 'b.txt': 'b\n' }, { target_branch: 'other' })
  const holds = async (fields: Json): Promise<boolean> => {
    await say(policies, [policy(asked, fields)])
    return (await statusOf(at)) === 'not_approved'
  }
  expect(await statusOf(at)).toBe('not_approved')
  expect(await statusOf(at, open['iid'])).not.toBe('not_approved')
  expect(await holds({ policy_scope: { projects: { excluding: [{ id: at.id }] } } })).toBe(false)
  expect(await holds({ policy_scope: { projects: { including: [{ id: at.id }] } } })).toBe(true)
  expect(await holds({ policy_scope: { projects: { including: [{ id: policies.id }] } } })).toBe(false)
  const rule = (fields: Json): Json => ({ rules: [{ type: 'any_merge_request', commits: 'any', ...fields }] })
  expect(await holds(rule({ branches: ['release'] }))).toBe(false)
  expect(await holds(rule({ branches: ['ma*'] }))).toBe(true)
  expect(await holds(rule({ branch_type: 'default', branch_exceptions: ['main'] }))).toBe(false)
  const elsewhere = { name: 'main', full_path: policies.path_with_namespace }
  expect(await holds(rule({ branch_type: 'default', branch_exceptions: [elsewhere] }))).toBe(true)
  expect((await world.root.delete(`${at.base}/security_policies`)).status).toBe(404)
  expect((await world.root.delete(`${group}/security_policies`)).status).toBe(204)
  expect(await statusOf(at)).toBe('mergeable')
})

test('may be about requests with unsigned commits only', async () => {
  const at = await projects.make()
  const rules = [{ ...everywhere, commits: 'unsigned' }]
  await link(at.base, await source([policy({ role_approvers: ['maintainer'] }, { rules })]))
  await at.request({ 'a.txt': 'a\n' })
  expect(await statusOf(at)).toBe('not_approved')
  await pushSigned(world, at.project, 'signed')
  const request = { source_branch: 'signed', target_branch: 'main', title: 'Signed' }
  const signed = expectStatus(await at.developer.post(at.path, request), 201)
  const { rules: held } = expectStatus(
    await at.developer.get(`${at.one(signed['iid'] as number)}/approval_state`),
    200,
  )
  expect(held).toEqual([])
})

test('are taken from projects only whose code one may read', async () => {
  const at = await projects.make()
  const owner = await world.member(at, 'owner')
  const policies = await source([])
  const path = `${at.base}/security_policies`
  expect((await owner.put(path, { policy_project_id: policies.id })).status).toBe(404)
  expect((await at.maintainer.put(path, { policy_project_id: at.id })).status).toBe(403)
  const linked = await owner.put(path, { policy_project_id: at.fullPath })
  expect(expectStatus(linked, 200)).toMatchObject({ sources: [{ problem: `There is no ${file}` }] })
})

test('security_approval_policies_limit: only so many enabled policies take effect', async () => {
  const at = await projects.make()
  const nothing = policy({ role_approvers: ['maintainer'], approvals_required: 0 })
  const last = policy({ role_approvers: ['maintainer'] }, { name: 'Last' })
  const idle = { ...nothing, enabled: false }
  const policies = await source([idle, ...Array.from({ length: 5 }, () => nothing), last])
  const standing = async (): Promise<Json> => (await link(at.base, policies))[0]!['policies'][6] as Json
  expect(await standing()).toMatchObject({
    active: false,
    reason: 'Only the first 5 enabled policies take effect',
  })
  await at.request({ 'a.txt': 'a\n' })
  expect(await statusOf(at)).toBe('mergeable')
  await during(world, { security_approval_policies_limit: 6 }, async () => {
    expect(await standing()).toMatchObject({ active: true, reason: null })
    expect(await statusOf(at)).toBe('not_approved')
    expect((await at.merge(1)).status).toBe(405)
  })
  expect(await statusOf(at)).toBe('mergeable')
  expectStatus(await at.merge(1), 200)
})

test('security_policy_global_group_approvers_enabled: approvers are groups of the whole instance', async () => {
  const at = await projects.make()
  const outside = await world.group()
  const approver = await world.member({ group: outside }, 'developer')
  const member = { user_id: approver.id, access_level: 30 }
  expectStatus(await world.root.post(`${at.base}/members`, member), 201)
  await link(at.base, await source([policy({ group_approvers: [outside.full_path] })]))
  await at.request({ 'a.txt': 'a\n' })
  expect(await statusOf(at)).toBe('not_approved')
  expectStatus(await approver.post(`${at.one(1)}/approve`), 201)
  expect(await statusOf(at)).toBe('mergeable')
  await during(world, { security_policy_global_group_approvers_enabled: false }, async () => {
    expect(await statusOf(at)).toBe('not_approved')
    expect((await at.merge(1)).status).toBe(405)
    expect(expectStatus(await at.developer.get(`${at.one(1)}/approval_state`), 200)).toMatchObject({
      rules: [{ eligible_approvers: [], approved: false }],
    })
  })
  expect(await statusOf(at)).toBe('mergeable')
  expectStatus(await at.merge(1), 200)
})
