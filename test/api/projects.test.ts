// @module-tag long
import { access } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitOf, repositoryFolder } from '../world/repositories.ts'
import { rowsOf } from '../world/bodies.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

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
      requirements_access_level: 'disabled',
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
      requirements_enabled: false,
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

  test('shows its description as safe HTML, alone and in lists', async () => {
    const group = await world.group({ visibility: 'public' })
    const description = '**Fast** <script>alert(1)</script> <a href="javascript:alert(2)">x</a> & more'
    const project = await world.project({ namespace_id: group.id, description })
    const html = ((await world.root.get(`/projects/${project.id}`)).body as Json)[
      'description_html'
    ] as string
    expect(html).toMatch(/^<p[^>]*><strong>Fast<\/strong>/)
    expect(html).toContain('&#x26; more')
    expect(html).not.toMatch(/<script|javascript/)
    const [row] = rowsOf(await world.root.get(`/groups/${group.id}/projects`))
    const embedded = (((await world.root.get(`/groups/${group.id}`)).body as Json)['projects'] as Json[])[0]!
    expect([row!['description_html'], embedded['description_html'], project['description_html']]).toEqual([
      html,
      html,
      html,
    ])
  })

  test('takes what can be set when a project is created there already', async () => {
    const written = {
      merge_method: 'ff',
      build_timeout: 700,
      wiki_access_level: 'disabled',
      shared_runners_enabled: false,
      service_desk_enabled: true,
      enforce_auth_checks_on_uploads: false,
      resource_group_default_process_mode: 'oldest_first',
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
    expect(await gitOf(world, project.id, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')

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
    expect(await gitOf(world, empty.id, 'symbolic-ref', 'HEAD')).toBe('refs/heads/dev')

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
    const folder = repositoryFolder(world, project.id)
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
        { timeout: 30_000 },
      )
      .toBe('gone')
  })
})
