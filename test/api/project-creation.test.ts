import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitOf } from '../world/repositories.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('creating', () => {
  test('in the own namespace makes the creator its Owner', async () => {
    const person = await world.user()
    const made = await person.post('/projects', { name: 'My Größe App', description: 'Great' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'My Größe App',
      path: 'my-grosse-app',
      path_with_namespace: `${person.username}/my-grosse-app`,
      name_with_namespace: `Name of ${person.username} / My Größe App`,
      description: 'Great',
      visibility: 'private',
      default_branch: 'main',
      empty_repo: true,
      archived: false,
      creator_id: person.id,
      owner: { id: person.id, username: person.username },
      namespace: { kind: 'user', path: person.username, parent_id: null },
      topics: [],
      readme_url: null,
      import_status: 'none',
      web_url: `${world.url}/${person.username}/my-grosse-app`,
      http_url_to_repo: `${world.url}/${person.username}/my-grosse-app.git`,
      ssh_url_to_repo: `git@127.0.0.1:${person.username}/my-grosse-app.git`,
      ci_default_git_depth: 20,
      build_timeout: 3600,
    })
    const read = (await person.get(`/projects/${(made.body as Json)['id'] as number}`)).body as Json
    expect(read['permissions']).toEqual({
      project_access: { access_level: 50, notification_level: 3 },
      group_access: null,
    })
    expect(await gitOf(world, (made.body as Json)['id'] as number, 'symbolic-ref', 'HEAD')).toBe(
      'refs/heads/main',
    )
  })

  test('takes a name, a path, or both', async () => {
    const neither = await world.root.post('/projects', {})
    expect([neither.status, neither.body]).toEqual([
      400,
      { error: 'name, path are missing, at least one parameter must be provided' },
    ])
    const path = world.unique('only-path')
    expect(expectStatus(await world.root.post('/projects', { path }), 201)).toMatchObject({
      name: path,
      path,
    })
  })

  test('with a README begins with a commit on a protected default branch', async () => {
    const person = await world.user()
    const made = expectStatus(
      await person.post('/projects', {
        name: 'readme',
        description: 'What it is',
        initialize_with_readme: true,
        default_branch: 'trunk',
      }),
      201,
    )
    expect(made).toMatchObject({
      empty_repo: false,
      default_branch: 'trunk',
      readme_url: `${world.url}/${person.username}/readme/-/blob/trunk/README.md`,
    })
    expect(await gitOf(world, made.id, 'log', '--format=%an <%ae> %s', 'trunk')).toBe(
      `Name of ${person.username} <${person.username}@example.com> Initial commit`,
    )
    expect(await gitOf(world, made.id, 'show', 'trunk:README.md')).toBe('# readme\n\nWhat it is')
    const rules = (await person.get(`/projects/${made['id'] as number}/protected_branches`)).body as Json[]
    expect(rules.map(({ name }) => name as string)).toEqual(['trunk'])
  })

  test.each<[Json, Json]>([
    [
      { name: 'a#b' },
      {
        name: [
          "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.",
        ],
      },
    ],
    [{ name: 'n'.repeat(256), path: 'pp' }, { name: ['is too long (maximum is 255 characters)'] }],
    [
      { path: '-x' },
      {
        path: [
          "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
        ],
      },
    ],
    [
      { path: 'x.git' },
      {
        path: [
          "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
        ],
      },
    ],
    [{ path: 'tree' }, { path: ['tree is a reserved name'] }],
    [
      { path: 'a..b' },
      {
        path: [
          "can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.",
        ],
      },
    ],
    [{ description: 'd'.repeat(2001) }, { description: ['is too long (maximum is 2000 characters)'] }],
    [{ build_timeout: 599 }, { build_timeout: ['needs to be between 10 minutes and 1 month'] }],
    [
      { ci_config_path: '/ci.yml' },
      { ci_config_path: ['cannot include leading slash or directory traversal.'] },
    ],
    [
      { ci_config_path: 'a/../ci.yml' },
      { ci_config_path: ['cannot include leading slash or directory traversal.'] },
    ],
    [{ default_branch: '-x..y' }, { default_branch: ['is invalid'] }],
    [{ template_name: 'rails' }, { template_name: ["'rails' is unknown or invalid"] }],
    [{ namespace_id: 999_999 }, { namespace: ['is not valid'] }],
    [
      { repository_access_level: 'private', builds_access_level: 'enabled' },
      {
        'project_feature.builds_access_level': [
          'cannot have higher visibility level than repository access level',
        ],
      },
    ],
  ])('refuses %j', async (fields, message) => {
    const answer = await world.root.post('/projects', { name: world.unique('bad'), ...fields })
    expect([answer.status, answer.body]).toEqual([400, { message }])
  })

  test('refuses a parameter of a wrong type, and sources of two kinds', async () => {
    const wrong = await world.root.post('/projects', {
      name: 'x1',
      merge_method: 'octopus',
      issues_access_level: 'public',
      ci_default_git_depth: 'deep',
      container_expiration_policy_attributes: { cadence: 'daily' },
    })
    expect(wrong.body).toEqual({
      error:
        'issues_access_level does not have a valid value, merge_method does not have a valid value, container_expiration_policy_attributes[cadence] does not have a valid value',
    })
    const two = await world.root.post('/projects', {
      name: 'x1',
      import_url: 'http://x.test',
      template_name: 'a',
    })
    expect(two.body).toEqual({ error: 'import_url, template_name are mutually exclusive' })
    const regex = await world.root.post('/projects', {
      name: 'x1',
      container_expiration_policy_attributes: { name_regex: '(' },
    })
    expect(regex.body).toMatchObject({
      error: expect.stringMatching(
        /^container_expiration_policy_attributes\[name_regex\] is an invalid regexp: /,
      ) as string,
    })
  })

  test('a name or path that is there is told, both at once', async () => {
    const group = await world.group()
    const there = await world.project({ namespace_id: group.id, name: 'App', path: 'app' })
    const create = async (fields: Json) =>
      ((await world.root.post('/projects', { namespace_id: group.id, ...fields })).body as Json)[
        'message'
      ] as unknown
    expect(await create({ name: 'app', path: 'APP' })).toEqual({
      name: ['has already been taken'],
      path: ['has already been taken'],
    })
    expect(await create({ name: 'Other', path: 'app' })).toEqual({ path: ['has already been taken'] })
    expect(await create({ name: 'App', path: 'other' })).toEqual({ name: ['has already been taken'] })
    const inner = await world.group({ parent_id: group.id, path: 'inner' })
    expect(await create({ name: 'Inner', path: inner.path })).toEqual({ path: ['has already been taken'] })
    expect(there.path_with_namespace).toBe(`${group.path}/app`)
  })

  test('of one path at once: one wins', async () => {
    const group = await world.group()
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => world.root.post('/projects', { name: 'race', namespace_id: group.id })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  })

  test('in a group is for Developers, or as the group says', async () => {
    const group = await world.group()
    const create = async (role: 'guest' | 'reporter' | 'developer' | 'maintainer') => {
      const person = await world.member({ group }, role)
      return (await person.post('/projects', { name: world.unique('p'), namespace_id: group.id })).status
    }
    expect([await create('guest'), await create('reporter'), await create('developer')]).toEqual([
      400, 400, 201,
    ])
    await world.root.put(`/groups/${group.id}`, { project_creation_level: 'maintainer' })
    expect([await create('developer'), await create('maintainer')]).toEqual([400, 201])
    const stranger = await world.user()
    const refused = await stranger.post('/projects', { name: 'x1', namespace_id: group.id })
    expect([refused.status, refused.body]).toEqual([400, { message: { namespace: ['is not valid'] } }])
    const owner = await world.user()
    const home = ((await owner.get('/namespaces')).body as { id: number }[])[0]!
    expect((await stranger.post('/projects', { name: 'x1', namespace_id: home.id })).status).toBe(400)
    expect((await world.root.post('/projects', { name: 'x1', namespace_id: home.id })).status).toBe(201)
    expect((await world.anonymous.post('/projects', { name: 'x1' })).status).toBe(401)
    expect((await (await world.user({ external: true })).post('/projects', { name: 'x1' })).status).toBe(403)
  })

  test('gives no more visibility than the group has', async () => {
    const group = await world.group({ visibility: 'internal' })
    const refused = await world.root.post('/projects', {
      name: 'x1',
      namespace_id: group.id,
      visibility: 'public',
    })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { visibility_level: ['public is not allowed in a internal namespace.'] } },
    ])
    await world.service.services.settings.change({ default_project_visibility: 'public' })
    const lowered = await world.project({ namespace_id: group.id })
    const personal = await (await world.user()).post('/projects', { name: 'x1' })
    await world.service.services.settings.change({ default_project_visibility: 'private' })
    expect([lowered.visibility, personal.body]).toMatchObject(['internal', { visibility: 'public' }])
  })

  test('takes what the settings of group and instance say of the first branch and the configuration', async () => {
    const { settings } = world.service.services
    await settings.change({ default_branch_name: 'trunk', default_ci_config_path: 'ci/main.yml' })
    const group = await world.group({ default_branch: 'develop' })
    const inGroup = await world.project({ namespace_id: group.id })
    const own = expectStatus(await world.root.post('/projects', { name: world.unique('own') }), 201)
    await settings.change({ default_branch_name: null, default_ci_config_path: null })
    expect([inGroup['default_branch'], own['default_branch'], own['ci_config_path']]).toEqual([
      'develop',
      'trunk',
      'ci/main.yml',
    ])
    expect(await gitOf(world, inGroup.id, 'symbolic-ref', 'HEAD')).toBe('refs/heads/develop')
  })

  test('of restricted levels is for administrators', async () => {
    const { settings } = world.service.services
    await settings.change({ restricted_visibility_levels: ['public'] })
    const person = await world.user()
    const refused = await person.post('/projects', { name: 'x1', visibility: 'public' })
    const group = await person.post('/groups', { name: 'x1', path: world.unique('x1'), visibility: 'public' })
    const root = await world.root.post('/projects', { name: world.unique('x1'), visibility: 'public' })
    await settings.change({ restricted_visibility_levels: [] })
    expect([refused.status, refused.body, root.status]).toEqual([
      400,
      { message: { visibility_level: ['public has been restricted by your Guildhall administrator'] } },
      201,
    ])
    expect(group.body).toEqual({
      message:
        'Failed to save group {:visibility_level=>["public has been restricted by your Guildhall administrator"]}',
    })
  })

  test('stops at the limit of personal projects', async () => {
    const person = await world.user({ projects_limit: 1 })
    expectStatus(await person.post('/projects', { name: 'one' }), 201)
    const refused = await person.post('/projects', { name: 'two' })
    expect([refused.status, refused.body]).toEqual([
      403,
      { error: ["You've reached your limit of 1 projects created. Contact your Guildhall administrator."] },
    ])
    const none = await world.user({ projects_limit: 0 })
    expect((await none.post('/projects', { name: 'two' })).body).toEqual({
      error: ['You cannot create projects in your personal namespace. Contact your Guildhall administrator.'],
    })
  })

  test('for somebody else is for administrators', async () => {
    const person = await world.user()
    const made = expectStatus(
      await world.root.post(`/projects/user/${person.id}`, { name: 'gift', topics: ['b', 'a'] }),
      201,
    )
    expect(made).toMatchObject({
      path_with_namespace: `${person.username}/gift`,
      owner: { id: person.id },
      topics: ['b', 'a'],
      tag_list: ['b', 'a'],
    })
    expect((await person.put(`/projects/${made['id'] as number}`, { description: 'mine' })).status).toBe(200)
    expect((await person.post(`/projects/user/${person.id}`, { name: 'x1' })).status).toBe(403)
    const missing = await world.root.post('/projects/user/999999', { name: 'x1' })
    expect([missing.status, missing.body]).toEqual([404, { message: '404 User Not Found' }])
    expect((await world.root.post(`/projects/user/${person.id}`, { path: 'x1' })).body).toEqual({
      error: 'name is missing',
    })
  })
})
