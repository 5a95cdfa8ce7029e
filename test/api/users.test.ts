import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { during, set } from '../settings/effects.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client } from '../world/client.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

function fields(name: string, more: Json = {}): Json {
  return {
    username: name,
    name: `Name of ${name}`,
    email: `${name}@example.com`,
    force_random_password: true,
    ...more,
  }
}

async function create(more: Json = {}): Promise<Json> {
  const name = world.unique('person')
  return expectStatus(await world.root.post('/users', fields(name, more)), 201)
}

const basicKeys = ['id', 'username', 'public_email', 'name', 'state', 'locked', 'avatar_url', 'web_url']
const profileKeys = [
  ...basicKeys,
  'created_at',
  'bio',
  'location',
  'linkedin',
  'twitter',
  'discord',
  'website_url',
  'github',
  'job_title',
  'pronouns',
  'organization',
  'bot',
  'work_information',
  'followers',
  'following',
  'is_followed',
  'local_time',
]
const ownKeys = [
  ...profileKeys,
  'last_sign_in_at',
  'confirmed_at',
  'last_activity_on',
  'email',
  'theme_id',
  'color_scheme_id',
  'projects_limit',
  'current_sign_in_at',
  'identities',
  'can_create_group',
  'can_create_project',
  'two_factor_enabled',
  'external',
  'private_profile',
  'commit_email',
  'preferred_language',
]
const adminKeys = [...ownKeys, 'is_admin', 'note', 'namespace_id', 'created_by']
const detailKeys = [
  ...adminKeys,
  'current_sign_in_ip',
  'last_sign_in_ip',
  'sign_in_count',
  'highest_role',
  'plan',
  'trial',
  'using_license_seat',
  'is_auditor',
]

test('a user is created with a personal namespace and the long form', async () => {
  const user = await create({
    bio: 'Bio',
    job_title: 'Smith',
    organization: 'Forge',
    website_url: 'https://example.com',
    note: 'for administrators',
    projects_limit: 7,
    can_create_group: false,
    private_profile: true,
    theme_id: 3,
  })
  expect(Object.keys(user)).toEqual(detailKeys)
  expect(user).toMatchObject({
    state: 'active',
    bio: 'Bio',
    work_information: 'Smith at Forge',
    note: 'for administrators',
    projects_limit: 7,
    can_create_group: false,
    external: false,
    private_profile: true,
    theme_id: 3,
    is_admin: false,
    highest_role: 0,
    commit_email: user['email'] as string,
    web_url: `${world.url}/${user['username'] as string}`,
  })
  expect((user['created_by'] as Json)['username']).toBe('root')
  expect(user['namespace_id']).toEqual(expect.any(Number))
})

test('names and addresses are taken in any letter case, before anything else is checked', async () => {
  const user = await create()
  const again = await world.root.post(
    '/users',
    fields('other', { email: (user['email'] as string).toUpperCase(), name: '' }),
  )
  expect([again.status, again.body]).toEqual([409, { message: 'Email has already been taken' }])
  const name = await world.root.post(
    '/users',
    fields((user['username'] as string).toUpperCase(), { email: 'x@y.example' }),
  )
  expect([name.status, name.body]).toEqual([409, { message: 'Username has already been taken' }])
})

const shape =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
test.each([
  [{ username: '-a' }, { username: [shape] }],
  [{ username: 'a b' }, { username: [shape] }],
  [{ username: 'some.git' }, { username: [shape] }],
  [{ username: 'dot.' }, { username: [shape] }],
  [{ username: 'x' }, { username: ['is too short (minimum is 2 characters)'] }],
  [{ username: 'Admin' }, { username: ['Admin is a reserved name'] }],
  [{ username: 'picture.png' }, { username: ['ending with a reserved file extension is not allowed.'] }],
  [{ username: 'u'.repeat(256) }, { username: ['is too long (maximum is 255 characters)'] }],
  [{ email: 'nowhere' }, { email: ['is invalid'] }],
  [{ email: '' }, { email: ["can't be blank"] }],
  [{ name: '' }, { name: ["can't be blank"] }],
  [{ name: 'a'.repeat(128) }, { first_name: ['is too long (maximum is 127 characters)'] }],
  [{ password: 'short' }, { password: ['is too short (minimum is 8 characters)'] }],
  [
    { password: 'password123' },
    { password: ['must not contain commonly used combinations of words and letters'] },
  ],
  [{ bio: 'b'.repeat(256) }, { bio: ['is too long (maximum is 255 characters)'] }],
  [{ website_url: 'javascript:alert(1)' }, { website_url: ['is not a valid URL'] }],
  [{ public_email: 'not@mine.example' }, { public_email: ['is not an email you own'] }],
  [{ projects_limit: -1 }, { projects_limit: ['must be greater than or equal to 0'] }],
])('a user with %j is refused', async (wrong, message) => {
  const name = world.unique('fault')
  const { force_random_password: _, ...plain } = fields(name, {
    password: 'A correct h0rse battery',
    ...wrong,
  })
  const answer = await world.root.post('/users', plain)
  expect([answer.status, answer.body]).toEqual([400, { message }])
})

test('parameters that are missing are named', async () => {
  const answer = await world.root.post('/users', { username: 'somebody' })
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      error:
        'email is missing, name is missing, password, reset_password, force_random_password are missing, at least one parameter must be provided',
    },
  ])
})

test('only administrators write users', async () => {
  const person = await world.user()
  for (const answer of [
    await person.post('/users', fields('nobody')),
    await person.put(`/users/${person.id}`, { name: 'x' }),
    await person.delete(`/users/${person.id}`),
    await person.post(`/users/${person.id}/block`),
    await person.get(`/users/${person.id}/memberships`),
  ]) {
    expect([answer.status, answer.body]).toEqual([403, { message: '403 Forbidden' }])
  }
  expect((await world.anonymous.post('/users', fields('nobody'))).status).toBe(401)
})

test('the list shows the basic form, and the long one to administrators', async () => {
  const person = await world.user()
  const list = await person.get(`/users?username=${person.username.toUpperCase()}`)
  expect(rowsOf(list).map((user) => Object.keys(user))).toEqual([basicKeys])
  expect(list.headers.get('x-total')).toBe('1')
  const long = await world.root.get(`/users?username=${person.username}`)
  expect(Object.keys(rowsOf(long)[0]!)).toEqual(adminKeys)
})

test('without credentials users are found by name only', async () => {
  const person = await world.user()
  const all = await world.anonymous.get('/users')
  expect([all.status, all.body]).toEqual([
    403,
    { message: '403 Forbidden - Not authorized to access /api/v4/users' },
  ])
  const one = await world.anonymous.get(`/users?username=${person.username}`)
  expect(rowsOf(one).map((user) => user['id'] as number)).toEqual([person.id])
  const single = await world.anonymous.get(`/users/${person.id}`)
  expect([single.status, single.body]).toEqual([403, { message: '403 Forbidden - Not authorized!' }])
})

test('a search takes parts of names, whole public addresses, and for administrators whole addresses', async () => {
  const word = world.unique('zebra')
  const exact = await create({ username: word, name: 'Zz last by name', email: `${word}@secret.example` })
  const part = await create({ name: `Aa ${word} first by name`, external: true })
  const reader = await world.user()
  const ids = async (by: Client, query: string) =>
    rowsOf(await by.get(`/users?${query}`)).map((user) => user['id'] as number)

  expect(await ids(reader, `search=@${word}`)).toEqual([exact['id'], part['id']])
  expect(await ids(world.root, `search=${word}`)).toEqual([part['id'], exact['id']])
  expect(await ids(world.root, `search=${word}&sort=asc`)).toEqual([exact['id'], part['id']])
  expect(await ids(reader, `search=${word}@secret.example`)).toEqual([])
  expect(await ids(world.root, `search=${word}@secret.example`)).toEqual([exact['id']])
  await world.root.put(`/users/${exact['id'] as number}`, { public_email: `${word}@secret.example` })
  expect(await ids(reader, `search=${word}@secret.example`)).toEqual([exact['id']])
  expect(await ids(reader, `public_email=${word}@secret.example`)).toEqual([exact['id']])
  expect(await ids(reader, 'search=@')).toEqual([])
  const accented = await create({ name: `Élodie ${word}` })
  expect(await ids(reader, `search=${encodeURIComponent(`Élodie ${word.toUpperCase()}`)}`)).toEqual([
    accented['id'],
  ])
  await world.root.delete(`/users/${accented['id'] as number}`)
  expect(await ids(reader, `search=${word}&external=true`)).toEqual([part['id']])
  expect(await ids(reader, `search=${word}&exclude_external=true`)).toEqual([exact['id']])
})

test('filters by state, kind, time and right', async () => {
  const word = world.unique('filter')
  const active = await create({ username: `${word}-active` })
  const blocked = await create({ username: `${word}-blocked`, admin: true })
  await world.root.post(`/users/${blocked['id'] as number}/block`)
  const reader = await world.user()
  const ids = async (query: string, by: Client = world.root) =>
    rowsOf(await by.get(`/users?search=${word}&${query}`)).map((user) => user['id'] as number)

  expect(await ids('active=true')).toEqual([active['id']])
  expect(await ids('exclude_active=true')).toEqual([blocked['id']])
  expect(await ids('blocked=true')).toEqual([blocked['id']])
  expect(await ids('', reader)).toEqual([active['id']])
  expect(await ids('admins=true')).toEqual([blocked['id']])
  expect(await ids('admins=true', reader)).toEqual([active['id']])
  expect(await ids('humans=true&exclude_internal=true&without_project_bots=true')).toHaveLength(2)
  expect(await ids('exclude_humans=true')).toEqual([])
  expect(await ids('without_projects=true')).toHaveLength(2)
  expect(await ids(`created_before=${active['created_at'] as string}`)).toEqual([])
  expect(await ids('created_after=2020-01-01')).toHaveLength(2)
  expect(await ids('order_by=username&sort=asc')).toEqual([active['id'], blocked['id']])
  const wrong = await world.root.get('/users?order_by=shoe_size&created_after=soon')
  expect(wrong.body).toEqual({
    error: 'created_after is invalid, order_by does not have a valid value',
  })
})

test('one user: the profile, and everything to administrators', async () => {
  const person = await world.user({ private_profile: true })
  const other = await world.user()
  const hidden = await other.get(`/users/${person.id}`)
  const left = new Set(['created_at', 'followers', 'following', 'is_followed'])
  expect(Object.keys(bodyOf(hidden))).toEqual(profileKeys.filter((key) => !left.has(key)))
  expect(Object.keys(bodyOf(await person.get(`/users/${person.id}`)))).toEqual(profileKeys)
  expect(Object.keys(bodyOf(await world.root.get(`/users/${person.id}`)))).toEqual(detailKeys)
  const missing = await other.get('/users/999999')
  expect([missing.status, missing.body]).toEqual([404, { message: '404 User Not Found' }])
  expect((await other.get('/users/abc')).body).toEqual({ error: 'id is invalid' })
})

test('one sees oneself in the long form', async () => {
  const person = await world.user()
  const own = bodyOf(await person.get('/user'))
  expect(Object.keys(own)).toEqual(ownKeys)
  expect(own).toMatchObject({ theme_id: 1, color_scheme_id: 1 })
  expect(Object.keys(bodyOf(await world.root.get('/user')))).toEqual(adminKeys)
  expect((await world.anonymous.get('/user')).status).toBe(401)
  const reading = new Client(world.url, { 'private-token': await world.token(person.id, ['read_user']) })
  expect(bodyOf(await reading.get('/user'))['id']).toBe(person.id)
  expect((await reading.get(`/users/${person.id}`)).status).toBe(200)
  expect((await reading.get('/personal_access_tokens')).status).toBe(403)
})

test('an administrator acts as somebody with sudo, with the rights of that user', async () => {
  const person = await world.user()
  const own = await world.root.get(`/user?sudo=${person.username}`)
  expect(Object.keys(bodyOf(own))).toEqual(ownKeys)
  expect(bodyOf(own)['id']).toBe(person.id)
  const users = await world.root.get(`/users?username=${person.username}`, { sudo: String(person.id) })
  expect(Object.keys(rowsOf(users)[0]!)).toEqual(basicKeys)
  expect((await world.root.get('/users/1/memberships', { sudo: person.username })).status).toBe(403)
  const denied = await person.get('/user?sudo=root')
  expect(denied.body).toEqual({ message: '403 Forbidden - Must be admin to use sudo' })
})

test('a user is changed, and what is not named stays', async () => {
  const user = await create({ bio: 'before', note: 'note' })
  const path = `/users/${user['id'] as number}`
  const changed = expectStatus(
    await world.root.put(path, {
      name: 'New Name',
      email: 'new-address@example.com',
      bio: '',
      location: 'Here',
      admin: true,
    }),
    200,
  )
  expect(changed).toMatchObject({
    name: 'New Name',
    email: 'new-address@example.com',
    commit_email: 'new-address@example.com',
    bio: null,
    location: 'Here',
    note: 'note',
    is_admin: true,
    username: user['username'] as string,
  })
  const taken = await world.root.put(path, { email: 'admin@example.com' })
  expect([taken.status, taken.body]).toEqual([409, { message: 'Email has already been taken' }])
  const name = await world.root.put(path, { username: 'root' })
  expect([name.status, name.body]).toEqual([409, { message: 'Username has already been taken' }])
  expect((await world.root.put(path, { username: (user['username'] as string).toUpperCase() })).status).toBe(
    200,
  )
  const faulty = await world.root.put(path, { username: 'api', name: ' ' })
  expect(faulty.body).toEqual({ message: { name: ["can't be blank"], username: ['api is a reserved name'] } })
  expect((await world.root.put('/users/999999', { name: 'x' })).body).toEqual({
    message: '404 User Not Found',
  })
})

test('no user can have the path of a group', async () => {
  const group = await world.group()
  const answer = await world.root.post('/users', fields(group['path'].toUpperCase()))
  expect([answer.status, answer.body]).toEqual([409, { message: 'Username has already been taken' }])
  const user = await create()
  expect((await world.root.put(`/users/${user['id'] as number}`, { username: group['path'] })).status).toBe(
    409,
  )
})

test('a new username renames the personal projects, whose old paths lead on until somebody takes them', async () => {
  const person = await world.user()
  const project = await world.project(
    { namespace_id: bodyOf(await world.root.get(`/users/${person.id}`))['namespace_id'] as number },
    person,
  )
  const renamed = `${person.username}-renamed`
  await world.root.put(`/users/${person.id}`, { username: renamed })

  const now = await person.get(`/projects/${encodeURIComponent(`${renamed}/${project['path']}`)}`)
  expect(bodyOf(now)['path_with_namespace']).toBe(`${renamed}/${project['path']}`)
  const before = await person.get(`/projects/${encodeURIComponent(`${person.username}/${project['path']}`)}`)
  expect(before.status).toBe(301)
  await create({ username: person.username })
})

test('states: block and unblock', async () => {
  const person = await world.user()
  const act = (name: string, id = person.id) => world.root.post(`/users/${id}/${name}`)
  const blocked = await act('block')
  expect([blocked.status, blocked.body]).toEqual([201, true])
  const refused = await person.get('/user')
  expect([refused.status, refused.body]).toEqual([
    403,
    { message: '403 Forbidden - Your account has been blocked.' },
  ])
  // Clients tell by these that nothing has changed.
  expect(await act('block')).toMatchObject({ status: 201, body: null })
  for (const [name, message] of [
    ['activate', 'Error occurred. A blocked user must be unblocked to be activated'],
    ['deactivate', 'Error occurred. A blocked user cannot be deactivated'],
    ['ban', 'You cannot ban blocked users.'],
    ['unban', 'You cannot unban blocked users.'],
  ] as const) {
    const answer = await act(name)
    expect([answer.status, answer.body]).toEqual([403, { message }])
  }
  expect((await act('unblock')).body).toBe(true)
  expect(await act('unblock')).toMatchObject({ status: 201, body: false })
  expect((await person.get('/user')).status).toBe(200)
  const self = await act('block', world.root.id)
  expect([self.status, self.body]).toEqual([
    403,
    { message: '403 Forbidden - The API initiating user cannot be blocked by the API' },
  ])
  expect((await act('block', 999999)).body).toEqual({ message: '404 User Not Found' })
})

test('states: deactivate, ban', async () => {
  const user = await create()
  const act = (name: string) => world.root.post(`/users/${user['id'] as number}/${name}`)
  const state = async () => bodyOf(await world.root.get(`/users/${user['id'] as number}`))['state'] as string
  expect((await act('deactivate')).body).toBe(true)
  expect(await state()).toBe('deactivated')
  expect((await act('unblock')).body).toEqual({
    message: '403 Forbidden - Deactivated users cannot be unblocked by the API',
  })
  expect((await act('activate')).body).toBe(true)
  expect((await act('ban')).body).toBe(true)
  expect(await state()).toBe('banned')
  // A ban is taken back by itself only.
  expect((await act('block')).body).toBeNull()
  expect(await state()).toBe('banned')
  expect((await act('unban')).body).toBe(true)
  expect((await act('unban')).body).toEqual({ message: 'You cannot unban active users.' })
  expect(await state()).toBe('active')
})

test('who was active lately is not deactivated', async () => {
  const person = await world.user()
  await person.get('/user')
  await expect
    .poll(
      async () => bodyOf(await world.root.get(`/users/${person.id}`))['last_activity_on'] as string | null,
    )
    .not.toBeNull()
  const answer = await world.root.post(`/users/${person.id}/deactivate`)
  expect([answer.status, answer.body]).toEqual([
    403,
    {
      message:
        'The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
    },
  ])
})

test('states: LDAP-blocked users and those who wait for approval', async () => {
  const { writer } = world.service.services.db
  const user = await create()
  const id = user['id'] as number
  const act = (name: string) => world.root.post(`/users/${id}/${name}`)
  const become = (state: string) => sql`update users set state = ${state} where id = ${id}`.execute(writer)
  expect((await act('approve')).body).toEqual({
    message: 'The user you are trying to approve is not pending approval',
  })
  expect((await act('reject')).body).toEqual({ message: 'User does not have a pending request' })
  expect((await act('reject')).status).toBe(409)
  await become('ldap_blocked')
  expect((await act('block')).body).toEqual({
    message: '403 Forbidden - LDAP blocked users cannot be modified by the API',
  })
  expect((await act('unblock')).body).toEqual({
    message: '403 Forbidden - LDAP blocked users cannot be unblocked by the API',
  })
  await become('blocked_pending_approval')
  const approved = await act('approve')
  expect([approved.status, approved.body]).toEqual([201, { message: 'Success' }])
  await become('blocked_pending_approval')
  expect((await act('reject')).status).toBe(201)
  expect((await world.root.get(`/users/${id}`)).status).toBe(404)
})

test('a deleted user is gone, with tokens and personal projects', async () => {
  const person = await world.user()
  const namespace_id: unknown = bodyOf(await world.root.get(`/users/${person.id}`))['namespace_id']
  const project = await world.project({ namespace_id }, person)
  const answer = await world.root.delete(`/users/${person.id}`)
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await person.get('/user')).status).toBe(401)
  expect((await world.root.get(`/projects/${project['id']}`)).status).toBe(404)
  expect((await world.root.delete(`/users/${person.id}`)).body).toEqual({ message: '404 User Not Found' })
  await create({ username: person.username })
})

test('the only owner of a group is not deleted', async () => {
  const group = await world.group()
  const owner = await world.member({ group }, 'owner')
  await world.root.delete(`/groups/${group['id']}/members/1`)
  const answer = await world.root.delete(`/users/${owner.id}`)
  expect([answer.status, answer.body]).toEqual([
    409,
    { message: 'User cannot be removed while is the sole-owner of a group' },
  ])
  await world.member({ group }, 'owner')
  expect((await world.root.delete(`/users/${owner.id}`)).status).toBe(204)
})

test('administrators see the memberships of a user', async () => {
  const project = await world.project()
  const person = await world.member({ project }, 'developer')
  const group = await world.group()
  await world.root.post(`/groups/${group['id']}/members`, { user_id: person.id, access_level: 20 })
  const list = await world.root.get(`/users/${person.id}/memberships`)
  expect(list.body).toEqual([
    {
      source_id: project['id'],
      source_name: project['name'],
      source_type: 'Project',
      access_level: 30,
    },
    {
      source_id: group['id'],
      source_name: group['name'],
      source_type: 'Namespace',
      access_level: 20,
    },
  ])
  expect((await world.root.get(`/users/${person.id}/memberships?type=Namespace`)).body).toHaveLength(1)
  expect((await world.root.get('/users/999999/memberships')).body).toEqual({ message: '404 User Not Found' })
  expect(bodyOf(await world.root.get(`/users/${person.id}`))['highest_role']).toBe(30)
})

test('administrators are told who takes a seat: guests do with a role that gives more than to read code', async () => {
  const person = await world.user()
  const project = await world.project()
  const takes = async () =>
    bodyOf(await world.root.get(`/users/${person.id}`))['using_license_seat'] as boolean
  const role = async (fields: Json) =>
    expectStatus(
      await world.root.post('/member_roles', {
        name: world.unique('role'),
        base_access_level: 10,
        ...fields,
      }),
      201,
    )['id'] as number
  const members = `/projects/${project['id']}/members`
  expect(await takes()).toBe(false)
  expectStatus(await world.root.post(members, { user_id: person.id, access_level: 10 }), 201)
  expect(await takes()).toBe(false)
  const change = (fields: Json) => world.root.put(`${members}/${person.id}`, fields)
  await change({ access_level: 10, member_role_id: await role({ read_code: true }) })
  expect(await takes()).toBe(false)
  await change({ access_level: 10, member_role_id: await role({ read_code: true, read_runners: true }) })
  expect(await takes()).toBe(true)
  await change({ access_level: 20, member_role_id: null })
  expect(await takes()).toBe(true)
  expectStatus(await world.root.post(`/users/${person.id}/block`), 201)
  expect(await takes()).toBe(false)
})

test('visitors see no users while public visibility is restricted', async () => {
  const person = await world.user()
  const paths = [
    `/users?username=${person.username}`,
    ...['status', 'projects', 'contributed_projects', 'starred_projects', 'keys', 'events'].map(
      (of) => `/users/${person.username}/${of}`,
    ),
    ...['keys/4711', 'gpg_keys', 'followers', 'following'].map((of) => `/users/${person.id}/${of}`),
  ]
  const statuses = (client: Client) => Promise.all(paths.map(async (path) => (await client.get(path)).status))
  const open = paths.map((path) => (path.endsWith('/4711') ? 404 : 200))
  await during(world, { restricted_visibility_levels: ['public'] }, async () => {
    expect(await statuses(world.anonymous)).toEqual(paths.map(() => 403))
    expect((await world.anonymous.get(paths[0]!)).body).toEqual({
      message: '403 Forbidden - Not authorized to access /api/v4/users',
    })
    expect(await statuses(person)).toEqual(open)
  })
  expect(await statuses(world.anonymous)).toEqual(open)
})

test('an external user has no projects or groups of his own to make, whatever else is said', async () => {
  const rights = { projects_limit: 7, can_create_group: true }
  const none = { projects_limit: 0, can_create_group: false, can_create_project: false }
  const user = await create({ ...rights, external: true })
  const path = `/users/${user['id'] as number}`
  expect(user).toMatchObject(none)
  expect((await world.root.put(path, { ...rights, name: 'Renamed' })).body).toMatchObject(none)
  expect((await world.root.put(path, { external: false })).body).toMatchObject({
    ...rights,
    can_create_project: true,
  })
  expect((await world.root.put(path, { external: true })).body).toMatchObject(none)
})

test('settings decide what new users begin with', async () => {
  const values = {
    user_default_external: true,
    user_default_internal_regex: '@inside\\.example$',
    user_defaults_to_private_profile: true,
    can_create_group: false,
    default_projects_limit: 3,
    minimum_password_length: 12,
  }
  const begun = { external: true, private_profile: true, can_create_group: false, projects_limit: 0 }
  let outside: Json = {}
  await during(world, values, async () => {
    outside = await create()
    expect(outside).toMatchObject(begun)
    const inside = await create({ email: `${world.unique('in')}@INSIDE.example`, external: undefined })
    expect(inside).toMatchObject({ external: false, can_create_group: false, projects_limit: 3 })
    const { force_random_password: _, ...plain } = fields('pass', { password: 'Xk3-fw9Wq' })
    expect(bodyOf(await world.root.post('/users', plain))['message']).toEqual({
      password: ['is too short (minimum is 12 characters)'],
    })
    await set(world, { minimum_password_length: 8 })
    expectStatus(await world.root.post('/users', plain), 201)
  })
  // What somebody began with stays.
  expect((await world.root.get(`/users/${outside['id'] as number}`)).body).toMatchObject(begun)
  expect(await create()).toMatchObject({
    external: false,
    private_profile: false,
    can_create_group: true,
    projects_limit: 100_000,
  })
})

test('what waits for a user, what belongs to him, when he was active, and what he prefers', async () => {
  const person = await world.user()
  const { id: groupId } = await world.group()
  await world.root.post(`/groups/${groupId}/members`, { user_id: person.id, access_level: 30 })
  expect((await person.get('/user_counts')).body).toEqual({
    merge_requests: 0,
    assigned_issues: 0,
    assigned_merge_requests: 0,
    review_requested_merge_requests: 0,
    todos: 0,
  })
  const counts = { groups_count: 1, projects_count: 0, issues_count: 0, merge_requests_count: 0 }
  for (const caller of [person, world.root]) {
    expect((await caller.get(`/users/${person.id}/associations_count`)).body).toEqual(counts)
  }
  expect((await person.get('/users/1/associations_count')).status).toBe(403)
  expect((await world.root.get('/users/4711/associations_count')).status).toBe(404)
  const active = (await world.root.get('/user/activities?per_page=100')).body as { username: string }[]
  expect(active.map(({ username }) => username)).toContain(person.username)
  expect((await world.root.get('/user/activities?from=2999-01-01')).body).toEqual([])
  const usual = {
    id: person.id,
    user_id: person.id,
    view_diffs_file_by_file: false,
    show_whitespace_in_diffs: true,
    pass_user_identities_to_ci_jwt: false,
  }
  expect((await person.get('/user/preferences')).body).toEqual(usual)
  const changed = await person.put('/user/preferences', { view_diffs_file_by_file: true })
  expect(changed.body).toEqual({ ...usual, view_diffs_file_by_file: true })
  expect((await person.put('/user/preferences', { show_whitespace_in_diffs: false })).body).toEqual({
    ...usual,
    view_diffs_file_by_file: true,
    show_whitespace_in_diffs: false,
  })
  expect((await person.put('/user/preferences', {})).status).toBe(400)
})
