import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const run = promisify(execFile)

function repositoryFolder(id: number): string {
  const hash = createHash('sha256').update(String(id)).digest('hex')
  return path.join(world.directory, 'repositories/@hashed', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
}

async function git(project: Json, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', ['--git-dir', repositoryFolder(project['id'] as number), ...args])
  return stdout.trim()
}

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
    expect(await git(made.body as Json, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
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
    expect(await git(made, 'log', '--format=%an <%ae> %s', 'trunk')).toBe(
      `Name of ${person.username} <${person.username}@example.com> Initial commit`,
    )
    expect(await git(made, 'show', 'trunk:README.md')).toBe('# readme\n\nWhat it is')
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
    expect(await git(inGroup, 'symbolic-ref', 'HEAD')).toBe('refs/heads/develop')
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

describe('reading', () => {
  test.each([
    ['public', 200, 200],
    ['internal', 404, 200],
    ['private', 404, 404],
  ] as const)('a %s project: visitors %i, strangers %i', async (visibility, visitors, strangers) => {
    const project = await world.project({ visibility })
    const guest = await world.member({ project }, 'guest')
    expect((await world.anonymous.get(`/projects/${project.id}`)).status).toBe(visitors)
    const stranger = await (await world.user()).get(`/projects/${project.id}`)
    expect(stranger.status).toBe(strangers)
    if (strangers === 404) expect(stranger.body).toEqual({ message: '404 Project Not Found' })
    expect((await guest.get(`/projects/${encodeURIComponent(project.path_with_namespace)}`)).status).toBe(200)
  })

  test('shows each caller his form', async () => {
    const project = await world.project({ visibility: 'public', repository_access_level: 'private' })
    const visitor = (await world.anonymous.get(`/projects/${project.id}?license=true`)).body as Json
    expect(Object.keys(visitor)).toEqual([
      'id',
      'description',
      'name',
      'name_with_namespace',
      'path',
      'path_with_namespace',
      'created_at',
      'tag_list',
      'topics',
      'ssh_url_to_repo',
      'http_url_to_repo',
      'web_url',
      'readme_url',
      'license_url',
      'license',
      'forks_count',
      'avatar_url',
      'star_count',
      'last_activity_at',
      'visibility',
      'namespace',
    ])
    const developer = await world.member({ project }, 'developer')
    const seen = (await developer.get(`/projects/${project.id}`)).body as Json
    expect(seen).toMatchObject({
      default_branch: 'main',
      permissions: { project_access: { access_level: 30, notification_level: 3 }, group_access: null },
      repository_access_level: 'private',
      merge_requests_access_level: 'private',
      builds_access_level: 'private',
      forked_from_project: null,
      can_create_merge_request_in: true,
    })
    for (const key of [
      'runners_token',
      'build_timeout',
      'ci_default_git_depth',
      'owner',
      'repository_storage',
    ]) {
      expect(seen).not.toHaveProperty(key)
    }
    const stranger = (await (await world.user()).get(`/projects/${project.id}`)).body as Json
    expect(stranger).toMatchObject({
      permissions: { project_access: null, group_access: null },
      jobs_enabled: false,
      issues_enabled: true,
      can_create_merge_request_in: false,
    })
    const maintainer = await world.member({ project }, 'maintainer')
    expect((await maintainer.get(`/projects/${project.id}`)).body).toMatchObject({
      build_timeout: 3600,
      runners_token: expect.stringMatching(/^GR1348941[\w-]{20}$/) as unknown,
    })
    expect((await world.root.get(`/projects/${project.id}`)).body).toMatchObject({
      repository_storage: 'default',
    })
  })

  test('shows the role from the group and that in the project', async () => {
    const group = await world.group()
    const inner = await world.group({ parent_id: group.id })
    const project = await world.project({ namespace_id: inner.id })
    const person = await world.member({ group }, 'reporter')
    expectStatus(
      await world.root.post(`/projects/${project.id}/members`, { user_id: person.id, access_level: 40 }),
      201,
    )
    expect((await person.get(`/projects/${project.id}`)).body).toMatchObject({
      permissions: { project_access: { access_level: 40 }, group_access: { access_level: 20 } },
    })
  })

  test('is one statement', async () => {
    const project = await world.project({ visibility: 'public' })
    const count = async () =>
      Number(
        /guildhall_sql_statements_total\{endpoint="GET \/projects\/:id"\} (\d+)/.exec(
          (await world.anonymous.get(`${world.url}/-/metrics`)).text,
        )?.[1] ?? 0,
      )
    const before = await count()
    await world.anonymous.get(`/projects/${project.id}`)
    await world.anonymous.get(`/projects/${project.id}`)
    expect((await count()) - before).toBe(2)
  })
})

describe('changing', () => {
  test('is for Maintainers, the visibility for Owners', async () => {
    const project = await world.project({ visibility: 'public' })
    const statuses: Json = {}
    for (const role of ['guest', 'reporter', 'developer', 'maintainer', 'owner'] as const) {
      const person = await world.member({ project }, role)
      statuses[role] = [
        (await person.put(`/projects/${project.id}`, { description: role, visibility: 'public' })).status,
        (await person.put(`/projects/${project.id}`, { visibility: 'private' })).status,
      ]
    }
    expect(statuses).toEqual({
      guest: [403, 403],
      reporter: [403, 403],
      developer: [403, 403],
      maintainer: [200, 403],
      owner: [200, 200],
    })
    expect((await world.anonymous.put(`/projects/${project.id}`, { description: 'x' })).status).toBe(401)
    expect((await (await world.user()).put(`/projects/${project.id}`, { description: 'x' })).status).toBe(404)
  })

  test('gives back what was written, and changes nothing else', async () => {
    const project = await world.project()
    const written = {
      description: 'Other',
      topics: ['zeta', 'alpha'],
      request_access_enabled: false,
      lfs_enabled: false,
      shared_runners_enabled: false,
      group_runners_enabled: false,
      printing_merge_request_link_enabled: false,
      remove_source_branch_after_merge: false,
      autoclose_referenced_issues: false,
      emails_enabled: false,
      public_jobs: false,
      keep_latest_artifact: false,
      only_allow_merge_if_pipeline_succeeds: true,
      allow_merge_on_skipped_pipeline: true,
      only_allow_merge_if_all_discussions_are_resolved: true,
      resolve_outdated_diff_discussions: true,
      auto_devops_enabled: true,
      auto_devops_deploy_strategy: 'manual',
      merge_method: 'ff',
      squash_option: 'always',
      merge_commit_template: 'M %{title}',
      squash_commit_template: 'S',
      suggestion_commit_message: 'A',
      issue_branch_template: '%{id}',
      build_timeout: 600,
      build_git_strategy: 'clone',
      ci_default_git_depth: 0,
      auto_cancel_pending_pipelines: 'disabled',
      ci_config_path: 'ci/x.yml@other/project',
      ci_forward_deployment_enabled: false,
      ci_forward_deployment_rollback_allowed: false,
      ci_separated_caches: false,
      ci_allow_fork_pipelines_to_run_in_parent_project: false,
      ci_push_repository_for_job_token_allowed: true,
      ci_id_token_sub_claim_components: ['project_path', 'ref'],
      ci_pipeline_variables_minimum_override_role: 'owner',
      ci_delete_pipelines_in_seconds: 86_400,
      resource_group_default_process_mode: 'newest_ready_first',
      max_artifacts_size: 5,
      approvals_before_merge: 2,
      merge_pipelines_enabled: true,
      merge_trains_enabled: true,
      issues_access_level: 'private',
      repository_access_level: 'private',
      merge_requests_access_level: 'disabled',
      forking_access_level: 'disabled',
      wiki_access_level: 'disabled',
      builds_access_level: 'private',
      snippets_access_level: 'disabled',
      pages_access_level: 'public',
      analytics_access_level: 'disabled',
      container_registry_access_level: 'private',
      security_and_compliance_access_level: 'enabled',
      releases_access_level: 'private',
      environments_access_level: 'private',
      feature_flags_access_level: 'private',
      infrastructure_access_level: 'private',
      monitor_access_level: 'disabled',
      model_experiments_access_level: 'disabled',
      model_registry_access_level: 'disabled',
      package_registry_access_level: 'public',
    }
    const changed = expectStatus(
      await world.root.put(`/projects/${project.id}`, {
        ...written,
        container_expiration_policy_attributes: { enabled: true, keep_n: 5, name_regex_delete: 'tmp.*' },
      }),
      200,
    )
    expect(changed).toMatchObject(written)
    expect(changed).toMatchObject({
      restrict_user_defined_variables: true,
      emails_disabled: true,
      issues_enabled: true,
      merge_requests_enabled: false,
      container_expiration_policy: {
        cadence: '1d',
        enabled: true,
        keep_n: 5,
        older_than: '90d',
        name_regex: 'tmp.*',
        name_regex_keep: null,
      },
    })
    const { permissions: _, ...read } = (await world.root.get(`/projects/${project.id}`)).body as Json
    expect(read).toEqual(changed)
    const again = expectStatus(await world.root.put(`/projects/${project.id}`, { description: null }), 200)
    expect(again).toEqual({
      ...changed,
      description: null,
      description_html: '',
      updated_at: again['updated_at'] as string,
    })
  })

  test('takes what can be set when a project is created there already', async () => {
    const written = {
      merge_method: 'ff',
      build_timeout: 700,
      wiki_access_level: 'disabled',
      shared_runners_enabled: false,
    }
    expect(await world.project(written)).toMatchObject(written)
  })

  test('takes the names of older clients', async () => {
    const project = await world.project()
    const changed = expectStatus(
      await world.root.put(`/projects/${project.id}`, {
        issues_enabled: false,
        wiki_enabled: 0,
        jobs_enabled: 'no',
        packages_enabled: false,
        snippets_enabled: false,
        snippets_access_level: 'private',
        public_builds: false,
        emails_disabled: true,
        tag_list: 'one, two,one',
        restrict_user_defined_variables: true,
      }),
      200,
    )
    expect(changed).toMatchObject({
      issues_access_level: 'disabled',
      issues_enabled: false,
      wiki_access_level: 'disabled',
      builds_access_level: 'disabled',
      package_registry_access_level: 'disabled',
      packages_enabled: false,
      snippets_access_level: 'private',
      public_jobs: false,
      emails_enabled: false,
      topics: ['one', 'two'],
      ci_pipeline_variables_minimum_override_role: 'maintainer',
    })
  })

  test('of the repository takes builds and merge requests along', async () => {
    const project = await world.project()
    const off = expectStatus(
      await world.root.put(`/projects/${project.id}`, { repository_access_level: 'disabled' }),
      200,
    )
    expect([off['builds_access_level'], off['merge_requests_access_level']]).toEqual(['disabled', 'disabled'])
    const answer = await world.root.put(`/projects/${project.id}`, {
      merge_requests_access_level: 'enabled',
    })
    expect(answer.body).toEqual({
      message: {
        'project_feature.merge_requests_access_level': [
          'cannot have higher visibility level than repository access level',
        ],
      },
    })
  })

  test('of name and path leaves a redirect', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id, name: 'Old', path: 'old' })
    const renamed = expectStatus(
      await world.root.put(`/projects/${project.id}`, { name: 'New', path: 'fresh' }),
      200,
    )
    expect(renamed).toMatchObject({ name: 'New', path_with_namespace: `${group.path}/fresh` })
    const old = `/projects/${encodeURIComponent(`${group.path}/old`)}`
    const moved = await world.root.get(`${old}/variables?page=2`)
    expect([moved.status, moved.headers.get('content-type'), moved.headers.get('location')]).toEqual([
      301,
      'text/plain',
      `${world.url}/api/v4/projects/${project.id}/variables?page=2`,
    ])
    expect((await world.root.delete(old)).status).toBe(405)
    expect(await git(project, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')

    // Back again; then another project takes the path that was left.
    expectStatus(await world.root.put(`/projects/${project.id}`, { name: 'Old', path: 'old' }), 200)
    const other = await world.project({ namespace_id: group.id, name: 'Other', path: 'FRESH' })
    expect(
      (await world.root.get(`/projects/${encodeURIComponent(`${group.path}/fresh`)}`)).body,
    ).toMatchObject({
      id: other.id,
    })
    for (const role of ['maintainer', 'owner'] as const) {
      const person = await world.member({ project }, role)
      const taken = await person.put(`/projects/${project.id}`, { name: 'Other', path: 'fresh' })
      expect([taken.status, taken.body]).toEqual([
        400,
        { message: { name: ['has already been taken'], path: ['has already been taken'] } },
      ])
    }
  })

  test('of the default branch moves HEAD to a branch that is there', async () => {
    const empty = await world.project()
    expect(
      expectStatus(await world.root.put(`/projects/${empty.id}`, { default_branch: 'dev' }), 200)[
        'default_branch'
      ],
    ).toBe('dev')
    expect(await git(empty, 'symbolic-ref', 'HEAD')).toBe('refs/heads/dev')

    const project = await world.project({ initialize_with_readme: true })
    const missing = await world.root.put(`/projects/${project.id}`, { default_branch: 'dev' })
    expect([missing.status, missing.body]).toEqual([
      400,
      { message: { base: ["Could not change HEAD: branch 'dev' does not exist"] } },
    ])
    expect(
      (await world.root.put(`/projects/${project.id}`, { default_branch: '--upload-pack=x' })).status,
    ).toBe(400)
    expect((await world.root.put(`/projects/${project.id}`, { default_branch: 'main' })).status).toBe(200)
  })

  test('of the visibility obeys the group', async () => {
    const group = await world.group({ visibility: 'internal' })
    const project = await world.project({ namespace_id: group.id })
    const refused = await world.root.put(`/projects/${project.id}`, { visibility: 'public' })
    expect(refused.body).toEqual({
      message: { visibility_level: ['public is not allowed in a internal namespace.'] },
    })
    expect((await world.root.put(`/projects/${project.id}`, { visibility: 'internal' })).body).toMatchObject({
      visibility: 'internal',
    })
  })
})

test('hostile input is refused, not stumbled over', async () => {
  const project = await world.project()
  const deep = `/projects/${project.id}`
  for (const [method, address, body] of [
    ['GET', '/projects/a%00b'],
    ['GET', '/projects/%2F%2F'],
    ['GET', '/projects/99999999999999999999'],
    ['GET', '/projects/-1'],
    ['GET', '/groups/a%00b'],
    ['GET', '/groups/%ff'],
    ['GET', '/namespaces/a%00b'],
    ['GET', '/namespaces/a%00b/exists'],
    ['GET', '/users/a%00b/projects'],
    ['GET', '/users/99999999999999999999/projects'],
    ['GET', '/projects?search=%00'],
    ['GET', '/projects?id_after=9223372036854775808'],
    ['GET', '/groups?skip_groups=a'],
    ['GET', '/groups?pagination=keyset&cursor=nonsense'],
    ['POST', '/projects', { name: 'x1', namespace_id: '9223372036854775808' }],
    ['POST', '/projects', { name: 'x\u0000y' }],
    ['POST', '/projects', { name: ['x'] }],
    ['POST', '/projects', { name: 'x1', topics: [{}] }],
    ['POST', '/projects', { name: 'x1', topics: ['t'.repeat(300)] }],
    ['POST', '/groups', { name: 'x1', path: 'x1', parent_id: 9_007_199_254_740_991 }],
    ['PUT', deep, { default_branch: 'a\nb' }],
    ['PUT', deep, { path: '../../etc' }],
    ['PUT', deep, { build_timeout: 1e15 }],
    ['PUT', deep, { container_expiration_policy_attributes: 'x' }],
    ['PUT', deep, { ci_id_token_sub_claim_components: ['iss'] }],
  ] as [string, string, unknown?][]) {
    const { status } = await world.root.request(method, address, body)
    expect([address, body, status >= 400 && status < 500]).toEqual([address, body, true])
  }
  expect((await world.root.put(deep, {})).status).toBe(200)
  expect(
    (await world.root.put(deep, { name: null, visibility: null, build_timeout: null })).body,
  ).toMatchObject({
    name: project.name,
    build_timeout: 3600,
  })
})

describe('archiving and deleting', () => {
  test('are for Owners', async () => {
    const project = await world.project()
    const statuses: Json = {}
    for (const role of ['guest', 'developer', 'maintainer'] as const) {
      const person = await world.member({ project }, role)
      statuses[role] = [
        (await person.post(`/projects/${project.id}/archive`)).status,
        (await person.post(`/projects/${project.id}/unarchive`)).status,
        (await person.delete(`/projects/${project.id}`)).status,
      ]
    }
    expect(statuses).toEqual({
      guest: [403, 403, 403],
      developer: [403, 403, 403],
      maintainer: [403, 403, 403],
    })
    const owner = await world.member({ project }, 'owner')
    const archived = await owner.post(`/projects/${project.id}/archive`)
    expect([archived.status, (archived.body as Json)['archived']]).toEqual([201, true])
    const again = await owner.post(`/projects/${project.id}/archive`)
    expect([again.status, again.body]).toEqual([400, { message: 'Project is already archived.' }])
    const unarchived = await owner.post(`/projects/${project.id}/unarchive`)
    expect([unarchived.status, (unarchived.body as Json)['archived']]).toEqual([201, false])
    expect((await owner.delete(`/projects/${project.id}`)).status).toBe(202)
  })

  test('a deleted project is gone, its path free and its repository removed', async () => {
    const group = await world.group()
    const project = await world.project({
      namespace_id: group.id,
      path: 'gone',
      initialize_with_readme: true,
    })
    const folder = repositoryFolder(project.id)
    await access(folder)
    await world.end({ project })
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await world.root.delete(`/projects/${project.id}`)).status).toBe(404)
    expect(await world.project({ namespace_id: group.id, path: 'gone' })).toMatchObject({
      empty_repo: true,
    })
    await expect
      .poll(
        () =>
          access(folder).then(
            () => 'there',
            () => 'gone',
          ),
        { timeout: 10_000 },
      )
      .toBe('gone')
  })
})
