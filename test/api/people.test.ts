// @module-tag long
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { gpgKey } from '../world/gpg-key.ts'
import { newSshKey } from '../world/ssh-key.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const ids = (rows: readonly Json[]): unknown[] => rows.map((row) => row['id'] as unknown)

async function set(settings: Json): Promise<void> {
  expectStatus(await world.root.put('/application/settings', settings), 200)
}

test('further e-mail addresses: they count for nothing until they are confirmed', async () => {
  const user = await world.user()
  const email = `${world.unique('second')}@example.com`
  const own = expectStatus(await user.post('/user/emails', { email: ` ${email} ` }), 201)
  expect(own).toEqual({ id: own['id'], email, confirmed_at: null })
  expect(await user.get('/user/emails')).toMatchObject({ status: 200, body: [own] })
  expect(await user.get(`/user/emails/${own['id'] as number}`)).toMatchObject({ status: 200, body: own })
  const shown = { public_email: email }
  expect(await user.put('/user', shown)).toMatchObject({
    status: 400,
    body: { message: { public_email: ['is not an email you own'] } },
  })

  const third = `${world.unique('third')}@example.com`
  const emails = `/users/${user.id}/emails`
  const confirmed = expectStatus(
    await world.root.post(emails, { email: third, skip_confirmation: true }),
    201,
  )
  expect(confirmed['confirmed_at']).not.toBeNull()
  expect(bodyOf(await user.put('/user', { public_email: third }))).toMatchObject({ public_email: third })
  expect(ids(rowsOf(await world.root.get(emails)))).toEqual([own['id'], confirmed['id']])
  expect((await world.root.delete(`${emails}/${confirmed['id'] as number}`)).status).toBe(204)
  expect(bodyOf(await user.get('/user'))).toMatchObject({ public_email: null })
  expect((await user.delete(`/user/emails/${own['id'] as number}`)).status).toBe(204)
  expect(await user.delete(`/user/emails/${own['id'] as number}`)).toMatchObject({
    status: 404,
    body: { message: '404 Email Not Found' },
  })
  expect((await world.root.get('/users/999999/emails')).status).toBe(404)
})

test('an address belongs to one account, whether it is the first or a further one', async () => {
  const user = await world.user()
  const other = await world.user()
  const { email: first } = bodyOf(await other.get('/user')) as { email: string }
  const email = `${world.unique('mine')}@example.com`
  expectStatus(await user.post('/user/emails', { email }), 201)
  const taken = { status: 400, body: { message: { email: ['has already been taken'] } } }
  expect(await other.post('/user/emails', { email: email.toUpperCase() })).toMatchObject(taken)
  expect(await user.post('/user/emails', { email: first })).toMatchObject(taken)
  expect(await world.root.put(`/users/${other.id}`, { email })).toMatchObject({
    status: 409,
    body: { message: 'Email has already been taken' },
  })
  for (const [bad, text] of [
    ['nowhere', 'is invalid'],
    ['', "can't be blank"],
  ]) {
    expect(await user.post('/user/emails', { email: bad })).toMatchObject({
      status: 400,
      body: { message: { email: [text] } },
    })
  }
})

test('a confirmed further address accepts the invitations that were sent to it', async () => {
  const user = await world.user()
  const group = await world.group()
  const email = `${world.unique('invited')}@example.com`
  expectStatus(await world.root.post(`/groups/${group.id}/invitations`, { email, access_level: 30 }), 201)
  expect((await user.get(`/groups/${group.id}`)).status).toBe(404)
  expectStatus(await world.root.post(`/users/${user.id}/emails`, { email, skip_confirmation: true }), 201)
  expect((await user.get(`/groups/${group.id}`)).status).toBe(200)
})

test('a status: set whole, changed in part, cleared after its time', async () => {
  const user = await world.user()
  const none = {
    emoji: null,
    message: null,
    availability: 'not_set',
    message_html: null,
    clear_status_at: null,
  }
  expect(bodyOf(await user.get('/user/status'))).toEqual(none)
  const set = { message: 'at <lunch>', availability: 'busy', clear_status_after: '3_hours' }
  const before = Date.now()
  const after = expectStatus(await user.put('/user/status', set), 200)
  expect(after).toMatchObject({
    emoji: 'speech_balloon',
    message: 'at <lunch>',
    availability: 'busy',
    message_html: 'at &lt;lunch&gt;',
  })
  const hours = (Date.parse(after['clear_status_at'] as string) - before) / 3_600_000
  expect(hours).toBeGreaterThan(2.9)
  expect(hours).toBeLessThan(3.1)
  expect(bodyOf(await world.anonymous.get(`/users/${user.username}/status`))).toEqual(after)
  expect(bodyOf(await user.patch('/user/status', { emoji: 'coffee' }))).toEqual({ ...after, emoji: 'coffee' })
  await sql`update user_statuses set clear_status_at = now() where user_id = ${user.id}`.execute(
    world.service.services.db.writer,
  )
  expect(bodyOf(await user.get(`/users/${user.id}/status`))).toEqual(none)
  expect(bodyOf(await user.put('/user/status', { emoji: 'coffee' }))).toMatchObject({ emoji: 'coffee' })
  expect(bodyOf(await user.put('/user/status', {}))).toEqual(none)
  expect(await user.put('/user/status', { emoji: 'no_such_thing', message: 'x'.repeat(101) })).toMatchObject({
    status: 400,
    body: {
      message: {
        emoji: ['is not a valid emoji name'],
        message: ['is too long (maximum is 100 characters)'],
      },
    },
  })
  expect((await user.get('/users/nobody-at-all/status')).status).toBe(404)
})

test('users follow one another', async () => {
  const [user, other, third] = await Promise.all([world.user(), world.user(), world.user()])
  expect(await user.post(`/users/${other.id}/follow`)).toMatchObject({ status: 201, body: { id: other.id } })
  expect((await user.post(`/users/${other.id}/follow`)).status).toBe(304)
  expect((await user.post(`/users/${user.id}/follow`)).status).toBe(304)
  expect((await third.post(`/users/${other.id}/follow`)).status).toBe(201)
  expect((await user.post('/users/999999/follow')).status).toBe(404)
  expect(ids(rowsOf(await third.get(`/users/${other.id}/followers`)))).toEqual(
    [user.id, third.id].sort((a, b) => a - b),
  )
  expect(ids(rowsOf(await third.get(`/users/${user.id}/following`)))).toEqual([other.id])
  expect(bodyOf(await user.get(`/users/${other.id}`))).toMatchObject({
    followers: 2,
    following: 0,
    is_followed: true,
  })
  expectStatus(await world.root.put(`/users/${other.id}`, { private_profile: true }), 200)
  expect((await user.get(`/users/${other.id}/followers`)).status).toBe(404)
  expect((await other.get(`/users/${other.id}/followers`)).status).toBe(200)
  expect((await user.post(`/users/${other.id}/unfollow`)).status).toBe(201)
  expect((await user.post(`/users/${other.id}/unfollow`)).status).toBe(304)
})

test('who users are elsewhere is said, looked for and forgotten', async () => {
  const user = await world.user({ provider: 'saml', extern_uid: 'Mira' })
  const known = bodyOf(await world.root.get(`/users/${user.id}`)) as { identities: Json[] }
  expect(known.identities).toEqual([{ provider: 'saml', extern_uid: 'Mira', saml_provider_id: null }])
  expect(ids(rowsOf(await world.root.get('/users?provider=saml&extern_uid=mira')))).toEqual([user.id])
  expect(rowsOf(await user.get('/users?provider=saml&extern_uid=nobody')).length).toBeGreaterThan(1)
  const name = world.unique('double')
  const double = { username: name, name, email: `${name}@example.com`, force_random_password: true }
  expect(await world.root.post('/users', { ...double, provider: 'saml', extern_uid: 'mira' })).toMatchObject({
    status: 400,
    body: { message: { 'identities.extern_uid': ['has already been taken'] } },
  })
  expectStatus(await world.root.put(`/users/${user.id}`, { provider: 'saml', extern_uid: 'other' }), 200)
  expect((await world.root.delete(`/users/${user.id}/identities/saml`)).status).toBe(204)
  expect(await world.root.delete(`/users/${user.id}/identities/saml`)).toMatchObject({
    status: 404,
    body: { message: '404 Identity Not Found' },
  })
  expect((await user.delete(`/users/${user.id}/identities/saml`)).status).toBe(403)
})

test('people change what they tell of themselves, unless updating_name_disabled_for_users', async () => {
  const user = await world.user()
  const changed = bodyOf(await user.put('/user', { name: 'Another Name', bio: 'Smith', pronouns: 'they' }))
  expect(changed).toMatchObject({ name: 'Another Name', bio: 'Smith', pronouns: 'they' })
  await set({ updating_name_disabled_for_users: true })
  expect((await user.put('/user', { name: 'Third Name' })).status).toBe(403)
  expect((await user.put('/user', { name: 'Another Name', bio: 'Baker' })).status).toBe(200)
  expect((await world.root.put('/user', { name: 'Root Himself' })).status).toBe(200)
  await set({ updating_name_disabled_for_users: false })
  expect((await user.put('/user', { name: 'Third Name' })).status).toBe(200)
})

test('default_preferred_language is copied to those who come', async () => {
  const before = await world.user()
  await set({ default_preferred_language: 'de' })
  const after = await world.user()
  await set({ default_preferred_language: 'en' })
  expect(bodyOf(await before.get('/user'))).toMatchObject({ preferred_language: 'en' })
  expect(bodyOf(await after.get('/user'))).toMatchObject({ preferred_language: 'de' })
})

test('people delete their own account while allow_account_deletion', async () => {
  const user = await world.user({ force_random_password: undefined, password: 'Quite-l0ng-enough' })
  await set({ allow_account_deletion: false })
  expect(await user.delete('/user')).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Account deletion is not allowed.' },
  })
  await set({ allow_account_deletion: true })
  expect(await user.delete('/user', { password: 'wrong' })).toMatchObject({ status: 400 })
  expect((await user.delete('/user', { password: 'Quite-l0ng-enough' })).status).toBe(204)
  expect((await world.root.get(`/users/${user.id}`)).status).toBe(404)
  const owner = await world.user()
  await world.group({}, owner)
  expect((await owner.delete('/user')).status).toBe(409)
})

async function contributor(): Promise<{ user: Person; project: Json; issue: Json; group: Json; note: Json }> {
  const user = await world.user()
  const group = await world.group({}, user)
  const project = await world.project({ visibility: 'public' })
  expectStatus(
    await world.root.post(`/projects/${project.id}/members`, { user_id: user.id, access_level: 30 }),
    201,
  )
  const issue = expectStatus(
    await user.post(`/projects/${project.id}/issues`, { title: 'Of one who goes' }),
    201,
  )
  const theirs = expectStatus(
    await world.root.post(`/projects/${project.id}/issues`, { title: 'Theirs' }),
    201,
  )
  const notes = `/projects/${project.id}/issues/${theirs['iid'] as number}/notes`
  const note = expectStatus(await user.post(notes, { body: 'said' }), 201)
  return { user, project, issue, group, note: { ...note, path: `${notes}/${note['id'] as number}` } }
}

test('what a user did is left to the ghost', async () => {
  const { user, project, issue, group, note } = await contributor()
  expect((await world.root.delete(`/users/${user.id}`)).status).toBe(409)
  await world.end({ group })
  expect((await world.root.delete(`/users/${user.id}`)).status).toBe(204)
  const path = `/projects/${project['id'] as number}/issues/${issue['iid'] as number}`
  expect(bodyOf(await world.root.get(path))).toMatchObject({
    author: { username: 'ghost', name: 'Ghost User' },
  })
  expect(bodyOf(await world.root.get(note['path'] as string))).toMatchObject({
    author: { username: 'ghost' },
  })
  const [ghost] = rowsOf(await world.root.get('/users?username=ghost'))
  expect(await world.root.post(`/users/${ghost!['id'] as number}/block`)).toMatchObject({
    status: 403,
    body: { message: 'An internal user cannot be blocked' },
  })
})

test('with hard_delete it goes too, and the groups that only the user owns', async () => {
  const { user, project, issue, group, note } = await contributor()
  expect((await world.root.delete(`/users/${user.id}`, { hard_delete: true })).status).toBe(204)
  const path = `/projects/${project['id'] as number}/issues`
  expect((await world.root.get(`${path}/${issue['iid'] as number}`)).status).toBe(404)
  expect((await world.root.get(note['path'] as string)).status).toBe(404)
  expect((await world.root.get(`/groups/${group['id'] as number}`)).status).toBe(404)
  expect(rowsOf(await world.root.get(path))).toMatchObject([{ title: 'Theirs', user_notes_count: 0 }])
})

test('projects that a user has contributed to', async () => {
  const { user, project } = await contributor()
  await world.project({ visibility: 'public' })
  for (const name of [user.id, user.username]) {
    expect(ids(rowsOf(await user.get(`/users/${name}/contributed_projects`)))).toEqual([project['id']])
  }
  expect((await user.get('/users/999999/contributed_projects')).status).toBe(404)
})

test('users are read to the end with keyset pagination', async () => {
  await Promise.all([world.user(), world.user(), world.user()])
  const all = ids(rowsOf(await world.root.get('/users?order_by=id&sort=asc&per_page=100')))
  const seen: unknown[] = []
  let path: string | undefined = '/users?pagination=keyset&order_by=id&sort=asc&per_page=4'
  while (path !== undefined) {
    const reply = await world.root.get(path)
    seen.push(...ids(rowsOf(reply)))
    path = /<[^>]*\/api\/v4([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
  }
  expect(seen).toEqual(all)
  expect((await world.root.get('/users?pagination=keyset&order_by=name')).status).toBe(405)
})

test('a deploy key is looked up with the projects that it reaches, a key of a user with none', async () => {
  const project = await world.project()
  const [deploy, own] = [newSshKey().publicKey, newSshKey().publicKey]
  const path = `/projects/${project.id}/deploy_keys`
  const made = expectStatus(await world.root.post(path, { title: 'd', key: deploy, can_push: true }), 201)
  const find = async (fingerprint: string): Promise<Json> =>
    expectStatus(await world.root.get(`/keys?fingerprint=${encodeURIComponent(fingerprint)}`), 200)
  expect(await find(made['fingerprint_sha256'] as string)).toMatchObject({
    id: made['id'],
    deploy_keys_projects: [
      { id: expect.any(Number) as number, deploy_key_id: made['id'], project_id: project.id, can_push: true },
    ],
  })
  const key = expectStatus(await world.root.post('/user/keys', { title: 'own', key: own }), 201)
  const digest = createHash('sha256')
    .update(Buffer.from(own.split(' ')[1]!, 'base64'))
    .digest('base64')
  const found = await find(`SHA256:${digest.replace(/=+$/, '')}`)
  expect(found['id']).toBe(key['id'])
  expect(found).not.toHaveProperty('deploy_keys_projects')
})

test('deploy keys of the instance tell their projects, with the names of all groups above', async () => {
  const top = await world.group()
  const inner = await world.group({ parent_id: top.id })
  const project = await world.project({ namespace_id: inner.id })
  const path = `/projects/${project.id}/deploy_keys`
  const key = { title: 'd', key: newSshKey().publicKey, can_push: true }
  const made = expectStatus(await world.root.post(path, key), 201)
  const listed = rowsOf(await world.root.get('/deploy_keys?per_page=100')).find(({ id }) => id === made['id'])
  expect(listed).toMatchObject({
    projects_with_write_access: [
      {
        id: project.id,
        description: null,
        name: project['name'],
        name_with_namespace: `${top['name']} / ${inner['name']} / ${project['name']}`,
        path: project['path'],
        path_with_namespace: project.path_with_namespace,
        created_at: project['created_at'],
      },
    ],
    projects_with_readonly_access: [],
  })
})

test('GPG keys', async () => {
  const [user, other] = await Promise.all([world.user(), world.user()])
  const made = expectStatus(await user.post('/user/gpg_keys', { key: gpgKey }), 201)
  expect(made).toMatchObject({ key: gpgKey })
  const id = made['id'] as number
  expect(await other.post('/user/gpg_keys', { key: gpgKey })).toMatchObject({
    status: 400,
    body: { message: { fingerprint: ['has already been taken'] } },
  })
  expect(await user.post('/user/gpg_keys', { key: 'no key' })).toMatchObject({ status: 400 })
  expect(ids(rowsOf(await world.anonymous.get(`/users/${user.id}/gpg_keys`)))).toEqual([id])
  expect(bodyOf(await world.anonymous.get(`/users/${user.id}/gpg_keys/${id}`))).toEqual(made)
  expect(await other.delete(`/user/gpg_keys/${id}`)).toMatchObject({
    status: 404,
    body: { message: '404 GPG Key Not Found' },
  })
  expect((await user.post(`/user/gpg_keys/${id}/revoke`)).status).toBe(202)
  const again = expectStatus(await world.root.post(`/users/${user.id}/gpg_keys`, { key: gpgKey }), 201)
  expect((await world.root.delete(`/users/${user.id}/gpg_keys/${again['id'] as number}`)).status).toBe(204)
  expect(rowsOf(await user.get('/user/gpg_keys'))).toEqual([])
})

test.each([
  ['users_api_limit_followers', 'followers'],
  ['users_api_limit_following', 'following'],
  ['users_api_limit_status', 'status'],
  ['users_api_limit_gpg_keys', 'gpg_keys'],
  ['users_api_limit_gpg_key', 'gpg_keys/1'],
  ['user_projects_api_limit', 'projects'],
  ['user_contributed_projects_api_limit', 'contributed_projects'],
  ['user_starred_projects_api_limit', 'starred_projects'],
])('%s bounds the requests of one caller a minute', async (name, path) => {
  const [user, other] = await Promise.all([world.user(), world.user()])
  const ask = async (person: Person) => (await person.get(`/users/${user.id}/${path}`)).status
  await set({ [name]: 2 })
  expect(await ask(user)).not.toBe(429)
  expect(await ask(user)).not.toBe(429)
  expect(await ask(user)).toBe(429)
  expect(await ask(other)).not.toBe(429)
  await set({ [name]: 0 })
  expect(await ask(user)).not.toBe(429)
})

test.each([
  ['group_projects_api_limit', 'groups', 'projects'],
  ['group_invited_groups_api_limit', 'groups', 'invited_groups'],
  ['project_invited_groups_api_limit', 'projects', 'invited_groups'],
])('%s bounds them too', async (name, kind, path) => {
  const user = await world.user()
  const place =
    kind === 'groups' ? await world.group({}, user) : await world.project({ visibility: 'public' })
  const ask = async () => (await user.get(`/${kind}/${place.id}/${path}`)).status
  await set({ [name]: 1 })
  expect(await ask()).toBe(200)
  expect(await ask()).toBe(429)
  await set({ [name]: 0 })
  expect(await ask()).toBe(200)
})
