// @module-tag long
import { access } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repositoryFolder } from '../world/repositories.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import type { Person, Reply } from '../world/client.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

async function subgroup(parent: Made, fields: Json = {}): Promise<Made> {
  return world.group({ parent_id: parent.id, ...fields })
}

describe('creating', () => {
  test('answers the group, owned by its creator', async () => {
    const person = await world.user()
    const name = world.unique('acme')
    const made = await person.post('/groups', { name: 'Acme (all)', path: name, description: 'We make all' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'Acme (all)',
      path: name,
      full_path: name,
      full_name: 'Acme (all)',
      web_url: `${world.url}/groups/${name}`,
      description: 'We make all',
      visibility: 'private',
      parent_id: null,
      organization_id: 1,
      project_creation_level: 'developer',
      subgroup_creation_level: 'maintainer',
      default_branch_protection: 2,
      shared_with_groups: [],
      runners_token: expect.stringMatching(/^GR1348941[\w-]{20}$/) as unknown,
    })
    expect((await person.delete(`/groups/${name}`)).status).toBe(202)
  })

  test('needs a user who may create groups', async () => {
    expect((await world.anonymous.post('/groups', { name: 'a', path: 'ab' })).status).toBe(401)
    const person = await world.user({ can_create_group: false })
    const refused = await person.post('/groups', { name: 'a', path: world.unique('ab') })
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    const external = await world.user({ external: true })
    expect((await external.post('/groups', { name: 'a', path: world.unique('ab') })).status).toBe(403)
  })

  test('tells what is missing or of a wrong type', async () => {
    const empty = await world.root.post('/groups', {})
    expect([empty.status, empty.body]).toEqual([400, { error: 'name is missing, path is missing' }])
    const wrong = await world.root.post('/groups', {
      name: 'a',
      path: 'ab',
      visibility: 'secret',
      project_creation_level: 'nobody',
      lfs_enabled: 'maybe',
    })
    expect(wrong.body).toEqual({
      error:
        'visibility does not have a valid value, project_creation_level does not have a valid value, lfs_enabled is invalid',
    })
  })

  test.each<[Json, string]>([
    [{ path: 'root' }, '{:path=>["has already been taken"]}'],
    [{ path: 'ROOT' }, '{:path=>["has already been taken"]}'],
    [{ path: 'api' }, '{:path=>["api is a reserved name"]}'],
    [{ path: 'x' }, '{:path=>["is too short (minimum is 2 characters)"]}'],
    [
      { path: '-a b' },
      `{:path=>["can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."]}`,
    ],
    [
      { path: 'a__b--' },
      `{:path=>["can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'."]}`,
    ],
    [
      { name: '#' },
      `{:name=>["can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'."]}`,
    ],
    [{ name: 'n'.repeat(256) }, '{:name=>["is too long (maximum is 255 characters)"]}'],
  ])('refuses %j', async (fields, faults) => {
    const name = world.unique('bad')
    const answer = await world.root.post('/groups', { name, path: name, ...fields })
    expect([answer.status, answer.body]).toEqual([400, { message: `Failed to save group ${faults}` }])
  })

  test('a subgroup is no more visible than its parent, and by default as visible as the setting and it allow', async () => {
    const parent = await world.group({ visibility: 'internal' })
    const name = world.unique('sub')
    const refused = await world.root.post('/groups', {
      name,
      path: name,
      parent_id: parent.id,
      visibility: 'public',
    })
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        message:
          'Failed to save group {:visibility_level=>["public is not allowed since the parent group has a internal visibility."]}',
      },
    ])
    const made = await subgroup(parent, { path: 'inner', name: 'Inner' })
    expect(made).toMatchObject({
      visibility: 'private',
      full_path: `${parent.path}/inner`,
      full_name: `${parent.name} / Inner`,
      parent_id: parent.id,
    })
  })

  test('goes 20 deep', async () => {
    let group = await world.group()
    for (let depth = 2; depth <= 20; depth += 1) group = await subgroup(group)
    const answer = await world.root.post('/groups', { name: 'deep', path: 'deep', parent_id: group.id })
    expect(answer.body).toEqual({
      message: 'Failed to save group {:parent_id=>["has too deep level of nesting"]}',
    })
  })

  test('of a subgroup is for Maintainers, or as the group says', async () => {
    const group = await world.group()
    const statuses: Json = {}
    for (const role of ['guest', 'reporter', 'developer', 'maintainer', 'owner'] as const) {
      const person = await world.member({ group }, role)
      const path = world.unique('inner')
      statuses[role] = (await person.post('/groups', { name: path, path, parent_id: group.id })).status
    }
    expect(statuses).toEqual({ guest: 403, reporter: 403, developer: 403, maintainer: 201, owner: 201 })
    const stranger = await world.user()
    const hidden = await stranger.post('/groups', { name: 'xx', path: 'xx', parent_id: group.id })
    expect([hidden.status, hidden.body]).toEqual([404, { message: '404 Group Not Found' }])

    await world.root.put(`/groups/${group.id}`, { subgroup_creation_level: 'owner' })
    const maintainer = await world.member({ group }, 'maintainer')
    expect((await maintainer.post('/groups', { name: 'xx', path: 'xx', parent_id: group.id })).status).toBe(
      403,
    )
  })

  test('two of one path at once: one wins', async () => {
    const name = world.unique('race')
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => world.root.post('/groups', { name, path: name })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  })
})

describe('reading', () => {
  test.each([
    ['public', 200, 200],
    ['internal', 404, 200],
    ['private', 404, 404],
  ] as const)('a %s group: visitors %i, strangers %i', async (visibility, visitors, strangers) => {
    const group = await world.group({ visibility })
    const stranger = await world.user()
    const guest = await world.member({ group }, 'guest')
    expect((await world.anonymous.get(`/groups/${group.id}`)).status).toBe(visitors)
    expect((await stranger.get(`/groups/${group.id}`)).status).toBe(strangers)
    expect((await guest.get(`/groups/${group.full_path}`)).status).toBe(200)
    for (const list of ['projects', 'subgroups', 'descendant_groups']) {
      expect((await world.anonymous.get(`/groups/${group.id}/${list}`)).status).toBe(visitors)
      expect((await guest.get(`/groups/${group.id}/${list}`)).status).toBe(200)
    }
  })

  test('embeds projects that the caller may see, and only on request', async () => {
    const group = await world.group({ visibility: 'public' })
    const open = await world.project({ namespace_id: group.id, visibility: 'public' })
    await world.project({ namespace_id: group.id })
    const seen = (await world.anonymous.get(`/groups/${group.id}`)).body as Json
    expect(seen['projects']).toMatchObject([{ id: open.id, archived: false }])
    expect(seen['shared_projects']).toEqual([])
    expect(seen).not.toHaveProperty('runners_token')
    const short = (await world.anonymous.get(`/groups/${group.id}?with_projects=false`)).body as Json
    expect(short).not.toHaveProperty('projects')
  })

  test('a member of what lies inside sees the groups above it', async () => {
    const top = await world.group()
    const middle = await subgroup(top)
    const project = await world.project({ namespace_id: middle.id })
    const guest = await world.member({ project }, 'guest')
    expect((await guest.get(`/groups/${top.id}`)).status).toBe(200)
    const listed = (await guest.get('/groups?per_page=100')).body as Json[]
    expect(
      listed
        .filter(({ visibility }) => visibility === 'private')
        .map(({ id }) => id as number)
        .sort(),
    ).toEqual([top.id, middle.id].sort())
    expect((await guest.get('/groups?min_access_level=10')).body).toEqual([])
    expect((await guest.get(`/groups/${top.id}/descendant_groups`)).body).toMatchObject([{ id: middle.id }])
  })
})

describe('lists', () => {
  let owner: Person
  let top: Made
  let prefix: string
  beforeAll(async () => {
    owner = await world.user()
    prefix = world.unique('listed')
    top = await world.group({ name: `${prefix} b`, path: `${prefix}-b`, visibility: 'internal' }, owner)
    await world.group({ name: `${prefix} a`, path: `${prefix}-a`, visibility: 'public' })
    await world.group({ name: `${prefix} c`, path: `${prefix}-c` })
    await world.group({ name: `${prefix} inner`, path: `${prefix}-inner`, parent_id: top.id }, owner)
  })
  const names = async (who: { get: (path: string) => Promise<{ body: unknown }> }, query: string) =>
    ((await who.get(`/groups?search=${prefix}&${query}`)).body as Json[]).map(({ name }) =>
      (name as string).slice(prefix.length + 1),
    )

  test('are by name, and of what the caller may see', async () => {
    expect(await names(world.anonymous, '')).toEqual(['a'])
    expect(await names(await world.user(), '')).toEqual(['a', 'b'])
    expect(await names(await world.user({ external: true }), '')).toEqual(['a'])
    expect(await names(owner, '')).toEqual(['a', 'b', 'inner'])
    expect(await names(world.root, '')).toEqual(['a', 'b', 'c', 'inner'])
    expect(await names(world.root, 'sort=desc&order_by=path')).toEqual(['inner', 'c', 'b', 'a'])
    expect(await names(world.root, 'order_by=id')).toEqual(['b', 'a', 'c', 'inner'])
    expect(await names(world.root, 'order_by=similarity')).toHaveLength(4)
  })

  test('are narrowed', async () => {
    expect(await names(owner, 'owned=true')).toEqual(['b', 'inner'])
    expect(await names(owner, 'all_available=false')).toEqual(['b', 'inner'])
    expect(await names(owner, 'min_access_level=50')).toEqual(['b', 'inner'])
    expect(await names(owner, 'top_level_only=true')).toEqual(['a', 'b'])
    expect(await names(owner, 'visibility=internal')).toEqual(['b'])
    expect(await names(owner, `skip_groups[]=${top.id}`)).toEqual(['a', 'inner'])
    expect(await names(owner, 'search=nothing%25like_that')).toEqual([])
  })

  test('are paged', async () => {
    const answer = await world.root.get(`/groups?search=${prefix}&per_page=3&page=2`)
    expect((answer.body as Json[]).map(({ name }) => name as string)).toEqual([`${prefix} inner`])
    expect([answer.headers.get('x-total'), answer.headers.get('x-next-page')]).toEqual(['4', ''])
    const first = await world.root.get(`/groups?search=${prefix}&per_page=3`)
    expect([first.headers.get('x-total'), first.headers.get('x-next-page')]).toEqual(['4', '2'])
    expect((await world.root.get('/groups?visibility=none')).status).toBe(400)
  })

  test('by keyset lead from link to link', async () => {
    let address: string | undefined =
      `/groups?search=${prefix}&pagination=keyset&order_by=name&sort=asc&per_page=3`
    const seen: string[][] = []
    while (address !== undefined) {
      const answer: Reply = await world.root.get(address)
      seen.push((answer.body as Json[]).map(({ name }) => (name as string).slice(prefix.length + 1)))
      address = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual([['a', 'b', 'c'], ['inner']])
    expect((await world.root.get('/groups?pagination=keyset&sort=desc')).status).toBe(405)
    expect((await world.root.get('/groups?per_page=100&page=501')).status).toBe(405)
  })

  test('of projects reach below on request', async () => {
    const inner = await subgroup(top)
    const mine = await world.project({ namespace_id: top.id, visibility: 'internal' })
    const theirs = await world.project({ namespace_id: inner.id, archived: false })
    const ids = async (who: Person, query: string) =>
      ((await who.get(`/groups/${top.id}/projects?${query}`)).body as Json[]).map(({ id }) => id as number)
    expect(await ids(owner, '')).toEqual([mine.id])
    expect(await ids(owner, 'include_subgroups=true')).toEqual([theirs.id, mine.id])
    expect(await ids(await world.user(), 'include_subgroups=true')).toEqual([mine.id])
    expect(await ids(owner, 'include_subgroups=true&order_by=id&sort=asc&simple=true')).toEqual([
      mine.id,
      theirs.id,
    ])
    const above = (await owner.get(`/groups/${inner.id}/projects?include_ancestor_groups=true`))
      .body as Json[]
    expect(above).toHaveLength(2)
  })
})

describe('changing', () => {
  test('is for Owners', async () => {
    const group = await world.group()
    const statuses: Json = {}
    for (const role of ['guest', 'developer', 'maintainer', 'owner'] as const) {
      const person = await world.member({ group }, role)
      statuses[role] = (await person.put(`/groups/${group.id}`, { description: role })).status
    }
    expect(statuses).toEqual({ guest: 403, developer: 403, maintainer: 403, owner: 200 })
    expect((await (await world.user()).put(`/groups/${group.id}`, { description: 'x' })).status).toBe(404)
    expect((await world.anonymous.put(`/groups/${group.id}`, { description: 'x' })).status).toBe(401)
  })

  test('gives back what was written', async () => {
    const group = await world.group()
    const written = {
      description: 'Other',
      visibility: 'internal',
      share_with_group_lock: true,
      require_two_factor_authentication: true,
      two_factor_grace_period: 12,
      project_creation_level: 'noone',
      subgroup_creation_level: 'owner',
      auto_devops_enabled: false,
      emails_enabled: false,
      mentions_disabled: true,
      lfs_enabled: false,
      request_access_enabled: false,
      default_branch: 'trunk',
      shared_runners_setting: 'disabled_and_overridable',
      prevent_sharing_groups_outside_hierarchy: true,
      prevent_forking_outside_group: true,
      membership_lock: true,
      ip_restriction_ranges: '10.0.0.0/8',
      max_artifacts_size: 7,
      wiki_access_level: 'private',
      default_branch_protection_defaults: {
        allowed_to_push: [{ access_level: 30 }],
        allow_force_push: true,
        developer_can_initial_push: true,
      },
    }
    const changed = expectStatus(await world.root.put(`/groups/${group.id}`, written), 200)
    expect(changed).toMatchObject(written)
    const read = (await world.root.get(`/groups/${group.id}?with_projects=false`)).body as Json
    expect(read).toEqual(changed)
    expect(read).toMatchObject({ emails_disabled: true, default_branch_protection: 0 })
    expect(read['default_branch_protection_defaults']).toEqual(written.default_branch_protection_defaults)

    const back = expectStatus(
      await world.root.put(`/groups/${group.id}`, { default_branch_protection: 3 }),
      200,
    )
    expect(back).toMatchObject({ default_branch_protection: 3, description: 'Other', lfs_enabled: false })
  })

  test('of the visibility fits what is above and below', async () => {
    const top = await world.group({ visibility: 'public' })
    const inner = await subgroup(top, { visibility: 'internal' })
    const fault = async (group: Made, visibility: string) =>
      ((await world.root.put(`/groups/${group.id}`, { visibility })).body as Json)['message'] as unknown
    expect(await fault(top, 'private')).toEqual({
      visibility_level: ['private is not allowed since there are sub-groups with higher visibility.'],
    })
    await world.project({ namespace_id: inner.id, visibility: 'internal' })
    expect(await fault(inner, 'private')).toEqual({
      visibility_level: ['private is not allowed since this group contains projects with higher visibility.'],
    })
    expectStatus(await world.root.put(`/groups/${top.id}`, { visibility: 'internal' }), 200)
    expect(await fault(inner, 'public')).toEqual({
      visibility_level: ['public is not allowed since the parent group has a internal visibility.'],
    })
  })

  test('of the path takes all that lies below along', async () => {
    const top = await world.group()
    const inner = await subgroup(top, { name: 'inner', path: 'Inner' })
    const project = await world.project({ namespace_id: inner.id, name: 'App', path: 'App' })
    const old = `${top.path}/Inner/App`
    const path = world.unique('renamed')
    expectStatus(await world.root.put(`/groups/${top.id}`, { path }), 200)

    const found = await world.root.get(`/projects/${encodeURIComponent(`${path}/inner/app`)}`)
    expect(found.body).toMatchObject({ id: project.id, path_with_namespace: `${path}/Inner/App` })
    expect((await world.root.get(`/groups/${encodeURIComponent(`${path}/inner`)}`)).body).toMatchObject({
      id: inner.id,
      full_path: `${path}/Inner`,
    })
    const moved = await world.root.get(`/projects/${encodeURIComponent(old)}`)
    expect([moved.status, moved.headers.get('location')]).toEqual([
      301,
      `${world.url}/api/v4/projects/${project.id}`,
    ])
    const put = await world.root.put(`/projects/${encodeURIComponent(old)}`, { description: 'x' })
    expect([put.status, put.body]).toEqual([
      405,
      { message: 'Non GET methods are not allowed for moved projects' },
    ])
    expect((await world.root.get(`/groups/${top.path}`)).status).toBe(404)

    // Back again, and then another group takes the path that was left.
    expectStatus(await world.root.put(`/groups/${top.id}`, { path: top.path }), 200)
    expect((await world.root.get(`/projects/${encodeURIComponent(old)}`)).status).toBe(200)
    const other = await world.group({ name: path, path })
    expect((await world.root.get(`/groups/${path}`)).body).toMatchObject({ id: other.id })
    expect((await world.root.get(`/projects/${encodeURIComponent(`${path}/inner/app`)}`)).status).toBe(301)
  })

  test('of letter case only leaves no redirect', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const path = group.path.toUpperCase()
    expectStatus(await world.root.put(`/groups/${group.id}`, { path }), 200)
    const found = await world.root.get(`/projects/${encodeURIComponent(`${group.path}/${project.path}`)}`)
    expect(found.body).toMatchObject({ path_with_namespace: `${path}/${project.path}` })
  })

  test('of the path finds what is put into the group meanwhile', async () => {
    const group = await world.group()
    const path = world.unique('moving')
    const made = await Promise.all([
      ...Array.from({ length: 5 }, () => world.project({ namespace_id: group.id })),
      ...Array.from({ length: 5 }, () => subgroup(group)),
      world.root.put(`/groups/${group.id}`, { path }),
    ])
    expect(made).toHaveLength(11)
    for (const list of ['projects', 'subgroups']) {
      const inside = (await world.root.get(`/groups/${group.id}/${list}`)).body as Json[]
      expect(inside).toHaveLength(5)
      for (const one of inside) {
        const full = (one['path_with_namespace'] ?? one['full_path']) as string
        expect(full.startsWith(`${path}/`)).toBe(true)
        const place = list === 'projects' ? 'projects' : 'groups'
        expect((await world.root.get(`/${place}/${encodeURIComponent(full)}`)).status).toBe(200)
      }
    }
  })

  test('to a full path that is too long is refused', async () => {
    const top = await world.group()
    let group = top
    for (let depth = 1; depth < 9; depth += 1) {
      group = await subgroup(group, { path: `${'l'.repeat(250)}${depth}` })
    }
    const message = { path: ['is too long (maximum of the full path is 2048 characters)'] }
    const project = await world.root.post('/projects', { path: 'l'.repeat(250), namespace_id: group.id })
    expect([project.status, project.body]).toEqual([400, { message }])
    const rename = await world.root.put(`/groups/${top.id}`, { path: 'l'.repeat(254) })
    expect([rename.status, rename.body]).toEqual([400, { message }])
    expect((await world.root.get(`/groups/${group.id}`)).body).toMatchObject({ full_path: group.full_path })
  })

  test('to a path that is taken or unfit is refused', async () => {
    const group = await world.group()
    const other = await world.group()
    const taken = await world.root.put(`/groups/${group.id}`, { path: other.path })
    expect([taken.status, taken.body]).toEqual([400, { message: { path: ['has already been taken'] } }])
    const unfit = await world.root.put(`/groups/${group.id}`, { path: 'a b', name: '' })
    expect(Object.keys((unfit.body as Json)['message'] as Json)).toEqual(['name', 'path'])
  })

  test('closes the runners of the instance to what lies below', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    expectStatus(
      await world.root.put(`/groups/${group.id}`, {
        shared_runners_setting: 'disabled_and_unoverridable',
      }),
      200,
    )
    expect((await world.root.get(`/projects/${project.id}`)).body).toMatchObject({
      shared_runners_enabled: false,
    })
    const refused = await world.root.put(`/projects/${project.id}`, { shared_runners_enabled: true })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { shared_runners_enabled: ['cannot be enabled because parent group does not allow it'] } },
    ])
  })
})

describe('deleting', () => {
  test('is for Owners', async () => {
    const group = await world.group({ visibility: 'public' })
    const maintainer = await world.member({ group }, 'maintainer')
    expect((await maintainer.delete(`/groups/${group.id}`)).status).toBe(403)
    expect((await world.anonymous.delete(`/groups/${group.id}`)).status).toBe(401)
  })

  test('removes all that lies below, and frees the path', async () => {
    const top = await world.group()
    const inner = await subgroup(top)
    const project = await world.project({ namespace_id: inner.id, initialize_with_readme: true })
    const folder = repositoryFolder(world, project.id)
    await access(folder)

    await world.end({ group: top })
    for (const place of [`groups/${top.id}`, `groups/${inner.id}`, `projects/${project.id}`]) {
      expect((await world.root.get(`/${place}`)).status).toBe(404)
    }
    await world.group({ name: 'again', path: top.path })
    await expect
      .poll(
        () =>
          access(folder).then(
            () => 'there',
            () => 'gone',
          ),
        { timeout: 30_000 },
      )
      .toBe('gone')
  })
})

test('administrators are told where the wiki of a group lies', async () => {
  const group = await world.group()
  const owner = await world.member({ group }, 'owner')
  const storage = async (by: Person) =>
    ((await by.get(`/groups/${group.id}`)).body as Json)['repository_storage']
  expect(await storage(world.root)).toBe(null)
  expectStatus(await owner.post(`/groups/${group.id}/wikis`, { title: 'home', content: 'x' }), 201)
  expect([await storage(world.root), await storage(owner)]).toEqual(['default', undefined])
})
