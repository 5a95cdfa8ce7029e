import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const ids = (reply: { body: unknown }) => (reply.body as { id: number }[]).map(({ id }) => id)

describe.each(['groups', 'projects'] as const)('asking to be let into %s', (kind) => {
  async function place() {
    const made =
      kind === 'groups'
        ? await world.group({ visibility: 'public' })
        : await world.project({ visibility: 'public' })
    return { id: made.id, path: `/${kind}/${made.id}`, requests: `/${kind}/${made.id}/access_requests` }
  }

  test('a request is listed, approved with a level, and gone', async () => {
    const { path, requests } = await place()
    const person = await world.user()
    const asked = await person.post(requests)
    expect(asked.status).toBe(201)
    expect(asked.body).toMatchObject({
      id: person.id,
      username: person.username,
      requested_at: expect.any(String),
    })
    const again = await person.post(requests)
    expect([again.status, again.body]).toEqual([400, { message: { user_id: ['already exists in source'] } }])
    expect((await world.root.get(requests)).body).toEqual([asked.body])
    // Who asks is no member yet.
    expect((await world.root.get(`${path}/members/${person.id}`)).status).toBe(404)
    const approved = await world.root.put(`${requests}/${person.id}/approve`)
    expect([approved.status, bodyOf(approved)['access_level']]).toEqual([201, 30])
    expect((await world.root.get(requests)).body).toEqual([])
    expect((await world.root.put(`${requests}/${person.id}/approve`)).status).toBe(404)
    expect((await person.post(requests)).status).toBe(403)
  })

  test('adding who has asked answers the request; removing him refuses it', async () => {
    const { path, requests } = await place()
    const [added, removed] = [await world.user(), await world.user()]
    for (const person of [added, removed]) expectStatus(await person.post(requests), 201)
    expectStatus(await world.root.post(`${path}/members`, { user_id: added.id, access_level: 20 }), 201)
    expect(ids(await world.root.get(requests))).toEqual([removed.id])
    expect((await world.root.delete(`${path}/members/${removed.id}`)).status).toBe(204)
    expect((await world.root.get(requests)).body).toEqual([])
  })

  test('a request is taken back, and refused where nobody may ask', async () => {
    const { path, requests } = await place()
    const person = await world.user()
    expectStatus(await person.post(requests), 201)
    expect((await (await world.user()).delete(`${requests}/${person.id}`)).status).toBe(403)
    expect((await person.delete(`${requests}/${person.id}`)).status).toBe(204)
    expect((await person.delete(`${requests}/${person.id}`)).status).toBe(404)
    expectStatus(await world.root.put(path, { request_access_enabled: false }), 200)
    expect((await person.post(requests)).status).toBe(403)
  })

  test('an address is invited, listed, changed, and a member from signing up on', async () => {
    const { path } = await place()
    const email = `${world.unique('invited')}@example.com`
    const invitations = `${path}/invitations`
    const invited = await world.root.post(invitations, { email, access_level: 20 })
    expect([invited.status, invited.body]).toEqual([201, { status: 'success' }])
    const again = await world.root.post(invitations, { email, access_level: 20 })
    expect(again.status).toBe(201)
    expect(bodyOf(again)).toMatchObject({
      status: 'error',
      message: { [email]: expect.stringContaining('already invited') },
    })
    const listed = rowsOf(await world.root.get(`${invitations}?query=${email.toUpperCase()}`))
    expect(listed).toMatchObject([{ invite_email: email, access_level: 20, user_name: null }])
    expect((await world.root.get(`${invitations}?query=nobody`)).body).toEqual([])
    const changed = await world.root.put(`${invitations}/${encodeURIComponent(email)}`, { access_level: 30 })
    expect([changed.status, bodyOf(changed)['access_level']]).toEqual([200, 30])
    expect(ids(await world.root.get(`${path}/members/all`))).toEqual([1])
    const person = await world.user({ email })
    expect(bodyOf(await world.root.get(`${path}/members/${person.id}`))['access_level']).toBe(30)
    expect((await world.root.get(invitations)).body).toEqual([])
  })

  test('several addresses: what is wrong is told by address, users are members at once', async () => {
    const { path } = await place()
    const person = await world.user()
    const asker = await world.user()
    expectStatus(await asker.post(`${path}/access_requests`), 201)
    const invitations = `${path}/invitations`
    const answer = await world.root.post(invitations, {
      email: `${person.username}@example.com,no address,${asker.username}@example.com`,
      access_level: 10,
    })
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        status: 'error',
        message: {
          'no address': 'Invite email is invalid',
          [`${asker.username}@example.com`]: expect.stringContaining('already requested to join'),
        },
      },
    ])
    expect((await world.root.get(`${path}/members/${person.id}`)).status).toBe(200)
    const blank = await world.root.post(invitations, { email: '', access_level: 10 })
    expect(blank.body).toEqual({ status: 'error', message: 'Emails cannot be blank' })
    const missing = await world.root.put(`${invitations}/nobody%40example.com`, { access_level: 10 })
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Not found' }])
    const nothing = await world.root.put(`${invitations}/nobody%40example.com`, {})
    expect(nothing.body).toEqual({
      error: 'access_level, expires_at are missing, at least one parameter must be provided',
    })
  })
})

describe('waiting for a seat', () => {
  test('all memberships of a user wait or are active together, and give no access while they wait', async () => {
    const top = await world.group()
    const inner = await world.group({ parent_id: top.id })
    const project = await world.project({ namespace_id: inner.id })
    const person = await world.user()
    for (const path of [`/groups/${inner.id}`, `/projects/${project.id}`]) {
      expectStatus(await world.root.post(`${path}/members`, { user_id: person.id, access_level: 30 }), 201)
    }
    const state = (value: string, user = person.id, group = top.id) =>
      world.root.put(`/groups/${group}/members/${user}/state`, { state: value })
    expect((await state('awaiting')).body).toEqual({ success: true })
    expect((await person.get(`/projects/${project.id}`)).status).toBe(404)
    expect(ids(await world.root.get(`/projects/${project.id}/members/all?state=awaiting`))).toEqual([
      person.id,
    ])
    expect(rowsOf(await world.root.get(`/groups/${top.id}/pending_members`))).toMatchObject([
      { username: person.username, approved: false, invited: false },
    ])
    expect((await state('active')).body).toEqual({ success: true })
    expect((await person.get(`/projects/${project.id}`)).status).toBe(200)

    const none = await state('active')
    expect([none.status, none.body]).toEqual([422, { message: 'No memberships found' }])
    const self = await state('awaiting', 1)
    expect([self.status, self.body]).toEqual([422, { message: 'You cannot set yourself to awaiting' }])
    expect((await state('awaiting', person.id, inner.id)).body).toEqual({ message: '400 Bad request' })
    expect((await state('awaiting', 999999)).body).toEqual({ message: '404 User Not Found' })
    expect((await state('asleep')).body).toEqual({ error: 'state does not have a valid value' })
  })

  test('the last owner does not wait', async () => {
    const top = await world.group()
    const owner = await world.member({ group: top }, 'owner')
    expect((await owner.delete(`/groups/${top.id}/members/1`)).status).toBe(204)
    const answer = await world.root.put(`/groups/${top.id}/members/${owner.id}/state`, { state: 'awaiting' })
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: 'The last owner cannot be set to awaiting' },
    ])
  })
})

describe('billable members', () => {
  async function company() {
    const top = await world.group()
    const inner = await world.group({ parent_id: top.id })
    const project = await world.project({ namespace_id: inner.id })
    const invited = await world.group()
    const people = {
      direct: await world.member({ group: top }, 'reporter'),
      below: await world.member({ group: inner }, 'developer'),
      project: await world.member({ project }, 'maintainer'),
      invited: await world.member({ group: invited }, 'developer'),
      guest: await world.member({ group: top }, 'guest'),
    }
    expectStatus(
      await world.root.post(`/groups/${top.id}/share`, { group_id: invited.id, group_access: 30 }),
      201,
    )
    const path = `/groups/${top.id}/billable_members`
    return { top, inner, project, invited, people, path }
  }

  test('everybody who takes a seat is listed once, with the way he came; guests are free', async () => {
    const { people, path } = await company()
    const rows = rowsOf(await world.root.get(path))
    const shown = rows.map((row) => [row['id'], row['membership_type'], row['removable']])
    expect(shown).toEqual([
      [1, 'group_member', true],
      [people.direct.id, 'group_member', true],
      [people.below.id, 'group_member', true],
      [people.project.id, 'project_member', true],
      [people.invited.id, 'group_invite', false],
    ])
    expect(Object.keys(rows[1]!)).toEqual([
      'id',
      'username',
      'name',
      'state',
      'avatar_url',
      'web_url',
      'email',
      'last_activity_on',
      'membership_type',
      'removable',
      'created_at',
      'last_login_at',
      'is_last_owner',
    ])
    expectStatus(await world.root.post(`/users/${people.direct.id}/block`), 201)
    expect(ids(await world.root.get(path))).not.toContain(people.direct.id)
  })

  test('the list is searched and sorted', async () => {
    const { people, path } = await company()
    const by = async (sort: string) => ids(await world.root.get(`${path}?sort=${sort}`))
    expect((await by('access_level_asc'))[0]).toBe(people.direct.id)
    expect((await by('access_level_desc'))[0]).toBe(1)
    expect((await by('oldest_joined'))[0]).toBe(1)
    const names = rowsOf(await world.root.get(`${path}?sort=name_desc`)).map((row) =>
      String(row['name']).toLowerCase(),
    )
    expect(names).toEqual(names.toSorted().toReversed())
    for (const sort of ['last_joined', 'name_asc', 'oldest_sign_in', 'recent_sign_in']) {
      expect(await by(sort)).toHaveLength(5)
    }
    for (const sort of ['last_activity_on_asc', 'last_activity_on_desc'])
      expect(await by(sort)).toHaveLength(5)
    expect(bodyOf(await world.root.get(`${path}?sort=age`))).toEqual({
      error: 'sort does not have a valid value',
    })
    expect(ids(await world.root.get(`${path}?search=@${people.below.username}`))).toEqual([people.below.id])
  })

  test('memberships are told, direct and through groups that were let in', async () => {
    const { top, inner, invited, people, path } = await company()
    const direct = rowsOf(await world.root.get(`${path}/${people.below.id}/memberships`))
    expect(direct).toMatchObject([
      {
        source_id: inner.id,
        source_full_name: `${top.name} / ${inner.name}`,
        source_members_url: `${world.url}/groups/${inner.full_path}/-/group_members`,
        expires_at: null,
        access_level: { string_value: 'Developer', integer_value: 30 },
      },
    ])
    expect((await world.root.get(`${path}/${people.below.id}/indirect`)).body).toEqual([])
    expect(rowsOf(await world.root.get(`${path}/${people.invited.id}/indirect`))).toMatchObject([
      { source_id: invited.id },
    ])
    expect((await world.root.get(`${path}/999999/memberships`)).body).toEqual({ message: '404 Not found' })
    expect((await world.root.get(`${path}/${people.guest.id}/memberships`)).body).toEqual({
      message: '404 User Not Found',
    })
  })

  test('who is removed leaves the whole tree; the last owner stays', async () => {
    const { top, inner, project, people, path } = await company()
    const remove = async (caller: Person, id: number, at = path) => {
      const reply = await caller.delete(`${at}/${id}`)
      return [reply.status, reply.status === 204 ? '' : (bodyOf(reply)['message'] as unknown)]
    }
    expect(await remove(people.below, people.project.id)).toEqual([
      400,
      '400 Bad request - User unauthorized to remove member',
    ])
    expect(await remove(world.root, people.project.id)).toEqual([204, ''])
    expect((await people.project.get(`/projects/${project.id}`)).status).toBe(404)
    expect(await remove(world.root, people.project.id)).toEqual([
      400,
      '400 Bad request - No member found for the given user_id',
    ])
    expect(await remove(world.root, people.below.id, `/groups/${inner.id}/billable_members`)).toEqual([
      400,
      '400 Bad request - Invalid group provided, must be top-level',
    ])
    expect((await remove(world.root, 1))[0]).toBe(400)
    expect((await world.root.get(`/groups/${inner.id}/billable_members`)).status).toBe(400)
    expect(bodyOf(await world.root.get(`/groups/${top.id}/members/1`))['access_level']).toBe(50)
  })

  test('members tell whether they take a seat', async () => {
    const { top, people } = await company()
    const seats = async (list: string) => {
      const rows = rowsOf(await world.root.get(`/groups/${top.id}/${list}?show_seat_info=true`))
      return rows.flatMap((row) => (row['is_using_seat'] === true ? [row['id']] : []))
    }
    expect(await seats('members')).toEqual([1, people.direct.id])
    expect(await seats('members/all')).toEqual([1, people.direct.id, people.invited.id])
    expect(rowsOf(await world.root.get(`/groups/${top.id}/members`))[0]).not.toHaveProperty('is_using_seat')
  })
})

test('who leaves takes his open invitations with him, and old ones are forgotten', async () => {
  const group = await world.group()
  const owner = await world.member({ group }, 'owner')
  const invitations = `/groups/${group.id}/invitations`
  expectStatus(await owner.post(invitations, { email: 'one@example.org', access_level: 10 }), 201)
  expectStatus(await world.root.post(invitations, { email: 'two@example.org', access_level: 10 }), 201)
  expect((await owner.delete(`/groups/${group.id}/members/${owner.id}`)).status).toBe(204)
  expect(rowsOf(await world.root.get(invitations)).map((row) => row['invite_email'])).toEqual([
    'two@example.org',
  ])
  const { writer } = world.service.services.db
  await sql`update invitations set created_at = now() - interval '91 days'`.execute(writer)
  await world.service.services.db.transaction(async (tx) => {
    await sql`select graphile_worker.add_job('forget-old-invitations')`.execute(tx)
  })
  await expect
    .poll(async () => (await world.root.get(invitations)).body as unknown, { timeout: 30_000 })
    .toEqual([])
})
