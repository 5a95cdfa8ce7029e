import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { permissions } from '../../src/access/index.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const run = promisify(execFile)

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const noPermissions = Object.fromEntries(permissions.map((permission) => [permission, false]))

async function role(
  place: '/member_roles' | `/groups/${number}/member_roles`,
  fields: Json = {},
): Promise<Json> {
  const body = { name: world.unique('role'), base_access_level: 10, ...fields }
  return expectStatus(await world.root.post(place, body), 201)
}

const message = (reply: Reply): [number, unknown] => [reply.status, bodyOf(reply)['message']]

describe('roles of the instance', () => {
  test('are made with name, base and permissions, listed, changed and deleted', async () => {
    const made = await role('/member_roles', { name: 'Auditor', description: 'Looks', read_code: true })
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'Auditor',
      description: 'Looks',
      group_id: null,
      base_access_level: 10,
      ...noPermissions,
      read_code: true,
    })
    const at = `/member_roles/${made['id']}`
    expect(rowsOf(await world.root.get('/member_roles'))).toContainEqual(made)
    expect(
      message(await world.root.post('/member_roles', { name: 'Auditor', base_access_level: 20 })),
    ).toEqual([400, 'Name has already been taken'])
    const changed = await world.root.put(at, { name: 'Reader', read_code: false, read_runners: true })
    expect(bodyOf(changed)).toMatchObject({ name: 'Reader', read_code: false, read_runners: true })
    expect(bodyOf(await world.root.patch(at, { description: '' }))).toMatchObject({ read_runners: true })
    expect(message(await world.root.put(at, { name: 'x', base_access_level: 20 }))).toEqual([
      400,
      'Base access level cannot be changed. Please create a new Member Role instead.',
    ])
    const nothing = bodyOf(await world.root.put(at, {}))['error'] as string
    expect(nothing).toMatch(/^name, description, .*are missing, at least one parameter must be provided$/)
    expect((await world.root.delete(at)).status).toBe(204)
    expect(message(await world.root.delete(at))).toEqual([404, '404 Member Role Not Found'])
  })

  test('refuse what no role can be', async () => {
    const refused = async (fields: Json): Promise<[number, unknown]> => {
      const { status, body } = await world.root.post('/member_roles', fields)
      return [status, body]
    }
    expect(await refused({ base_access_level: 10 })).toEqual([400, { error: 'name is missing' }])
    expect(await refused({ name: 'x' })).toEqual([400, { error: 'base_access_level is missing' }])
    expect(await refused({ name: 'x', base_access_level: 25 })).toEqual([
      400,
      { error: 'base_access_level does not have a valid value' },
    ])
    expect(await refused({ name: 'x', base_access_level: 10, read_code: 'perhaps' })).toEqual([
      400,
      { error: 'read_code is invalid' },
    ])
    expect(await refused({ name: ' ', base_access_level: 10 })).toEqual([
      400,
      { message: "Name can't be blank" },
    ])
    expect(await refused({ name: 'x', base_access_level: 20, admin_vulnerability: true })).toEqual([
      400,
      { message: 'Read vulnerability has to be enabled in order to enable Admin vulnerability' },
    ])
    await role('/member_roles', { name: 'Taken twice' })
    const faults =
      'Name has already been taken, Read vulnerability has to be enabled in order to enable Admin vulnerability'
    expect(await refused({ name: 'Taken twice', base_access_level: 20, admin_vulnerability: true })).toEqual([
      400,
      { message: faults },
    ])
    const other = await role('/member_roles')
    expect(
      message(
        await world.root.put(`/member_roles/${other['id']}`, {
          name: 'Taken twice',
          admin_vulnerability: true,
        }),
      ),
    ).toEqual([400, faults])
    // A Developer reads them anyway.
    await role('/member_roles', { base_access_level: 30, admin_vulnerability: true })
    expect((await world.root.delete('/member_roles/many')).body).toEqual({
      error: 'member_role_id is invalid',
    })
  })

  test('admin_security_testing counts only while its flag is on', async () => {
    const wanted = { admin_security_testing: true }
    expect(await role('/member_roles', wanted)).not.toHaveProperty('admin_security_testing')
    const { settings } = world.service.services
    await settings.switch('custom_ability_admin_security_testing', true)
    expect(await role('/member_roles', wanted)).toMatchObject(wanted)
    await settings.switch('custom_ability_admin_security_testing', false)
  })
})

describe('roles of a group', () => {
  test('live at the top, at most ten of them, and stay among themselves', async () => {
    const group = await world.group()
    const below = await world.group({ parent_id: group.id })
    const other = await world.group()
    expect(message(await world.root.post(`/groups/${below.id}/member_roles`, { name: 'x' }))).toEqual([
      400,
      'Namespace must be top-level namespace',
    ])
    const first = bodyOf(await world.root.post(`/groups/${group.id}/member_roles`, { name: 'first' }))
    expect(first).toMatchObject({ base_access_level: 10, group_id: group.id })
    for (let number = 1; number < 10; number += 1) await role(`/groups/${group.id}/member_roles`)
    expect(message(await world.root.post(`/groups/${group.id}/member_roles`, { name: 'eleventh' }))).toEqual([
      400,
      'Namespace maximum number of Member Roles are already in use by the group hierarchy. Please delete an existing Member Role.',
    ])
    expect(rowsOf(await world.root.get(`/groups/${group.id}/member_roles`))).toHaveLength(10)
    expect((await world.root.delete(`/groups/${other.id}/member_roles/${first['id']}`)).status).toBe(404)
    await role(`/groups/${other.id}/member_roles`, { name: 'first' })
  })

  test('belong to the top plan', async () => {
    const premium = await world.sibling({ PLAN: 'premium' })
    const api = `${premium.address}/api/v4`
    expect((await world.root.get(`${api}/member_roles`)).status).toBe(403)
    const { id: member_role_id } = await role('/member_roles')
    const group = await world.group()
    const { id: user_id } = await world.user()
    const added = await world.root.post(`${api}/groups/${group.id}/members`, {
      user_id,
      access_level: 10,
      member_role_id,
    })
    expect([added.status, bodyOf(added)['member_role']]).toEqual([201, undefined])
  })
})

describe('a member with a role', () => {
  async function scene(fields: Json = { read_code: true }) {
    const group = await world.group()
    const held = await role(`/groups/${group.id}/member_roles`, fields)
    const person = await world.user()
    return { group, held, person, members: `/groups/${group.id}/members` }
  }

  test('shows it, changes it with the level, and keeps it from being deleted', async () => {
    const { group, held, person, members } = await scene()
    const at = `${members}/${person.id}`
    const add = (access_level: number) =>
      world.root.post(members, { user_id: person.id, access_level, member_role_id: held['id'] })
    expect(message(await add(20))).toEqual([
      400,
      { member_role_id: ["role's base access level does not match the access level of the membership"] },
    ])
    expect(bodyOf(await add(10))).toMatchObject({ access_level: 10, member_role: held })
    for (const list of [members, `${members}/all`, `${members}?query=${person.username}`]) {
      expect(rowsOf(await world.root.get(list)).find(({ id }) => id === person.id)).toMatchObject({
        member_role: held,
      })
    }
    const deletion = () => world.root.delete(`/groups/${group.id}/member_roles/${held['id']}`)
    expect(message(await deletion())).toEqual([
      400,
      'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
    ])
    expect(message(await world.root.put(at, { access_level: 20 }))).toEqual([
      400,
      { access_level: ['cannot be changed since member is associated with a custom role'] },
    ])
    expect(bodyOf(await world.root.put(at, { access_level: 10 }))).toHaveProperty('member_role')
    const detached = await world.root.put(at, { access_level: 20, member_role_id: null })
    expect(bodyOf(detached)).toMatchObject({ access_level: 20 })
    expect(bodyOf(detached)).not.toHaveProperty('member_role')
    expect((await deletion()).status).toBe(204)
  })

  test('has a role of his own tree, or of the instance', async () => {
    const { held, person } = await scene()
    const project = await world.project()
    const add = (member_role_id: unknown) =>
      world.root.post(`/projects/${project.id}/members`, {
        user_id: person.id,
        access_level: 10,
        member_role_id,
      })
    expect(message(await add(held['id']))).toEqual([
      400,
      { member_namespace: ["must be in same hierarchy as custom role's namespace"] },
    ])
    expect(message(await add(4711))).toEqual([404, '404 Member Role Not Found'])
    expect((await add((await role('/member_roles'))['id'])).status).toBe(201)
  })

  test('is invited with it, and gets it when he signs up', async () => {
    const { group, held } = await scene()
    const email = `${world.unique('invited')}@example.com`
    const fields = { email, access_level: 10, member_role_id: held['id'] }
    expectStatus(await world.root.post(`/groups/${group.id}/invitations`, fields), 201)
    const { id } = await world.user({ email })
    expect(bodyOf(await world.root.get(`/groups/${group.id}/members/${id}`))['member_role']).toEqual(held)
  })

  test('keeps it through a share that leaves his level, and gets the one of a share that lowers it', async () => {
    const { group, held, person, members } = await scene()
    expectStatus(
      await world.root.post(members, { user_id: person.id, access_level: 10, member_role_id: held['id'] }),
      201,
    )
    const developer = await world.member({ group }, 'developer')
    const project = await world.project()
    const its = await role('/member_roles', { read_code: true, archive_project: true })
    const shared = await world.root.post(`/projects/${project.id}/share`, {
      group_id: group.id,
      group_access: 10,
      member_role_id: its['id'],
    })
    expect(bodyOf(shared)['member_role_id']).toBe(its['id'])
    const shown = async (id: number) =>
      bodyOf(await world.root.get(`/projects/${project.id}/members/all/${id}`))['member_role'] as unknown
    expect(await shown(person.id)).toEqual(held)
    expect(await shown(developer.id)).toEqual(its)
    expect((await person.post(`/projects/${project.id}/archive`)).status).toBe(403)
  })

  test('takes a seat as soon as it gives more than to read code', async () => {
    const { group, person, members, held } = await scene()
    await world.root.post(members, { user_id: person.id, access_level: 10, member_role_id: held['id'] })
    const seated = async () =>
      rowsOf(await world.root.get(`/groups/${group.id}/billable_members`)).some(({ id }) => id === person.id)
    expect(await seated()).toBe(false)
    await world.root.put(`/groups/${group.id}/member_roles/${held['id']}`, { read_runners: true })
    expect(await seated()).toBe(true)
    const row = await world.root.get(`${members}/all?show_seat_info=true&user_ids=${person.id}`)
    expect(rowsOf(row)[0]).toMatchObject({ is_using_seat: true })
  })

  test('who looks after members through it gives no more than he has', async () => {
    const { group, held, person, members } = await scene({ admin_group_member: true, base_access_level: 20 })
    await world.root.post(members, { user_id: person.id, access_level: 20, member_role_id: held['id'] })
    const other = await world.user()
    const add = (fields: Json) => person.post(members, { user_id: other.id, ...fields })
    expect([(await add({ access_level: 30 })).status, (await add({ access_level: 30 })).body]).toEqual([
      400,
      {
        message: "the member access level can't be higher than the current user's one",
        status: 'error',
      },
    ])
    const more = await role(`/groups/${group.id}/member_roles`, { base_access_level: 20, remove_group: true })
    expect((await add({ access_level: 20, member_role_id: more['id'] })).status).toBe(403)
    expect((await add({ access_level: 20, member_role_id: held['id'] })).status).toBe(201)
    const maintainer = await world.member({ group }, 'maintainer')
    const set = (id: number, access_level: number) => person.put(`${members}/${id}`, { access_level })
    expect((await set(maintainer.id, 50)).status).toBe(403)
    expect((await set(maintainer.id, 30)).status).toBe(200)
    const owner = await world.member({ group }, 'owner')
    expect((await set(owner.id, 20)).status).toBe(403)
    expect((await person.delete(`${members}/${owner.id}`)).status).toBe(403)
    expect((await person.delete(`${members}/${maintainer.id}`)).status).toBe(204)
  })
})

/** What each permission opens: who has the base role alone is refused, who has the permission is not. */
interface Row {
  readonly on: 'group' | 'project'
  readonly ability: string
  /** What somebody without it is answered, unless it is 403. */
  readonly refused?: number
  /** A request that shows it where there is an endpoint. */
  readonly call?: (person: Person, scene: { group: Made; below: Made; project: Made }) => Promise<Reply>
}

const bot = {
  name: 'bot',
  scopes: ['api'],
  access_level: 10,
  expires_at: new Date(Date.now() + 864_000_000).toISOString().slice(0, 10),
}

const matrix: Readonly<Record<(typeof permissions)[number], readonly Row[]>> = {
  admin_cicd_variables: [
    {
      on: 'project',
      ability: 'admin_cicd_variables',
      call: (person, { project }) =>
        person.post(`/projects/${project.id}/variables`, { key: `K${person.id}`, value: 'v' }),
    },
    {
      on: 'group',
      ability: 'admin_cicd_variables',
      call: (person, { group }) =>
        person.post(`/groups/${group.id}/variables`, { key: `K${person.id}`, value: 'v' }),
    },
  ],
  admin_compliance_framework: [
    { on: 'group', ability: 'admin_compliance_framework' },
    { on: 'project', ability: 'admin_compliance_framework' },
  ],
  admin_group_member: [
    {
      on: 'group',
      ability: 'admin_group_member',
      call: (person, { group }) =>
        person.post(`/groups/${group.id}/invitations`, {
          email: `of-${person.id}@example.com`,
          access_level: 10,
        }),
    },
  ],
  admin_merge_request: [
    {
      on: 'project',
      ability: 'approve_merge_request',
      refused: 404,
      call: (person, { project }) => person.post(`/projects/${project.id}/merge_requests/1/approve`),
    },
  ],
  admin_push_rules: [
    {
      on: 'project',
      ability: 'admin_push_rule',
      call: (person, { project }) =>
        person.post(`/projects/${project.id}/push_rule`, { deny_delete_tag: true }),
    },
    {
      on: 'group',
      ability: 'admin_push_rule',
      call: (person, { group }) => person.post(`/groups/${group.id}/push_rule`, { deny_delete_tag: true }),
    },
  ],
  admin_infra_state: [
    {
      on: 'project',
      ability: 'admin_infra_state',
      call: (person, { project }) =>
        person.post(`/projects/${project.id}/terraform/state/main`, { version: 4, serial: 1 }),
    },
  ],
  admin_vulnerability: [
    { on: 'project', ability: 'admin_vulnerability' },
    { on: 'group', ability: 'admin_vulnerability' },
  ],
  admin_web_hook: [
    {
      on: 'project',
      ability: 'admin_web_hook',
      call: (person, { project }) =>
        person.post(`/projects/${project.id}/hooks`, { url: 'https://192.0.2.7/hook' }),
    },
    {
      on: 'group',
      ability: 'admin_web_hook',
      call: (person, { group }) =>
        person.post(`/groups/${group.id}/hooks`, { url: 'https://192.0.2.7/hook' }),
    },
  ],
  archive_project: [
    {
      on: 'project',
      ability: 'archive_project',
      call: (person, { project }) => person.post(`/projects/${project.id}/archive`),
    },
  ],
  manage_deploy_tokens: [
    {
      on: 'project',
      ability: 'admin_deploy_token',
      call: (person, { project }) =>
        person.post(`/projects/${project.id}/deploy_tokens`, { name: 'd', scopes: ['read_registry'] }),
    },
    {
      on: 'group',
      ability: 'admin_deploy_token',
      call: (person, { group }) =>
        person.post(`/groups/${group.id}/deploy_tokens`, { name: 'd', scopes: ['read_registry'] }),
    },
  ],
  manage_group_access_tokens: [
    {
      on: 'group',
      ability: 'admin_access_token',
      refused: 400,
      call: (person, { group }) => person.post(`/groups/${group.id}/access_tokens`, bot),
    },
  ],
  manage_merge_request_settings: [
    {
      on: 'project',
      ability: 'admin_merge_request_settings',
      async call(person, { project }) {
        const change = (fields: Json) => person.put(`/projects/${project.id}`, fields)
        expect((await change({ merge_method: 'ff', description: 'x' })).status).toBe(403)
        return change({ merge_method: 'ff' })
      },
    },
    { on: 'group', ability: 'admin_merge_request_settings' },
  ],
  manage_project_access_tokens: [
    {
      on: 'project',
      ability: 'admin_access_token',
      refused: 400,
      call: (person, { project }) => person.post(`/projects/${project.id}/access_tokens`, bot),
    },
  ],
  manage_security_policy_link: [
    { on: 'project', ability: 'admin_security_policy_link' },
    { on: 'group', ability: 'admin_security_policy_link' },
  ],
  read_code: [
    {
      on: 'project',
      ability: 'read_code',
      call: (person, { project }) => person.get(`/projects/${project.id}/repository/files/a.txt?ref=main`),
    },
    { on: 'project', ability: 'download_code' },
  ],
  read_runners: [
    {
      on: 'project',
      ability: 'read_runner',
      call: (person, { project }) => person.get(`/projects/${project.id}/runners`),
    },
    {
      on: 'group',
      ability: 'read_group_runner',
      call: (person, { group }) => person.get(`/groups/${group.id}/runners`),
    },
  ],
  read_dependency: [
    { on: 'project', ability: 'read_dependency' },
    { on: 'group', ability: 'read_dependency' },
  ],
  read_vulnerability: [
    { on: 'project', ability: 'read_vulnerability' },
    { on: 'group', ability: 'read_vulnerability' },
  ],
  remove_group: [
    {
      on: 'group',
      ability: 'remove_group',
      call: (person, { below }) => person.delete(`/groups/${below.id}`),
    },
  ],
  remove_project: [
    {
      on: 'project',
      ability: 'remove_project',
      call: (person, { project }) => person.delete(`/projects/${project.id}`),
    },
  ],
}

async function mergeRequestIn(project: Made): Promise<void> {
  await pushFiles(world, project, { 'a.txt': 'a' })
  const actions = [{ action: 'create', file_path: 'b.txt', content: 'b' }]
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'b', actions }
  expectStatus(await world.root.post(`/projects/${project.id}/repository/commits`, commit), 201)
  const request = { source_branch: 'topic', target_branch: 'main', title: 'b' }
  expectStatus(await world.root.post(`/projects/${project.id}/merge_requests`, request), 201)
}

describe.each(permissions)('%s', (permission) => {
  test.each(matrix[permission])(
    'opens $ability on a $on, to a guest who has it only',
    async ({ on, ability, call, refused = 403 }) => {
      const group = await world.group()
      const below = await world.group({ parent_id: group.id })
      const project = await world.project({ namespace_id: below.id })
      if (permission === 'read_code') await pushFiles(world, project, { 'a.txt': 'a' })
      if (permission === 'admin_merge_request') await mergeRequestIn(project)
      const needed = permission === 'admin_vulnerability' ? { read_vulnerability: true } : {}
      const held = await role('/member_roles', { ...needed, [permission]: true })
      const guest = await world.member({ group }, 'guest')
      const place =
        on === 'group'
          ? `/groups/${permission === 'remove_group' ? below.id : group.id}`
          : `/projects/${project.id}`
      const explained = async () =>
        bodyOf(await world.root.get(`${place}/access/explain?user_id=${guest.id}&ability=${ability}`))

      expect(await explained()).toMatchObject({ allowed: false, decided_by: 'role', access_level: 10 })
      if (call !== undefined) expect((await call(guest, { group, below, project })).status).toBe(refused)
      expectStatus(
        await world.root.put(`/groups/${group.id}/members/${guest.id}`, {
          access_level: 10,
          member_role_id: held['id'],
        }),
        200,
      )
      expect(await explained()).toMatchObject({
        allowed: true,
        decided_by: 'custom_role',
        memberships: [{ source_id: group.id, member_role: held, decisive: true }],
      })
      if (call !== undefined) {
        const reply = await call(guest, { group, below, project })
        expect([reply.status < 300, reply.text]).toEqual([true, reply.text])
      }
    },
  )
})

test('remove_group does not reach to a whole tree', async () => {
  const group = await world.group()
  const held = await role('/member_roles', { remove_group: true })
  const guest = await world.user()
  await world.root.post(`/groups/${group.id}/members`, {
    user_id: guest.id,
    access_level: 10,
    member_role_id: held['id'],
  })
  expect((await guest.delete(`/groups/${group.id}`)).status).toBe(403)
})

test('who looks after members by a role sees what they are in; seats are for Owners', async () => {
  const group = await world.group()
  const held = await role('/member_roles', { admin_group_member: true })
  const [keeper, developer] = [await world.user(), await world.member({ group }, 'developer')]
  const entry = { user_id: keeper.id, access_level: 10, member_role_id: held['id'] }
  expectStatus(await world.root.post(`/groups/${group.id}/members`, entry), 201)
  const billable = `/groups/${group.id}/billable_members`
  expect((await keeper.get(`${billable}/${developer.id}/memberships`)).status).toBe(200)
  expect((await keeper.get(billable)).status).toBe(400)
  expect(await keeper.delete(`${billable}/${developer.id}`)).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - User unauthorized to remove member' },
  })
  const state = `/groups/${group.id}/members/${developer.id}/state`
  expect((await keeper.put(state, { state: 'awaiting' })).status).toBe(400)
  expect((await world.root.put(state, { state: 'awaiting' })).status).toBe(200)
})

test('a guest with read_code clones, and no longer once the role loses it', async () => {
  const project = await world.project()
  await pushFiles(world, project, { 'a.txt': 'a' })
  const held = await role('/member_roles', { read_code: true })
  const guest = await world.user()
  await world.root.post(`/projects/${project.id}/members`, {
    user_id: guest.id,
    access_level: 10,
    member_role_id: held['id'],
  })
  const clone = async (): Promise<string> => {
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-clone-'))
    const address = new URL(`${world.url}/${project.path_with_namespace}.git`)
    address.username = guest.username
    address.password = guest.token
    try {
      await run('git', ['clone', '--quiet', address.href, folder], {
        env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' },
      })
      return 'cloned'
    } catch (error) {
      return (error as { stderr: string }).stderr
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  expect(await clone()).toBe('cloned')
  expect((await guest.get(`/projects/${project.id}/repository/tree`)).status).toBe(200)
  await world.root.put(`/member_roles/${held['id']}`, { read_code: false })
  expect(await clone()).toMatch(/403/)
  expect((await guest.get(`/projects/${project.id}/repository/tree`)).status).toBe(403)
})

describe('an explanation', () => {
  const explained = async (place: string, user: number, ability: string) =>
    bodyOf(await world.root.get(`${place}/access/explain?user_id=${user}&ability=${ability}`))

  test('names the membership, the share, the visibility, or what keeps somebody out', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const place = `/projects/${project.id}`
    const stranger = await world.user()
    expect(await explained(place, stranger.id, 'read_project')).toMatchObject({
      allowed: false,
      visible: false,
      decided_by: 'visibility',
      memberships: [],
    })
    const developer = await world.member({ group }, 'developer')
    expect(await explained(place, developer.id, 'push_code')).toMatchObject({
      allowed: true,
      decided_by: 'membership',
      read_only: false,
      access_level: 30,
      memberships: [{ source_type: 'group', source_full_path: group.full_path, decisive: true }],
    })
    expect(await explained(place, developer.id, 'remove_project')).toMatchObject({
      allowed: false,
      decided_by: 'role',
      reason: expect.stringContaining('needs Owner or higher'),
    })
    const guests = await world.group()
    const invited = await world.member({ group: guests }, 'owner')
    await world.root.post(`${place}/share`, { group_id: guests.id, group_access: 30 })
    expect(await explained(place, invited.id, 'push_code')).toMatchObject({
      allowed: true,
      decided_by: 'share',
      memberships: [
        { given_access_level: 50, access_level: 30, shared_through: [guests.full_path], decisive: true },
      ],
    })
    await sql`update projects set archived = true where id = ${project.id}`.execute(
      world.service.services.db.writer,
    )
    expect(await explained(place, developer.id, 'push_code')).toMatchObject({
      allowed: false,
      decided_by: 'rule',
      reason: expect.stringContaining('project archived'),
    })
    expectStatus(await world.root.post(`/groups/${group.id}/archive`), 200)
    expect(await explained(`/groups/${group.id}`, developer.id, 'read_group')).toMatchObject({
      allowed: true,
      read_only: true,
    })
    const open = await world.project({ visibility: 'public' })
    expect(await explained(`/projects/${open.id}`, stranger.id, 'read_code')).toMatchObject({
      allowed: true,
      decided_by: 'visibility',
    })
    expect(await explained(`/projects/${open.id}`, 1, 'remove_project')).toMatchObject({
      decided_by: 'administrator',
    })
    expectStatus(await world.root.post(`/users/${developer.id}/block`), 201)
    expect(await explained(place, developer.id, 'read_project')).toMatchObject({
      allowed: false,
      decided_by: 'account',
    })
  })

  test('refuses users and abilities that there are not', async () => {
    const { id } = await world.group()
    const ask = (query: string) => world.root.get(`/groups/${id}/access/explain?${query}`)
    expect(message(await ask('user_id=4711&ability=leave'))).toEqual([404, '404 User Not Found'])
    expect((await ask('user_id=1&ability=fly')).body).toEqual({
      error: 'ability does not have a valid value',
    })
  })
})
