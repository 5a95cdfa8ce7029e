// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { pushFiles } from '../world/push.ts'
import { Receiver, type Received } from '../world/receiver.ts'
import { newSshKey } from '../world/ssh-key.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let receiver: Receiver
/** Where a webhook of the instance calls. */
const system = '/system'
beforeAll(async () => {
  world = await startWorld()
  receiver = await Receiver.open()
  const local = {
    allow_local_requests_from_web_hooks_and_services: true,
    allow_local_requests_from_system_hooks: true,
  }
  expectStatus(await world.root.put('/application/settings', local), 200)
  expectStatus(await world.root.post('/hooks', { url: receiver.url + system }), 201)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

/** What a webhook of the instance is told, by its name and some of what it says. */
function told(event_name: string, fields: Json = {}): Promise<Received> {
  return receiver.next(
    system,
    (body) =>
      body['event_name'] === event_name &&
      Object.entries(fields).every(([key, value]) => body[key] === value),
  )
}

/** A webhook of a place that hears of nothing but this. */
async function hooked(place: { project: Made } | { group: Made }, ...triggers: string[]): Promise<string> {
  const of = 'project' in place ? `/projects/${place.project.id}` : `/groups/${place.group.id}`
  const path = `/${world.unique('hook')}`
  const switches = Object.fromEntries(triggers.map((name) => [`${name}_events`, true]))
  const url = receiver.url + path
  expectStatus(await world.root.post(`${of}/hooks`, { url, push_events: false, ...switches }), 201)
  return path
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const hookTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/

describe('a webhook of the instance is told', () => {
  test('of accounts and their keys', async () => {
    const person = await world.user()
    const { headers, body } = await told('user_create', { user_id: person.id })
    expect(headers['x-gitlab-event']).toBe('System Hook')
    expect(body).toEqual({
      event_name: 'user_create',
      created_at: expect.stringMatching(time) as string,
      updated_at: expect.stringMatching(time) as string,
      name: `Name of ${person.username}`,
      email: `${person.username}@example.com`,
      user_id: person.id,
      username: person.username,
    })

    const key = newSshKey().publicKey
    const added = expectStatus(await person.post('/user/keys', { title: 'Mine', key }), 201)
    expect((await told('key_create', { id: added['id'] })).body).toMatchObject({
      username: person.username,
      key: added['key'],
    })
    expectStatus(await person.delete(`/user/keys/${added['id'] as number}`), 204)
    expect((await told('key_destroy', { id: added['id'] })).body).toMatchObject({ key: added['key'] })

    const username = world.unique('renamed')
    expectStatus(await world.root.put(`/users/${person.id}`, { username }), 200)
    expect((await told('user_rename', { user_id: person.id })).body).toMatchObject({
      username,
      old_username: person.username,
    })
    expectStatus(await world.root.delete(`/users/${person.id}`), 204)
    expect((await told('user_destroy', { user_id: person.id })).body).toMatchObject({ username })
  })

  test('of who is blocked and tries to sign in', async () => {
    const password = 'correct horse battery staple'
    const person = await world.user({ force_random_password: undefined, password })
    const signIn = (): Promise<Response> =>
      fetch(`${world.url}/users/sign_in`, {
        method: 'POST',
        body: new URLSearchParams({ 'user[login]': person.username, 'user[password]': password }),
        headers: { 'sec-fetch-site': 'same-origin' },
      })
    expect((await signIn()).status).toBe(200)
    expectStatus(await world.root.post(`/users/${person.id}/block`), 201)
    expect((await signIn()).status).toBe(401)
    expect((await told('user_failed_login', { user_id: person.id })).body).toMatchObject({
      username: person.username,
      state: 'blocked',
    })
  })

  test('of projects', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const { id: project_id, path_with_namespace } = project
    expect((await told('project_create', { project_id })).body).toEqual({
      event_name: 'project_create',
      created_at: expect.stringMatching(time) as string,
      updated_at: expect.stringMatching(time) as string,
      name: project.name,
      path: project['path'],
      path_with_namespace,
      project_id,
      project_namespace_id: group.id,
      owners: [{ name: expect.any(String) as string, email: expect.stringContaining('@') as string }],
      owner_name: group.name,
      owner_email: '',
      project_visibility: 'private',
    })
    expectStatus(await world.root.put(`/projects/${project_id}`, { description: 'Other' }), 200)
    await told('project_update', { project_id })
    const path = world.unique('moved')
    expectStatus(await world.root.put(`/projects/${project_id}`, { path }), 200)
    expect((await told('project_rename', { project_id })).body).toMatchObject({
      path_with_namespace: `${group['full_path']}/${path}`,
      old_path_with_namespace: path_with_namespace,
    })
    const target = await world.group()
    expectStatus(await world.root.put(`/projects/${project_id}/transfer`, { namespace: target.id }), 200)
    expect((await told('project_transfer', { project_id })).body).toMatchObject({
      path_with_namespace: `${target['full_path']}/${path}`,
      old_path_with_namespace: `${group['full_path']}/${path}`,
    })
    await world.end({
      project: { ...project, path_with_namespace: `${target['full_path']}/${path}` },
    })
    expect((await told('project_destroy', { project_id })).body).toMatchObject({
      owners: [{ name: expect.any(String) as string }],
    })
    const updates = receiver
      .at(system)
      .filter(({ body }) => body['event_name'] === 'project_update' && body['project_id'] === project_id)
    // The second is the mark that the project is to go.
    expect(updates.length).toBeLessThanOrEqual(2)
  })

  test('of groups, and of all that goes with them', async () => {
    const group = await world.group()
    const below = await world.group({ parent_id: group.id })
    const project = await world.project({ namespace_id: below.id })
    expect((await told('group_create', { group_id: below.id })).body).toMatchObject({
      name: below.name,
      path: below['path'],
      full_path: below['full_path'],
    })
    const path = world.unique('other')
    expectStatus(await world.root.put(`/groups/${group.id}`, { path }), 200)
    expect((await told('group_rename', { group_id: group.id })).body).toMatchObject({
      path,
      full_path: path,
      old_path: group['path'],
      old_full_path: group['full_path'],
    })
    await world.end({ group: { ...group, full_path: path } })
    await told('group_destroy', { group_id: group.id })
    await told('group_destroy', { group_id: below.id })
    const gone = await told('project_destroy', { project_id: project.id })
    expect(gone.body['owners']).toHaveLength(1)
    const others = receiver.at(system).map(({ body }) => body['event_name'] as string)
    expect(others.filter((name) => name === 'project_rename')).toHaveLength(1)
  })

  test('of members, and of who wants to be one', async () => {
    const project = await world.project({ visibility: 'public' })
    const person = await world.member({ project }, 'developer')
    const about = { user_id: person.id, project_id: project.id }
    expect((await told('user_add_to_team', about)).body).toMatchObject({
      access_level: 'Developer',
      project_name: project.name,
      project_path: project['path'],
      project_path_with_namespace: project.path_with_namespace,
      project_visibility: 'public',
      user_name: `Name of ${person.username}`,
      user_username: person.username,
      user_email: `${person.username}@example.com`,
      expires_at: null,
    })
    const member = `/projects/${project.id}/members/${person.id}`
    expectStatus(await world.root.put(member, { access_level: 40, expires_at: inDays(7) }), 200)
    expect((await told('user_update_for_team', about)).body).toMatchObject({
      access_level: 'Maintainer',
      expires_at: `${inDays(7)}T00:00:00Z`,
    })
    expectStatus(await world.root.delete(member), 204)
    await told('user_remove_from_team', about)

    const requests = `/projects/${project.id}/access_requests`
    expectStatus(await person.post(requests), 201)
    await told('user_access_request_to_project', about)
    expectStatus(await world.root.delete(`${requests}/${person.id}`), 204)
    await told('user_access_request_revoked_for_project', about)
    const bot = { name: 'bot', scopes: ['api'], expires_at: inDays(7) }
    expectStatus(await world.root.post(`/projects/${project.id}/access_tokens`, bot), 201)
    const asked = await world.user()
    expectStatus(await asked.post(requests), 201)
    expectStatus(await world.root.put(`${requests}/${asked.id}/approve`), 201)
    await told('user_add_to_team', { user_id: asked.id })
    const heard = receiver.at(system).map(({ body }) => body)
    expect(
      heard.filter(({ user_id, event_name }) => user_id === asked.id && /revoked/.test(event_name as string)),
    ).toEqual([])
    expect(
      heard.filter(
        ({ project_id, user_id }) =>
          project_id === project.id && user_id !== person.id && user_id !== asked.id && user_id !== undefined,
      ),
    ).toEqual([])
  })
})

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe('a webhook of a group is told', () => {
  test('of its members', async () => {
    const group = await world.group({ visibility: 'public' })
    const path = await hooked({ group }, 'member')
    const person = await world.member({ group }, 'guest')
    const { headers, body } = await receiver.next(path)
    expect(headers['x-gitlab-event']).toBe('Member Hook')
    expect(body).toEqual({
      event_name: 'user_add_to_group',
      created_at: expect.stringMatching(time) as string,
      updated_at: expect.stringMatching(time) as string,
      group_id: group.id,
      group_name: group.name,
      group_path: group['path'],
      user_id: person.id,
      user_name: `Name of ${person.username}`,
      user_username: person.username,
      user_email: '[REDACTED]',
      group_access: 'Guest',
      group_plan: null,
      expires_at: null,
    })
    const member = `/groups/${group.id}/members/${person.id}`
    expectStatus(await world.root.put(member, { access_level: 10, expires_at: inDays(3) }), 200)
    const updated = await receiver.next(path, (one) => one['event_name'] === 'user_update_for_group')
    expect(updated.body['expires_at']).toBe(`${inDays(3)}T00:00:00Z`)
    expectStatus(await world.root.delete(member), 204)
    await receiver.next(path, (one) => one['event_name'] === 'user_remove_from_group')
    expectStatus(await person.post(`/groups/${group.id}/access_requests`), 201)
    await receiver.next(path, (one) => one['event_name'] === 'user_access_request_to_group')
    expectStatus(await world.root.delete(`/groups/${group.id}/access_requests/${person.id}`), 204)
    await receiver.next(path, (one) => one['event_name'] === 'user_access_request_revoked_for_group')
  })

  test('of the projects and groups in it', async () => {
    const group = await world.group()
    const path = await hooked({ group }, 'project', 'subgroup')
    const below = await world.group({ parent_id: group.id })
    const made = await receiver.next(path, (body) => body['event_name'] === 'subgroup_create')
    expect(made.headers['x-gitlab-event']).toBe('Subgroup Hook')
    expect(made.body).toMatchObject({
      group_id: below.id,
      full_path: below['full_path'],
      parent_group_id: group.id,
      parent_name: group.name,
      parent_path: group['path'],
      parent_full_path: group['full_path'],
    })
    const project = await world.project({ namespace_id: below.id })
    const created = await receiver.next(path, (body) => body['event_name'] === 'project_create')
    expect(created.headers['x-gitlab-event']).toBe('Project Hook')
    expect(created.body).toMatchObject({ project_id: project.id, owners: [{ email: '[REDACTED]' }] })
    expect(created.body).not.toHaveProperty('owner_name')
    await world.end({ group: below })
    await receiver.next(path, (body) => body['event_name'] === 'project_destroy')
    await receiver.next(path, (body) => body['event_name'] === 'subgroup_destroy')
  })

  test('of the newest of them when it is tested', async () => {
    const group = await world.group()
    const path = await hooked({ group })
    const [hook] = rowsOf(await world.root.get(`/groups/${group.id}/hooks`))
    const tested = (trigger: string) =>
      world.root.post(`/groups/${group.id}/hooks/${hook!['id'] as number}/test/${trigger}_events`)
    expect((await tested('subgroup')).status).toBe(422)
    const below = await world.group({ parent_id: group.id })
    const project = await world.project({ namespace_id: group.id })
    for (const trigger of ['subgroup', 'project', 'member']) expectStatus(await tested(trigger), 201)
    expect(receiver.at(path).map(({ body }) => body)).toMatchObject([
      { event_name: 'subgroup_create', group_id: below.id },
      { event_name: 'project_create', project_id: project.id },
      { event_name: 'user_add_to_group', group_id: group.id, user_id: world.root.id },
    ])
  })
})

test('releases call when they are made, changed and deleted', async () => {
  const project = await world.project()
  await pushFiles(world, project, { a: 'a' })
  const path = await hooked({ project }, 'releases')
  const releases = `/projects/${project.id}/releases`
  const links = [{ name: 'Notes', url: 'https://example.com/notes' }]
  const wish = { tag_name: 'v1', ref: 'main', name: 'One', description: 'First', assets: { links } }
  const made = expectStatus(await world.root.post(releases, wish), 201)
  const { headers, body } = await receiver.next(path)
  expect(headers['x-gitlab-event']).toBe('Release Hook')
  const web = project['web_url']
  expect(body).toMatchObject({
    object_kind: 'release',
    action: 'create',
    id: expect.any(Number) as number,
    tag: 'v1',
    name: 'One',
    description: 'First',
    created_at: expect.stringMatching(hookTime) as string,
    released_at: expect.stringMatching(hookTime) as string,
    url: `${web}/-/releases/v1`,
    project: { id: project.id },
    assets: { count: 5, links, sources: (made['assets'] as Json)['sources'] as Json[] },
    commit: { id: (made['commit'] as Json)['id'], title: 'Add files' },
  })
  expectStatus(await world.root.put(`${releases}/v1`, { name: 'Uno' }), 200)
  const changed = await receiver.next(path, (one) => one['action'] === 'update')
  expect(changed.body['name']).toBe('Uno')
  expectStatus(await world.root.delete(`${releases}/v1`), 200)
  await receiver.next(path, (one) => one['action'] === 'delete')
})

test('deployments that somebody tells of call when their status is another one', async () => {
  const project = await world.project({ initialize_with_readme: true })
  const developer = await world.member({ project }, 'developer')
  const path = await hooked({ project }, 'deployment')
  const at = `/projects/${project.id}`
  const commit = expectStatus(await developer.get(`${at}/repository/commits/main`), 200)
  const wish = {
    environment: 'prod',
    sha: commit['id'] as string,
    ref: 'main',
    tag: false,
    status: 'running',
  }
  const { id } = expectStatus(await developer.post(`${at}/deployments`, wish), 201)
  const { headers, body } = await receiver.next(path)
  expect(headers['x-gitlab-event']).toBe('Deployment Hook')
  expect(body).toMatchObject({
    object_kind: 'deployment',
    status: 'running',
    status_changed_at: expect.stringMatching(hookTime) as string,
    deployment_id: id,
    deployable_id: null,
    deployable_url: null,
    environment: 'prod',
    environment_tier: 'production',
    environment_slug: 'prod',
    project: { id: project.id },
    short_sha: commit['short_id'],
    user: { id: developer.id },
    user_url: `${world.url}/${developer.username}`,
    commit_url: `${project.web_url}/-/commit/${commit['id']}`,
    commit_title: 'Initial commit',
    ref: 'main',
  })
  for (const status of ['running', 'success', 'success', 'failed'])
    expectStatus(await world.root.put(`${at}/deployments/${id}`, { status }), 200)
  const failed = await receiver.next(path, (one) => one['status'] === 'failed')
  expect(failed.body['user']).toMatchObject({ id: developer.id })
  await receiver.next(path, (one) => one['status'] === 'success')
  await world.settled()
  expect(receiver.at(path)).toHaveLength(3)
})

test('milestones of projects and groups call when they are made, closed, opened again and deleted', async () => {
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  const path = await hooked({ group }, 'milestone')
  const milestones = `/projects/${project.id}/milestones`
  const wish = { title: 'Spring', due_date: '2030-04-01' }
  const { id, iid } = expectStatus(await world.root.post(milestones, wish), 201)
  const { headers, body } = await receiver.next(path)
  expect(headers['x-gitlab-event']).toBe('Milestone Hook')
  expect(body).toMatchObject({
    object_kind: 'milestone',
    event_type: 'milestone',
    action: 'create',
    project: { id: project.id },
    object_attributes: {
      id,
      iid,
      title: 'Spring',
      description: null,
      state: 'active',
      due_date: '2030-04-01',
      start_date: null,
      project_id: project.id,
      group_id: null,
      created_at: expect.stringMatching(hookTime) as string,
    },
  })
  const one = `${milestones}/${id as number}`
  expectStatus(await world.root.put(one, { state_event: 'close' }), 200)
  await receiver.next(path, ({ action }) => action === 'close')
  expectStatus(await world.root.put(one, { title: 'Early spring' }), 200)
  expectStatus(await world.root.put(one, { state_event: 'activate' }), 200)
  await receiver.next(path, ({ action }) => action === 'reopen')
  expectStatus(await world.root.delete(one), 204)
  await receiver.next(path, ({ action }) => action === 'delete')
  expect(receiver.at(path)).toHaveLength(4)

  expectStatus(await world.root.post(`/groups/${group.id}/milestones`, { title: 'Summer' }), 201)
  const ofGroup = await receiver.next(
    path,
    ({ object_attributes }) => (object_attributes as Json)['title'] === 'Summer',
  )
  expect(ofGroup.body).toMatchObject({
    group: { group_id: group.id },
    object_attributes: { group_id: group.id, project_id: null },
  })
  expect(ofGroup.body).not.toHaveProperty('project')
})

test('reactions call, to confidential issues only who wants to know of those', async () => {
  const project = await world.project()
  const path = await hooked({ project }, 'emoji')
  const trusted = await hooked({ project }, 'emoji', 'confidential_issues')
  const issues = `/projects/${project.id}/issues`
  expectStatus(await world.root.post(issues, { title: 'Secret', confidential: true }), 201)
  expectStatus(await world.root.post(issues, { title: 'Open' }), 201)
  expectStatus(await world.root.post(`${issues}/1/award_emoji`, { name: 'tada' }), 201)
  const award = expectStatus(await world.root.post(`${issues}/2/award_emoji`, { name: 'tada' }), 201)
  const { headers, body } = await receiver.next(path)
  expect(headers['x-gitlab-event']).toBe('Emoji Hook')
  const url = `${project['web_url']}/-/issues/2`
  expect(body).toMatchObject({
    object_kind: 'emoji',
    event_type: 'award',
    user: { id: world.root.id },
    project_id: project.id,
    object_attributes: {
      id: award['id'],
      name: 'tada',
      user_id: world.root.id,
      awardable_type: 'Issue',
      action: 'award',
      awarded_on_url: url,
      created_at: expect.stringMatching(hookTime) as string,
    },
    issue: { iid: 2, title: 'Open' },
  })
  await receiver.next(trusted, (one) => (one['issue'] as Json | undefined)?.['title'] === 'Secret')
  expectStatus(await world.root.delete(`${issues}/2/award_emoji/${award['id'] as number}`), 204)
  const revoked = await receiver.next(path, ({ event_type }) => event_type === 'revoke')
  expect(revoked.body['object_attributes']).toMatchObject({ id: award['id'], action: 'revoke' })

  const note = expectStatus(await world.root.post(`${issues}/2/notes`, { body: 'Well' }), 201)
  const awards = `${issues}/2/notes/${note['id'] as number}/award_emoji`
  expectStatus(await world.root.post(awards, { name: 'thumbsup' }), 201)
  const onNote = await receiver.next(path, (one) => 'note' in one)
  expect(onNote.body).toMatchObject({
    object_attributes: { awardable_type: 'Note', awarded_on_url: `${url}#note_${note['id'] as number}` },
    note: { id: note['id'], note: 'Well' },
    issue: { iid: 2 },
  })
  expect(JSON.stringify(receiver.at(path))).not.toContain('Secret')
})

test('tokens of projects and groups call some days before their end', async () => {
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  const path = await hooked({ group }, 'resource_access_token')
  const token = (place: string, name: string, days: number): Promise<Json> =>
    world.root
      .post(`${place}/access_tokens`, { name, scopes: ['api'], expires_at: inDays(days), access_level: 30 })
      .then((reply) => expectStatus(reply, 201))
  const soon = await token(`/projects/${project.id}`, 'soon', 7)
  await token(`/projects/${project.id}`, 'later', 8)
  await token(`/groups/${group.id}`, 'now', 1)
  const { writer } = world.service.services.db
  await sql`select graphile_worker.add_job('webhooks:expiring-tokens', '{}')`.execute(writer)
  const { headers, body } = await receiver.next(path, (one) => 'project' in one)
  expect(headers['x-gitlab-event']).toBe('Resource Access Token Hook')
  expect(body).toMatchObject({
    object_kind: 'access_token',
    event_name: 'expiring_access_token',
    project: { id: project.id },
    object_attributes: { id: soon['id'], user_id: soon['user_id'], name: 'soon', expires_at: inDays(7) },
  })
  const ofGroup = await receiver.next(path, (one) => 'group' in one)
  expect(ofGroup.body['group']).toEqual({
    group_id: group.id,
    group_name: group.name,
    group_path: group['path'],
    full_path: group['full_path'],
  })
  await world.settled()
  expect(receiver.at(path)).toHaveLength(2)
})

describe('a webhook that leads to its own call', () => {
  /** Does this once for each call of a path, naming the call as it came. */
  function answering(path: string, act: (headers: Record<string, string>) => Promise<unknown>): () => void {
    const seen = new Set<Received>()
    const timer = setInterval(() => {
      for (const one of receiver.at(path)) {
        if (seen.has(one)) continue
        seen.add(one)
        void act({ 'x-gitlab-event-uuid': one.headers['x-gitlab-event-uuid'] as string })
      }
    }, 10)
    return () => clearInterval(timer)
  }

  test('is called once in the chain, and other webhooks are', async () => {
    const project = await world.project()
    const other = await hooked({ project }, 'note')
    const path = await hooked({ project }, 'issues')
    const issues = `/projects/${project.id}/issues`
    let answered = 0
    const stop = answering(path, async (headers) => {
      answered += 1
      const { iid } = expectStatus(
        await world.root.post(issues, { title: `Answer ${answered}` }, headers),
        201,
      )
      expectStatus(await world.root.post(`${issues}/${iid as number}/notes`, { body: 'Done' }, headers), 201)
    })
    expectStatus(await world.root.post(issues, { title: 'First' }), 201)
    const noted = await receiver.next(other)
    const [first] = receiver.at(path)
    expect(noted.headers['x-gitlab-event-uuid']).toBe(first!.headers['x-gitlab-event-uuid'])
    // Who does not name the call begins anew.
    expectStatus(await world.root.post(issues, { title: 'Second' }), 201)
    await receiver.next(path, (body) => (body['object_attributes'] as Json)['title'] === 'Second')
    await expect.poll(() => receiver.at(other)).toHaveLength(2)
    await world.settled()
    stop()
    const titles = receiver.at(path).map(({ body }) => (body['object_attributes'] as Json)['title'])
    expect(titles).toEqual(['First', 'Second'])
  })

  test('is not either by what the database announces', async () => {
    let answered = 0
    const named = new Set<string>()
    const stop = answering(system, async (headers) => {
      const found = receiver
        .at(system)
        .find((one) => one.headers['x-gitlab-event-uuid'] === headers['x-gitlab-event-uuid'])
      if (found?.body['event_name'] !== 'group_create' || !/^chained/.test(found.body['name'] as string))
        return
      answered += 1
      const name = world.unique('chained')
      named.add(name)
      expectStatus(await world.root.post('/groups', { name, path: name }, headers), 201)
    })
    const name = world.unique('chained')
    expectStatus(await world.root.post('/groups', { name, path: name }), 201)
    await expect.poll(() => answered).toBe(1)
    await expect.poll(async () => rowsOf(await world.root.get('/groups?search=chained'))).toHaveLength(2)
    await world.settled()
    stop()
    expect(answered).toBe(1)
  })
})
