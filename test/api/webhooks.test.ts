// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawRunner } from '../runner/raw-runner.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { pushFiles } from '../world/push.ts'
import { Receiver } from '../world/receiver.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let receiver: Receiver
beforeAll(async () => {
  world = await startWorld()
  receiver = await Receiver.open()
  await settings({ allow_local_requests_from_web_hooks_and_services: true })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

async function settings(values: Json): Promise<void> {
  expectStatus(await world.root.put('/application/settings', values), 200)
}

let next = 0
/** An address of the receiver that nobody else has. */
function address(): { path: string; url: string } {
  next += 1
  return { path: `/${next}`, url: `${receiver.url}/${next}` }
}

interface Hooked {
  project: Made
  hooks: string
  hook: Json
  path: string
}

async function hooked(fields: Json = {}, project?: Made): Promise<Hooked> {
  const of = project ?? (await world.project())
  const { path, url } = address()
  const hooks = `/projects/${of.id}/hooks`
  const hook = expectStatus(await world.root.post(hooks, { url, ...fields }), 201)
  return { project: of, hooks, hook, path }
}

const hookPath = ({ hooks, hook }: Hooked): string => `${hooks}/${hook['id'] as number}`

describe('a webhook', () => {
  test('is added, listed, changed and deleted; secrets are never shown', async () => {
    const project = await world.project()
    const hooks = `/projects/${project.id}/hooks`
    const made = await world.root.post(hooks, {
      url: `${receiver.url}/{where}`,
      token: 'a secret of mine',
      name: 'Mine',
      issues_events: true,
      push_events: false,
      push_events_branch_filter: 'release/*',
      custom_headers: [{ key: 'X-Key', value: 'another secret' }],
      url_variables: [{ key: 'where', value: 'there' }],
    })
    expect(made.status).toBe(201)
    expect(made.text).not.toContain('secret')
    expect(made.body).toMatchObject({
      url: `${receiver.url}/{where}`,
      name: 'Mine',
      description: null,
      project_id: project.id,
      push_events: false,
      issues_events: true,
      tag_push_events: false,
      enable_ssl_verification: true,
      alert_status: 'executable',
      disabled_until: null,
      push_events_branch_filter: 'release/*',
      branch_filter_strategy: 'wildcard',
      custom_headers: [{ key: 'X-Key' }],
      organization_id: 1,
      url_variables: [{ key: 'where' }],
    })
    const one = `${hooks}/${made.body.id as number}`
    expect(rowsOf(await world.root.get(hooks))).toEqual([made.body])
    const changed = bodyOf(await world.root.put(one, { note_events: true, name: null }))
    expect(changed).toEqual({ ...made.body, note_events: true, name: null })
    expect((await world.root.put(`${one}/custom_headers/X-Other`, { value: 'v' })).status).toBe(204)
    expect((await world.root.delete(`${one}/custom_headers/X-Key`)).status).toBe(204)
    expect((await world.root.delete(`${one}/custom_headers/X-Key`)).status).toBe(404)
    expect(bodyOf(await world.root.get(one))['custom_headers']).toEqual([{ key: 'X-Other' }])
    expect((await world.root.delete(one)).status).toBe(204)
    expect((await world.root.get(one)).status).toBe(404)
  })

  test.for<[string, Json, number, Json]>([
    ['no address', {}, 400, { error: 'url is missing' }],
    ['no URL', { url: 'nonsense' }, 422, { error: 'Invalid url given' }],
    ['another scheme', { url: 'ftp://example.com' }, 422, { error: 'Invalid url given' }],
    ['nobody by that name', { url: 'http://nobody.invalid/x' }, 422, { error: 'Invalid url given' }],
    [
      'a bad branch filter',
      { url: 'http://127.0.0.1', push_events_branch_filter: 'a b' },
      422,
      { error: 'Invalid branch filter given' },
    ],
    [
      'a bad expression',
      { url: 'http://127.0.0.1', push_events_branch_filter: '(', branch_filter_strategy: 'regex' },
      422,
      { error: 'Invalid branch filter given' },
    ],
    [
      'a bad header',
      { url: 'http://127.0.0.1', custom_headers: [{ key: 'A b', value: 'x' }] },
      422,
      { error: 'Custom headers validation failed' },
    ],
    [
      'a long template',
      { url: 'http://127.0.0.1', custom_webhook_template: 'x'.repeat(4097) },
      422,
      { message: { custom_webhook_template: ['is too long (maximum is 4096 characters)'] } },
    ],
    [
      'an unused variable',
      { url: 'http://127.0.0.1', url_variables: [{ key: 'a', value: 'x' }] },
      422,
      { message: { url_variables: ['a is not used in the URL'] } },
    ],
  ])('with %s is refused', async ([, fields, status, body]) => {
    const project = await world.project()
    const reply = await world.root.post(`/projects/${project.id}/hooks`, fields)
    expect([reply.status, reply.body]).toEqual([status, body])
  })

  test('changed by nothing at all is refused', async () => {
    const reply = await world.root.put(hookPath(await hooked()))
    expect([reply.status, reply.body]).toEqual([400, { error: 'No parameters provided' }])
  })

  test('may call the own network only while the settings let it', async () => {
    await settings({ allow_local_requests_from_web_hooks_and_services: false })
    const project = await world.project()
    const refused = await world.root.post(`/projects/${project.id}/hooks`, { url: receiver.url })
    await settings({ allow_local_requests_from_web_hooks_and_services: true })
    expect([refused.status, refused.body]).toEqual([422, { error: 'Invalid url given' }])
    const make = async () =>
      (await world.root.post(`/projects/${project.id}/hooks`, { url: receiver.url })).status
    expect(await make()).toBe(201)
    // By its old name.
    await settings({ allow_local_requests_from_hooks_and_services: false })
    const asBefore = await make()
    await settings({ allow_local_requests_from_hooks_and_services: true })
    expect([asBefore, await make()]).toEqual([422, 201])
  })

  test('may call the service itself, at its own address and port', async () => {
    await settings({ allow_local_requests_from_web_hooks_and_services: false })
    const project = await world.project()
    const make = async (url: URL) =>
      (await world.root.post(`/projects/${project.id}/hooks`, { url: url.href })).status
    const own = new URL('/api/v4/projects/1/ref/main/trigger/pipeline', world.url)
    const beside = new URL(own)
    beside.port = `${Number(own.port) - 1}`
    const made = [await make(own), await make(beside)]
    await settings({ allow_local_requests_from_web_hooks_and_services: true })
    expect(made).toEqual([201, 422])
  })

  test('of the instance may call the own network by a setting of its own', async () => {
    const tried = { url: address().url }
    await settings({ allow_local_requests_from_system_hooks: false })
    const refused = await world.root.post('/hooks', tried)
    await settings({ allow_local_requests_from_system_hooks: true })
    expect([refused.status, refused.body]).toEqual([422, { error: 'Invalid url given' }])
    const made = expectStatus(await world.root.post('/hooks', tried), 201)
    expect(made).toMatchObject({ push_events: false, repository_update_events: true })
    expect((await world.root.delete(`/hooks/${made['id'] as number}`)).status).toBe(204)
  })
})

describe('a push', () => {
  test('calls the webhooks of the project and of the groups above', async () => {
    const top = await world.group()
    const below = await world.group({ parent_id: top.id })
    const project = await world.project({ namespace_id: below.id })
    const ofGroup = address()
    expectStatus(await world.root.post(`/groups/${top.id}/hooks`, { url: ofGroup.url }), 201)
    const { path, hook } = await hooked(
      { token: 'the token', custom_headers: [{ key: 'X-Mine', value: 'me' }] },
      project,
    )
    await pushFiles(world, project, { 'a.txt': 'a', 'b/c.txt': 'c' })

    const { body, headers } = await receiver.next(path)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-token': 'the token',
      'x-gitlab-instance': world.url,
      'x-mine': 'me',
    })
    for (const name of ['x-gitlab-event-uuid', 'x-gitlab-webhook-uuid', 'idempotency-key']) {
      expect(headers[name]).toMatch(/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/)
    }
    expect(body).toMatchObject({
      object_kind: 'push',
      event_name: 'push',
      before: '0'.repeat(40),
      ref: 'refs/heads/main',
      ref_protected: true,
      user_id: world.root.id,
      user_username: 'root',
      user_email: '[REDACTED]',
      project_id: project.id,
      project: { id: project.id, path_with_namespace: project.path_with_namespace, visibility_level: 0 },
      commits: [{ title: 'Add files', added: ['a.txt', 'b/c.txt'], modified: [], removed: [] }],
      total_commits_count: 1,
      repository: { name: project.name },
    })
    expect(body['after']).toBe(body['checkout_sha'])
    const group = await receiver.next(ofGroup.path)
    expect(group.body).toEqual(body)
    expect(group.headers['x-gitlab-event-uuid']).toBe(headers['x-gitlab-event-uuid'])
    expect(group.headers['idempotency-key']).not.toBe(headers['idempotency-key'])

    const [logged] = rowsOf(
      await world.root.get(`/projects/${project.id}/hooks/${hook['id'] as number}/events`),
    )
    expect(logged).toMatchObject({
      url: hook['url'] as string,
      trigger: 'push_hooks',
      response_status: '200',
      response_body: 'thanks',
      request_data: body,
      request_headers: {
        'X-Gitlab-Token': '[REDACTED]',
        'X-Mine': '[REDACTED]',
        'X-Gitlab-Event': 'Push Hook',
      },
      response_headers: { 'x-receiver': 'yes' },
    })
  })

  test('calls only for the branches that the webhook wants', async () => {
    const { project, path } = await hooked({ push_events_branch_filter: 'release/*' })
    await pushFiles(world, project, { a: 'a' }, ['main', 'release/1'])
    expect((await receiver.next(path)).body['ref']).toBe('refs/heads/release/1')
    expect(receiver.at(path)).toHaveLength(1)
  })

  test('of more branches than the limit calls nobody', async () => {
    await settings({ push_event_hooks_limit: 1 })
    const { project, path } = await hooked()
    await pushFiles(world, project, { a: 'a' }, ['main', 'two'])
    await world.settled()
    await settings({ push_event_hooks_limit: 3 })
    await pushFiles(world, project, { b: 'b' }, ['three'])
    expect((await receiver.next(path)).body['ref']).toBe('refs/heads/three')
    expect(receiver.at(path)).toHaveLength(1)
  })

  test('tells the webhooks of the instance that a repository changed', async () => {
    const { path, url } = address()
    const made = expectStatus(await world.root.post('/hooks', { url, push_events: true }), 201)
    const project = await world.project()
    await pushFiles(world, project, { a: 'a' })
    const update = await receiver.next(path, (body) => body['event_name'] === 'repository_update')
    expect(update.headers['x-gitlab-event']).toBe('System Hook')
    expect(update.body).toMatchObject({ project_id: project.id, refs: ['refs/heads/main'] })
    const push = await receiver.next(path, (body) => body['event_name'] === 'push')
    expect(push.headers['x-gitlab-event']).toBe('System Hook')
    expect(push.body['commits']).toBeUndefined()
    await world.root.delete(`/hooks/${made['id'] as number}`)
  })
})

describe('what else calls', () => {
  test('issues and comments, the confidential ones only those who want them', async () => {
    const open = await hooked({ push_events: false, issues_events: true, note_events: true })
    const { project } = open
    const closed = await hooked(
      { push_events: false, confidential_issues_events: true, confidential_note_events: true },
      project,
    )
    const secret = expectStatus(
      await world.root.post(`/projects/${project.id}/issues`, { title: 'Secret', confidential: true }),
      201,
    )
    const issue = expectStatus(
      await world.root.post(`/projects/${project.id}/issues`, { title: 'Seen' }),
      201,
    )
    expectStatus(await world.root.put(`/projects/${project.id}/issues/1`, { title: 'Secret still' }), 200)
    expectStatus(await world.root.put(`/projects/${project.id}/issues/2`, { state_event: 'close' }), 200)
    const told = await receiver.next(closed.path, (body) => body['object_attributes'].action === 'update')
    expect(told.headers['x-gitlab-event']).toBe('Confidential Issue Hook')
    expect(told.body).toMatchObject({
      object_kind: 'issue',
      event_type: 'confidential_issue',
      object_attributes: { id: secret['id'], title: 'Secret still', url: secret['web_url'] },
      changes: { title: { previous: 'Secret', current: 'Secret still' } },
    })
    const closing = await receiver.next(open.path, (body) => body['object_attributes'].action === 'close')
    expect(closing.body['object_attributes']).toMatchObject({ id: issue['id'], state: 'closed', state_id: 2 })

    expectStatus(await world.root.post(`/projects/${project.id}/issues/2/notes`, { body: 'Hello' }), 201)
    const note = await receiver.next(open.path, (body) => body['object_kind'] === 'note')
    expect(note.headers['x-gitlab-event']).toBe('Note Hook')
    expect(note.body).toMatchObject({
      object_attributes: { note: 'Hello', noteable_type: 'Issue', action: 'create', system: false },
      issue: { id: issue['id'], title: 'Seen' },
    })
    expect(JSON.stringify(receiver.at(open.path))).not.toContain('Secret')
  })

  test('merge requests, pipelines, jobs and wiki pages', async () => {
    const { project, path } = await hooked({
      push_events: false,
      merge_requests_events: true,
      pipeline_events: true,
      job_events: true,
      wiki_page_events: true,
    })
    await pushFiles(world, project, { a: 'a' })
    await pushFiles(world, project, { '.gitlab-ci.yml': 'build: { script: [echo] }' }, ['topic'])
    const pipeline = await receiver.next(path, (body) => body['object_kind'] === 'pipeline')
    expect(pipeline.body).toMatchObject({
      object_attributes: { ref: 'topic', status: 'pending', detailed_status: 'pending', stages: ['test'] },
      merge_request: null,
      project: { id: project.id },
      commit: { title: 'Add files' },
      builds: [{ name: 'build', stage: 'test', status: 'pending', when: 'on_success', manual: false }],
    })
    const job = await receiver.next(path, (body) => body['object_kind'] === 'build')
    expect(job.headers['x-gitlab-event']).toBe('Job Hook')
    expect(job.body).toMatchObject({ build_name: 'build', build_status: 'pending', project_id: project.id })

    const request = await world.root.post(`/projects/${project.id}/merge_requests`, {
      title: 'Draft: Topic',
      source_branch: 'topic',
      target_branch: 'main',
    })
    expectStatus(request, 201)
    const opened = await receiver.next(path, (body) => body['object_kind'] === 'merge_request')
    expect(opened.body).toMatchObject({
      object_attributes: {
        iid: 1,
        action: 'open',
        state: 'opened',
        draft: true,
        source_branch: 'topic',
        last_commit: { title: 'Add files' },
        target: { id: project.id },
      },
    })

    const page = { title: 'Home', content: 'Welcome' }
    expectStatus(await world.root.post(`/projects/${project.id}/wikis`, page), 201)
    const wiki = await receiver.next(path, (body) => body['object_kind'] === 'wiki_page')
    expect(wiki.body).toMatchObject({
      object_attributes: {
        slug: 'Home',
        title: 'Home',
        content: 'Welcome',
        action: 'create',
        format: 'markdown',
      },
      wiki: { path_with_namespace: `${project.path_with_namespace}.wiki` },
    })
  })

  test('jobs that runners take, and what these deploy', async () => {
    const project = await world.project({ shared_runners_enabled: false })
    const { path } = await hooked({ push_events: false, job_events: true, deployment_events: true }, project)
    const told = async (kind: string, fits: Json): Promise<Json> => {
      const { body } = await receiver.next(path, (found) =>
        Object.entries({ object_kind: kind, ...fits }).every(([key, value]) => found[key] === value),
      )
      return body
    }
    const config = 'build: { script: [echo] }\ndeploy: { script: [echo], environment: production }'
    await pushFiles(world, project, { '.gitlab-ci.yml': config })
    await told('build', { build_name: 'deploy', build_status: 'pending' })
    const runner = await RawRunner.forProject(world, project)
    await runner.take()
    await runner.take()
    for (const build_name of ['build', 'deploy']) {
      expect(await told('build', { build_name, build_status: 'running' })).toMatchObject({
        build_started_at: expect.stringMatching(/ UTC$/) as string,
        build_finished_at: null,
        runner: { id: runner.id },
      })
    }
    expect(await told('deployment', { status: 'running' })).toMatchObject({ environment: 'production' })
  })
})

describe('calling by hand', () => {
  test('sends the newest of what calls, and answers as the receiver does', async () => {
    const made = await hooked({ push_events: false })
    const { project, path } = made
    const test = (trigger: string) => world.root.post(`${hookPath(made)}/test/${trigger}`)
    const nothing = await test('push_events')
    expect([nothing.status, nothing.body]).toEqual([
      422,
      { message: 'There is nothing yet to call this webhook with' },
    ])
    await pushFiles(world, project, { a: 'a' })
    const passed = await test('push_events')
    expect([passed.status, passed.body]).toEqual([201, { message: '201 Created' }])
    expect(receiver.at(path)[0]!.body).toMatchObject({ object_kind: 'push', ref: 'refs/heads/main' })
    receiver.answers = { status: 500, text: 'no room' }
    const failed = await test('push_events')
    receiver.answers = { status: 200, text: 'thanks' }
    expect([failed.status, failed.body]).toEqual([422, { message: 'no room' }])
    expect((await test('nonsense')).status).toBe(400)

    const failures = rowsOf(await world.root.get(`${hookPath(made)}/events?status=server_failure`))
    expect(failures).toMatchObject([{ response_status: '500', response_body: 'no room' }])
    expect(rowsOf(await world.root.get(`${hookPath(made)}/events?status=200`))).toHaveLength(1)
    for (const status of ['often', '%25%5C', 'toString'])
      expect((await world.root.get(`${hookPath(made)}/events?status=${status}`)).status).toBe(400)
    const again = await world.root.post(`${hookPath(made)}/events/${failures[0]!['id'] as number}/resend`)
    expect([again.status, again.body]).toEqual([201, { response_status: 200 }])
    expect(receiver.at(path)).toHaveLength(3)
    await world.root.put(hookPath(made), { url: address().url })
    const moved = await world.root.post(`${hookPath(made)}/events/${failures[0]!['id'] as number}/resend`)
    expect(moved.status).toBe(422)
  })

  test('is limited to five times a minute', async () => {
    const { id } = expectStatus(await world.root.post('/hooks', { url: address().url }), 201)
    const statuses: number[] = []
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await world.root.post(`/hooks/${id as number}`)).status)
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429])
    await world.root.delete(`/hooks/${id as number}`)
  })

  test('sends what the template makes of it', async () => {
    const made = await hooked({
      custom_webhook_template:
        '{"kind":"{{object_kind}}","who":"{{user_username}}","count":{{total_commits_count}}}',
    })
    await pushFiles(world, made.project, { a: 'a' })
    expect((await receiver.next(made.path)).body).toEqual({ kind: 'push', who: 'root', count: 1 })
    await world.root.put(hookPath(made), { custom_webhook_template: '{{object_kind}}' })
    const unfit = await world.root.post(`${hookPath(made)}/test/push_events`)
    expect(unfit.status).toBe(422)
  })

  test('fails in silent mode, in which nobody is called', async () => {
    const made = await hooked()
    await settings({ silent_mode_enabled: true })
    await pushFiles(world, made.project, { a: 'a' })
    const silent = await world.root.post(`${hookPath(made)}/test/push_events`)
    await world.settled()
    await settings({ silent_mode_enabled: false })
    expect(silent.status).toBe(422)
    await pushFiles(world, made.project, { b: 'b' }, ['loud'])
    expect((await receiver.next(made.path)).body['ref']).toBe('refs/heads/loud')
    expect(receiver.at(made.path)).toHaveLength(1)
  })
})

test('a webhook that fails four times in a row rests, until a test succeeds', async () => {
  const made = await hooked()
  await pushFiles(world, made.project, { a: 'a' })
  await receiver.next(made.path)
  receiver.answers = { status: 404, text: 'gone' }
  for (let count = 0; count < 4; count += 1) await world.root.post(`${hookPath(made)}/test/push_events`)
  receiver.answers = { status: 200, text: 'thanks' }
  const rests = bodyOf(await world.root.get(hookPath(made)))
  expect(rests['alert_status']).toBe('temporarily_disabled')
  expect(Date.parse(rests['disabled_until'] as string)).toBeGreaterThan(Date.now())
  await pushFiles(world, made.project, { b: 'b' }, ['unheard'])
  await world.settled()
  expect((await world.root.post(`${hookPath(made)}/test/push_events`)).status).toBe(201)
  expect(bodyOf(await world.root.get(hookPath(made)))['alert_status']).toBe('executable')
  expect(receiver.at(made.path)).toHaveLength(6)
})
