// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, roles, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld({ PLAN: 'premium' })
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const idOf = (thing: Json): number => thing['id'] as number
const deploying = (fields: Json = {}): Json => ({
  deploy: { script: ['x'], environment: { name: 'production' }, ...fields },
})
const maintainers = { deploy_access_levels: [{ access_level: 40 }] }

/** With a branch that everybody pushes to, and `main`, which is protected. */
async function deployed(config: Json = deploying()): Promise<CiProject> {
  const ci = await projects.make(config)
  await ci.push({ 'README.md': 'x' }, { to: 'free', options: ['ci.skip'] })
  return ci
}
const rulesOf = (ci: CiProject): string => `/projects/${ci.id}/protected_environments`
async function protect(ci: CiProject, fields: Json = maintainers): Promise<Json> {
  return expectStatus(await world.root.post(rulesOf(ci), { name: 'production', ...fields }), 201)
}
async function jobOf(ci: CiProject, pipeline: Json, name = 'deploy'): Promise<Json> {
  const { body } = await world.root.get(`/projects/${ci.id}/pipelines/${idOf(pipeline)}/jobs`)
  return (body as Json[]).find((one) => one['name'] === name)!
}
async function run(ci: CiProject, by: Person, ref = 'free'): Promise<{ pipeline: Json; job: Json }> {
  const pipeline = await ci.run(by, { ref })
  return { pipeline, job: await jobOf(ci, pipeline) }
}
async function deploymentOf(ci: CiProject, job: Json): Promise<Json> {
  const { body } = await world.root.get(`/projects/${ci.id}/deployments?order_by=id&sort=desc`)
  const found = (body as Json[]).find(({ deployable }) => (deployable as Json | null)?.['id'] === job['id'])!
  return (await world.root.get(`/projects/${ci.id}/deployments/${idOf(found)}`)).body as Json
}
const act = (ci: CiProject, by: Person, job: Json, what: 'play' | 'retry') =>
  by.post(`/projects/${ci.id}/jobs/${idOf(job)}/${what}`)

describe('rules of a project', () => {
  test('are made, read, listed, changed and taken away', async () => {
    const ci = await deployed()
    const user = await world.member(ci, 'developer')
    const group = await world.group()
    const sharing = { group_id: group.id, group_access: roles.reporter }
    expectStatus(await world.root.post(`/projects/${ci.id}/share`, sharing), 201)
    const made = await protect(ci, {
      deploy_access_levels: [
        { access_level: 40 },
        { user_id: user.id },
        { group_id: group.id, access_level: 40, group_inheritance_type: 1 },
      ],
      approval_rules: [{ group_id: group.id, required_approvals: 2 }, { access_level: 30 }],
    })
    const entry = (fields: Json): Json => ({
      id: expect.any(Number) as number,
      user_id: null,
      group_id: null,
      group_inheritance_type: 0,
      ...fields,
    })
    expect(made).toEqual({
      name: 'production',
      required_approval_count: 0,
      deploy_access_levels: [
        entry({ access_level: 40, access_level_description: 'Maintainers' }),
        entry({ access_level: 40, user_id: user.id, access_level_description: `Name of ${user.username}` }),
        entry({
          access_level: 40,
          group_id: group.id,
          access_level_description: group['name'],
          group_inheritance_type: 1,
        }),
      ],
      approval_rules: [
        entry({
          access_level: null,
          group_id: group.id,
          access_level_description: group['name'],
          required_approvals: 2,
        }),
        entry({
          access_level: 30,
          access_level_description: 'Developers + Maintainers',
          required_approvals: 1,
        }),
      ],
    })
    expect((await world.root.get(rulesOf(ci))).body).toEqual([made])
    const one = `${rulesOf(ci)}/production`
    expect((await world.root.get(one)).body).toEqual(made)

    const [level, ofUser] = made['deploy_access_levels'] as [Json, Json]
    const [rule, other] = made['approval_rules'] as [Json, Json]
    const changed = expectStatus(
      await world.root.put(one, {
        required_approval_count: 3,
        deploy_access_levels: [
          { id: idOf(level), access_level: 30 },
          { id: idOf(ofUser), _destroy: true },
          { access_level: 60 },
        ],
        approval_rules: [
          { id: idOf(rule), required_approvals: 1 },
          { id: idOf(other), _destroy: true },
        ],
      }),
      200,
    )
    expect(changed).toMatchObject({
      required_approval_count: 3,
      deploy_access_levels: [
        { id: idOf(level), access_level: 30 },
        { group_id: group.id },
        { access_level: 60, access_level_description: 'Instance admins' },
      ],
      approval_rules: [{ id: idOf(rule), group_id: group.id, required_approvals: 1 }],
    })
    expect((await world.root.delete(one)).status).toBe(204)
    expect((await world.root.get(one)).status).toBe(404)
  })

  test('may name an environment with slashes, once', async () => {
    const ci = await deployed()
    await protect(ci, { ...maintainers, name: 'review/one' })
    const again = await world.root.post(rulesOf(ci), { ...maintainers, name: 'review/one' })
    expect([again.status, again.body]).toEqual([
      409,
      { message: "Protected environment 'review/one' already exists" },
    ])
    expect((await world.root.get(`${rulesOf(ci)}/review%2Fone`)).body).toMatchObject({ name: 'review/one' })
  })

  test('name nobody whom the project does not know', async () => {
    const ci = await deployed()
    const stranger = await world.user()
    const group = await world.group()
    for (const [levels, status] of [
      [[{ user_id: stranger.id }], 422],
      [[{ group_id: group.id }], 422],
      [[{ user_id: 1_000_000 }], 422],
      [[{}], 422],
      [[], 422],
      [[{ access_level: 20 }], 400],
      [undefined, 400],
    ] as const) {
      const refused = await world.root.post(rulesOf(ci), { name: 'x', deploy_access_levels: levels })
      expect([refused.status, levels]).toEqual([status, levels])
    }
    expect((await world.root.get(rulesOf(ci))).body).toEqual([])
    await protect(ci)
    const missing = { deploy_access_levels: [{ id: 1_000_000, access_level: 30 }] }
    expect((await world.root.put(`${rulesOf(ci)}/production`, missing)).status).toBe(404)
  })

  test('are there on paid plans only', async () => {
    const ci = await deployed()
    const developer = await world.member(ci, 'developer')
    await protect(ci, { ...maintainers, required_approval_count: 1 })
    const free = await world.sibling({ PLAN: 'free' })
    expect((await world.root.get(`${free.address}/api/v4${rulesOf(ci)}`)).status).toBe(403)
    const { job } = await run(ci, developer)
    expect(job['status']).toBe('manual')
    expect(await deploymentOf(ci, job)).toMatchObject({ status: 'blocked' })
    const started = expectStatus(
      await developer.post(`${free.address}/api/v4/projects/${ci.id}/pipeline`, { ref: 'free' }),
      201,
    )
    const unhindered = await jobOf(ci, started)
    expect(unhindered).toMatchObject({ status: 'pending' })
    expect(await deploymentOf(ci, unhindered)).toMatchObject({ status: 'created' })
    expectStatus(await developer.post(`${free.address}/api/v4/projects/${ci.id}/jobs/${idOf(job)}/play`), 200)
  })
})

describe('a protected environment', () => {
  test('fails jobs of those who may not deploy to it when their turn comes', async () => {
    const ci = await deployed({
      build: { stage: 'build', script: ['x'] },
      ...deploying({ stage: 'deploy' }),
    })
    const [developer, maintainer] = await Promise.all([
      world.member(ci, 'developer'),
      world.member(ci, 'maintainer'),
    ])
    const runner = await RawRunner.forProject(world, ci.project)
    await protect(ci)
    const finish = async (by: Person): Promise<Json> => {
      const { pipeline } = await run(ci, by)
      const build = await runner.take()
      await build.end('success')
      return jobOf(ci, pipeline)
    }
    expect(await finish(developer)).toMatchObject({
      status: 'failed',
      failure_reason: 'protected_environment_failure',
    })
    expect(await finish(maintainer)).toMatchObject({ status: 'pending' })
  })

  test('fails those of the first stage as the pipeline is made, with their deployments', async () => {
    const ci = await deployed()
    const developer = await world.member(ci, 'developer')
    await protect(ci)
    const { job, pipeline } = await run(ci, developer)
    expect(job).toMatchObject({ status: 'failed', failure_reason: 'protected_environment_failure' })
    expect(job['finished_at']).not.toBeNull()
    expect(pipeline['status']).toBe('failed')
    expect(await deploymentOf(ci, job)).toMatchObject({ status: 'failed' })
  })

  test('fails delayed jobs when their time has come', async () => {
    const ci = await deployed(deploying({ when: 'delayed', start_in: '1 day' }))
    const developer = await world.member(ci, 'developer')
    const { job, pipeline } = await run(ci, developer)
    expect(job['status']).toBe('scheduled')
    await protect(ci)
    await enqueue(world.service.services.db.writer, 'ci:start-delayed-job', { job: idOf(job) })
    await until(
      () => jobOf(ci, pipeline),
      ({ status, failure_reason: reason }) =>
        status === 'failed' && reason === 'protected_environment_failure',
    )
  })

  test('is deployed to by hand by those it names, and nobody else', async () => {
    const ci = await deployed(deploying({ when: 'manual' }))
    const operators = await world.group()
    const sharing = { group_id: operators.id, group_access: roles.reporter }
    expectStatus(await world.root.post(`/projects/${ci.id}/share`, sharing), 201)
    const [developer, maintainer, operator, reporter, named] = await Promise.all([
      world.member(ci, 'developer'),
      world.member(ci, 'maintainer'),
      world.member({ group: operators }, 'reporter'),
      world.member(ci, 'reporter'),
      world.member(ci, 'developer'),
    ])
    await protect(ci, { deploy_access_levels: [{ group_id: operators.id }, { user_id: named.id }] })
    const { job } = await run(ci, world.root, 'main')
    expect(job['status']).toBe('manual')
    for (const person of [developer, maintainer, reporter]) {
      expect((await act(ci, person, job, 'play')).status).toBe(403)
    }
    // Who deploys need not be allowed to push to the branch.
    expectStatus(await act(ci, operator, job, 'play'), 200)
    const second = await run(ci, world.root, 'main')
    expectStatus(await act(ci, named, second.job, 'play'), 200)

    await world.root.post(`/projects/${ci.id}/jobs/${idOf(job)}/cancel`)
    expect((await act(ci, maintainer, job, 'retry')).status).toBe(403)
    const again = `/projects/${ci.id}/pipelines/${idOf(job['pipeline'] as Json)}/retry`
    expectStatus(await maintainer.post(again), 201)
    expect(await jobOf(ci, job['pipeline'] as Json)).toMatchObject({ id: idOf(job), status: 'canceled' })
    expectStatus(await act(ci, operator, job, 'retry'), 201)

    const unshared = await world.root.delete(`/projects/${ci.id}/share/${operators.id}`)
    expect(unshared.status).toBe(204)
    const third = await run(ci, world.root, 'main')
    expect((await act(ci, operator, third.job, 'play')).status).toBe(404)
  })

  test('leaves what is not deployed to it alone', async () => {
    const ci = await deployed({
      ...deploying(),
      other: { script: ['x'], environment: { name: 'staging' } },
      later: { script: ['x'], when: 'manual' },
    })
    const [developer, reporter] = await Promise.all([
      world.member(ci, 'developer'),
      world.member(ci, 'reporter'),
    ])
    await protect(ci)
    const { pipeline } = await run(ci, developer)
    expect(await jobOf(ci, pipeline, 'other')).toMatchObject({ status: 'pending' })
    const later = await jobOf(ci, pipeline, 'later')
    expect((await act(ci, reporter, later, 'play')).status).toBe(403)
    expectStatus(await act(ci, developer, later, 'play'), 200)
  })

  test('takes no word of deployments from others, and is not stopped by them', async () => {
    const ci = await deployed()
    const [developer, maintainer] = await Promise.all([
      world.member(ci, 'developer'),
      world.member(ci, 'maintainer'),
    ])
    await protect(ci)
    const told = { environment: 'production', sha: ci.sha, ref: 'main', tag: false, status: 'running' }
    const list = `/projects/${ci.id}/deployments`
    expect((await developer.post(list, told)).status).toBe(403)
    const made = expectStatus(await maintainer.post(list, told), 201)
    expect((await developer.put(`${list}/${idOf(made)}`, { status: 'success' })).status).toBe(403)
    expectStatus(await maintainer.put(`${list}/${idOf(made)}`, { status: 'success' }), 200)
    const environment = `/projects/${ci.id}/environments/${idOf(made['environment'] as Json)}`
    expect((await developer.post(`${environment}/stop`)).status).toBe(403)
    expectStatus(await maintainer.post(`${environment}/stop`), 200)
    expect((await developer.delete(environment)).status).toBe(403)
    expect((await maintainer.delete(environment)).status).toBe(204)
  })
})

describe('rules of a group', () => {
  test('name a tier, and hold besides those of the project', async () => {
    const ci = await deployed(deploying({ when: 'manual' }))
    const groupId = idOf(ci.project['namespace'] as Json)
    const list = `/groups/${groupId}/protected_environments`
    expect((await world.root.post(list, { name: 'gprd', ...maintainers })).status).toBe(400)
    const made = expectStatus(await world.root.post(list, { name: 'production', ...maintainers }), 201)
    expect((await world.root.get(list)).body).toEqual([made])
    expect((await world.root.get(`${list}/production`)).body).toEqual(made)

    const inProject = await world.member(ci, 'maintainer')
    const inGroup = await world.member({ group: { id: groupId } }, 'maintainer')
    const { job } = await run(ci, world.root)
    // The roles of the group count for its rules.
    expect((await act(ci, inProject, job, 'play')).status).toBe(403)
    await protect(ci, { deploy_access_levels: [{ user_id: inProject.id }] })
    expect((await act(ci, inGroup, job, 'play')).status).toBe(403)
    const entry = (made['deploy_access_levels'] as Json[])[0]!
    const changes = { deploy_access_levels: [{ id: idOf(entry), _destroy: true }] }
    expect((await world.root.put(`${list}/production`, changes)).body).toMatchObject({
      deploy_access_levels: [],
    })
    expect((await act(ci, inProject, job, 'play')).status).toBe(403)
    expect((await world.root.delete(`${list}/production`)).status).toBe(204)
    expectStatus(await act(ci, inProject, job, 'play'), 200)
  })

  test('name Maintainers of the group and groups below it', async () => {
    const group = await world.group()
    const list = `/groups/${group.id}/protected_environments`
    const [developer, maintainer] = await Promise.all([
      world.member({ group }, 'developer'),
      world.member({ group }, 'maintainer'),
    ])
    const elsewhere = await world.group()
    const below = await world.group({ parent_id: group.id })
    const post = (entry: Json) => world.root.post(list, { name: 'staging', deploy_access_levels: [entry] })
    expect((await post({ user_id: developer.id })).status).toBe(422)
    expect((await post({ group_id: elsewhere.id })).status).toBe(422)
    expect((await post({ group_id: group.id })).status).toBe(422)
    expectStatus(await post({ group_id: below.id }), 201)
    const more = { deploy_access_levels: [{ user_id: maintainer.id }] }
    expectStatus(await world.root.put(`${list}/staging`, more), 200)
  })
})

describe('who may deploy', () => {
  test('is explained, with the entries that decide', async () => {
    const ci = await deployed()
    const groupId = idOf(ci.project['namespace'] as Json)
    const [maintainer, developer, stranger] = await Promise.all([
      world.member({ group: { id: groupId } }, 'maintainer'),
      world.member(ci, 'developer'),
      world.user(),
    ])
    const explained = async (person: Person, by: Person = maintainer): Promise<Json> =>
      expectStatus(await by.get(`${rulesOf(ci)}/production/explain?user_id=${person.id}`), 200)
    const unprotected = { environment: 'production', tier: 'production', rules: [] }
    expect(await explained(developer)).toEqual({ ...unprotected, user_id: developer.id, allowed: true })
    expect(await explained(stranger)).toEqual({ ...unprotected, user_id: stranger.id, allowed: false })

    await protect(ci, {
      deploy_access_levels: [{ access_level: 40 }, { user_id: developer.id }],
      approval_rules: [{ access_level: 40 }],
    })
    const list = `/groups/${groupId}/protected_environments`
    expectStatus(await world.root.post(list, { name: 'production', ...maintainers }), 201)
    expect(await explained(developer)).toMatchObject({
      allowed: false,
      rules: [
        {
          source_type: 'project',
          source_full_path: ci.project['path_with_namespace'],
          allowed: true,
          deploy_access_levels: [
            { access_level: 40, admits: false },
            { user_id: developer.id, admits: true },
          ],
          approval_rules: [{ access_level: 40, required_approvals: 1, admits: false }],
        },
        { source_type: 'group', allowed: false, deploy_access_levels: [{ admits: false }] },
      ],
    })
    expect(await explained(maintainer)).toMatchObject({
      allowed: true,
      rules: [{ allowed: true, approval_rules: [{ admits: true }] }, { allowed: true }],
    })
    expect(await explained(world.root)).toMatchObject({ allowed: true })
    expect(await explained(stranger)).toMatchObject({ allowed: false })
    const nobody = await maintainer.get(`${rulesOf(ci)}/production/explain?user_id=1000000`)
    expect(nobody.status).toBe(404)
  })
})

describe('approvals', () => {
  const approvalOf = (ci: CiProject, deployment: Json): string =>
    `/projects/${ci.id}/deployments/${idOf(deployment)}/approval`

  test('are waited for, and then the job by those who may start it', async () => {
    const ci = await deployed()
    const [author, approver, maintainer] = await Promise.all([
      world.member(ci, 'maintainer'),
      world.member(ci, 'maintainer'),
      world.member(ci, 'maintainer'),
    ])
    const developer = await world.member(ci, 'developer')
    await protect(ci, { ...maintainers, required_approval_count: 2 })
    const { job, pipeline } = await run(ci, author)
    expect([job['status'], pipeline['status']]).toEqual(['manual', 'manual'])
    const waiting = await deploymentOf(ci, job)
    expect(waiting).toMatchObject({ status: 'blocked', pending_approval_count: 2, approvals: [] })
    expect(waiting['approval_summary']).toBeUndefined()
    expect((await act(ci, author, job, 'play')).status).toBe(400)

    const path = approvalOf(ci, waiting)
    expect((await author.post(path, { status: 'approved' })).status).toBe(403)
    expect((await developer.post(path, { status: 'approved' })).status).toBe(403)
    expect((await approver.post(path, { status: 'maybe' })).status).toBe(400)
    const given = expectStatus(await approver.post(path, { status: 'approved', comment: 'Looks good' }), 201)
    expect(given).toMatchObject({ user: { id: approver.id }, status: 'approved', comment: 'Looks good' })
    // Everybody has one.
    expectStatus(await approver.post(path, { status: 'approved', comment: 'Looks good' }), 201)
    expect(await deploymentOf(ci, job)).toMatchObject({
      status: 'blocked',
      pending_approval_count: 1,
      approvals: [{ user: { id: approver.id }, status: 'approved', comment: 'Looks good' }],
    })
    expectStatus(await maintainer.post(path, { status: 'approved' }), 201)
    expect(await deploymentOf(ci, job)).toMatchObject({ status: 'created', pending_approval_count: 0 })
    expect((await maintainer.post(path, { status: 'approved' })).status).toBe(400)
    expect(await jobOf(ci, pipeline)).toMatchObject({ status: 'manual' })
    expectStatus(await act(ci, author, job, 'play'), 200)
    expect(await jobOf(ci, pipeline)).toMatchObject({ status: 'pending' })
  })

  test('of each rule are counted by itself', async () => {
    const ci = await deployed(deploying({ when: 'manual' }))
    const [quality, security] = [await world.group(), await world.group()]
    for (const { id } of [quality, security]) {
      const sharing = { group_id: id, group_access: roles.reporter }
      expectStatus(await world.root.post(`/projects/${ci.id}/share`, sharing), 201)
    }
    const [one, both] = [
      await world.member({ group: quality }, 'reporter'),
      await world.member({ group: quality }, 'reporter'),
    ]
    const membership = { user_id: both.id, access_level: roles.reporter }
    expectStatus(await world.root.post(`/groups/${security.id}/members`, membership), 201)
    await protect(ci, {
      ...maintainers,
      approval_rules: [{ group_id: quality.id }, { group_id: security.id }],
    })
    const { job } = await run(ci, world.root)
    const waiting = await deploymentOf(ci, job)
    expect(waiting).toMatchObject({
      status: 'blocked',
      pending_approval_count: 2,
      approval_summary: {
        rules: [
          { group_id: quality.id, required_approvals: 1, deployment_approvals: [] },
          { group_id: security.id, access_level_description: security['name'], deployment_approvals: [] },
        ],
      },
    })
    const path = approvalOf(ci, waiting)
    expect((await one.post(path, { status: 'approved', represented_as: security['name'] })).status).toBe(400)
    expectStatus(await one.post(path, { status: 'approved' }), 201)
    expectStatus(await both.post(path, { status: 'approved', represented_as: security['name'] }), 201)
    expect(await deploymentOf(ci, job)).toMatchObject({
      status: 'created',
      approval_summary: {
        rules: [
          { deployment_approvals: [{ user: { id: one.id } }] },
          { deployment_approvals: [{ user: { id: both.id } }] },
        ],
      },
    })
    expectStatus(await act(ci, await world.member(ci, 'maintainer'), job, 'play'), 200)
  })

  test('that are refused end the deployment; one that is tried again waits again', async () => {
    const ci = await deployed()
    const [author, approver] = await Promise.all([
      world.member(ci, 'maintainer'),
      world.member(ci, 'maintainer'),
    ])
    await protect(ci, { ...maintainers, approval_rules: [{ access_level: 40 }] })
    const { job, pipeline } = await run(ci, author)
    const path = approvalOf(ci, await deploymentOf(ci, job))
    expectStatus(await approver.post(path, { status: 'rejected', comment: 'Not on a Friday' }), 201)
    expect(await jobOf(ci, pipeline)).toMatchObject({
      status: 'failed',
      failure_reason: 'deployment_rejected',
    })
    expect(await deploymentOf(ci, job)).toMatchObject({
      status: 'failed',
      approvals: [{ status: 'rejected', comment: 'Not on a Friday' }],
    })
    const again = expectStatus(await act(ci, author, job, 'retry'), 201)
    expect(await jobOf(ci, pipeline)).toMatchObject({ id: idOf(again), status: 'manual' })
    expect(await deploymentOf(ci, again)).toMatchObject({ status: 'blocked', approvals: [] })
  })

  test('are given by who started the pipeline, too, where the project lets them', async () => {
    const ci = await deployed()
    const author = await world.member(ci, 'maintainer')
    await protect(ci, { ...maintainers, required_approval_count: 1 })
    const { job } = await run(ci, author)
    const path = approvalOf(ci, await deploymentOf(ci, job))
    const lets = { allow_pipeline_trigger_approve_deployment: true }
    expect((await author.post(path, { status: 'approved' })).status).toBe(403)
    expectStatus(await world.root.put(`/projects/${ci.id}`, lets), 200)
    expectStatus(await author.post(path, { status: 'approved' }), 201)
  })

  test('are not asked for where nothing is protected', async () => {
    const ci = await deployed(deploying({ when: 'manual' }))
    const { job } = await run(ci, world.root)
    const refused = await world.root.post(approvalOf(ci, await deploymentOf(ci, job)), { status: 'approved' })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: '400 Bad request - This environment is not protected.' },
    ])
    const { rows } = await sql`select from deployment_approvals a join deployments d on d.id = a.deployment_id
      where d.project_id = ${ci.id}`.execute(world.service.services.db.writer)
    expect(rows).toEqual([])
  })
})
