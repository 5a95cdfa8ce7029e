import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, roles, startWorld, type Json, type RoleName, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const keys = [
  'id',
  'username',
  'name',
  'state',
  'locked',
  'avatar_url',
  'web_url',
  'access_level',
  'created_at',
  'created_by',
  'expires_at',
  'membership_state',
]
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const ids = (answer: Reply) => rowsOf(answer).map((member) => member['id'] as number)
const roleNames = Object.keys(roles) as RoleName[]

/** A group or project of this visibility, and where its members are. */
async function place(kind: 'groups' | 'projects', visibility = 'private') {
  const made = kind === 'groups' ? await world.group({ visibility }) : await world.project({ visibility })
  const of = kind === 'groups' ? { group: made } : { project: made }
  return {
    id: made['id'],
    of,
    members: `/${kind}/${made['id']}/members`,
    member: (role: RoleName) => world.member(of, role),
  }
}

/** Nothing is heard of the day of the database. */
async function expire(userId: number): Promise<void> {
  const { writer } = world.service.services.db
  await sql`update members set expires_at = ${day(0)} where user_id = ${userId}`.execute(writer)
}

describe.each(['groups', 'projects'] as const)('members of %s', (kind) => {
  test('who looks after the place adds members; the answer is the member', async () => {
    const { members, member } = await place(kind)
    const owner = await member('owner')
    const person = await world.user()
    const added = await owner.post(members, { user_id: person.id, access_level: 30, expires_at: day(5) })
    expect(added.status).toBe(201)
    expect(Object.keys(bodyOf(added))).toEqual(keys)
    expect(added.body).toMatchObject({
      id: person.id,
      username: person.username,
      web_url: `${world.url}/${person.username}`,
      access_level: 30,
      expires_at: day(5),
      membership_state: 'active',
      created_by: { id: owner.id },
    })
    expect(Object.keys(bodyOf(added)['created_by'] as Json)).toEqual([
      'id',
      'username',
      'name',
      'state',
      'avatar_url',
      'web_url',
    ])
    expect((await person.get(`${members}/${person.id}`)).body).toEqual(added.body)
    expect((await person.get(`${members}/all/${person.id}`)).body).toEqual(added.body)
  })

  test('a member is named by id or by name', async () => {
    const { members } = await place(kind)
    const person = await world.user()
    const post = async (body: Json) => {
      const answer = await world.root.post(members, { access_level: 10, ...body })
      return [answer.status, answer.body] as unknown
    }
    const both = { error: 'user_id, username are mutually exclusive' }
    const none = { error: 'user_id, username are missing, at least one parameter must be provided' }
    expect(await post({ user_id: 1, username: 'root' })).toEqual([400, both])
    expect(await post({})).toEqual([400, none])
    expect(await post({ user_id: 999999 })).toEqual([404, { message: '404 User Not Found' }])
    expect(await post({ user_id: 'somebody' })).toEqual([404, { message: '404 User Not Found' }])
    expect(await post({ username: 'no-such-user' })).toEqual([404, { message: '404 User Not Found' }])
    expect(await post({ username: person.username.toUpperCase() })).toEqual([
      201,
      expect.objectContaining({ id: person.id }),
    ])
    expect(await post({ user_id: person.id, access_level: 20 })).toEqual([
      409,
      { message: 'Member already exists' },
    ])
    const missing = await world.root.post(members, { user_id: person.id })
    expect([missing.status, missing.body]).toEqual([400, { error: 'access_level is missing' }])
  })

  test.each([
    [{ access_level: 0 }, { message: { access_level: ['is not included in the list'] } }],
    [{ access_level: 60 }, { message: { access_level: ['is not included in the list'] } }],
    [{ access_level: 11 }, { message: { access_level: ['is not included in the list'] } }],
    [{ access_level: 'high' }, { error: 'access_level is invalid' }],
    [{ expires_at: '2020-01-01' }, { message: { expires_at: ['cannot be a date in the past'] } }],
    [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
  ])('a membership with %j is refused', async (wrong, body) => {
    const { members, member } = await place(kind)
    const person = await world.user()
    const there = await member('guest')
    for (const by of [world.root, await member('owner')]) {
      const created = await by.post(members, { user_id: person.id, access_level: 30, ...wrong })
      expect([created.status, created.body]).toEqual([400, body])
    }
    const changed = await world.root.put(`${members}/${there.id}`, { access_level: 30, ...wrong })
    expect([changed.status, changed.body]).toEqual([400, body])
  })

  test('several at once: what went well is kept, what did not is told', async () => {
    const { members, member } = await place(kind)
    const [first, second] = [await world.user(), await world.user()]
    const there = await member('guest')
    const post = async (body: Json) => {
      const answer = await world.root.post(members, { access_level: 30, ...body })
      expect(answer.status).toBe(201)
      return answer.body as unknown
    }
    const users = [first.id, there.id, 999999, first.id].join(',')
    expect(await post({ user_id: users })).toEqual({ status: 'success' })
    expect(bodyOf(await world.root.get(`${members}/${there.id}`))['access_level']).toBe(30)
    const wrong = await post({
      username: `${first.username}, ${second.username}`,
      access_level: 12,
      expires_at: '2020-01-01',
    })
    const text = 'Access level is not included in the list, Expires at cannot be a date in the past'
    expect(wrong).toEqual({
      status: 'error',
      message: `${first.username}: ${text} and ${second.username}: ${text}`,
    })
    expect((await world.root.get(`${members}/${second.id}`)).status).toBe(404)
    expect(await post({ username: 'nobody,no-one' })).toEqual({
      status: 'error',
      message: 'No users specified.',
      reason: 'blank_invites_error',
    })
    const many = Array.from({ length: 101 }, (_, index) => 5000 + index).join(',')
    expect(await post({ user_id: many })).toEqual({
      status: 'error',
      message: 'Too many users specified (limit is 100)',
      reason: 'too_many_invites_error',
    })
  })

  test('a level is changed; an expiry stays unless it is named', async () => {
    const { members } = await place(kind)
    const person = await world.user()
    await world.root.post(members, { user_id: person.id, access_level: 10, expires_at: day(9) })
    const changed = await world.root.put(`${members}/${person.id}`, { access_level: 20 })
    expect([changed.status, bodyOf(changed)['access_level'], bodyOf(changed)['expires_at']]).toEqual([
      200,
      20,
      day(9),
    ])
    const cleared = await world.root.put(`${members}/${person.id}`, { access_level: 20, expires_at: '' })
    expect(bodyOf(cleared)['expires_at']).toBe(null)
    const missing = await world.root.put(`${members}/${person.id}`, {})
    expect([missing.status, missing.body]).toEqual([400, { error: 'access_level is missing' }])
    const stranger = await world.user()
    const nobody = await world.root.put(`${members}/${stranger.id}`, { access_level: 20 })
    expect([nobody.status, nobody.body]).toEqual([404, { message: '404 Not found' }])
  })

  test('a removal is seen by the next request', async () => {
    const { id, members, member } = await place(kind)
    const person = await member('developer')
    expect((await person.get(`/${kind}/${id}`)).status).toBe(200)
    const answer = await world.root.delete(`${members}/${person.id}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await person.get(`/${kind}/${id}`)).status).toBe(404)
    const again = await world.root.delete(`${members}/${person.id}`)
    expect([again.status, again.body]).toEqual([404, { message: '404 Not found' }])
  })

  test('a removal may depend on the time of the last change', async () => {
    const { members, member } = await place(kind)
    const person = await member('developer')
    const old = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' }
    const refused = await world.root.delete(`${members}/${person.id}`, undefined, old)
    expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
    const bad = { 'if-unmodified-since': 'yesterday' }
    expect((await world.root.delete(`${members}/${person.id}`, undefined, bad)).status).toBe(204)
  })

  test('the list is searched, filtered and paged', async () => {
    const { members } = await place(kind)
    const word = world.unique('quokka')
    const named = await world.user({ name: `B ${word}` })
    const exact = await world.user({ username: word, name: 'A' })
    const part = await world.user({ name: `A ${word}` })
    for (const person of [named, exact, part]) {
      await world.root.post(members, { user_id: person.id, access_level: 10 })
    }
    for (const list of [members, `${members}/all`]) {
      expect(ids(await world.root.get(`${list}?query=@${word.toUpperCase()}`))).toEqual([
        exact.id,
        part.id,
        named.id,
      ])
      expect(ids(await world.root.get(`${list}?user_ids=${part.id},${exact.id}`))).toEqual([
        exact.id,
        part.id,
      ])
      expect(ids(await world.root.get(`${list}?user_ids[]=${part.id}`))).toEqual([part.id])
      expect(ids(await world.root.get(`${list}?user_ids=`))).toEqual(ids(await world.root.get(list)))
      const wrong = await world.root.get(`${list}?user_ids=a`)
      expect([wrong.status, wrong.body]).toEqual([400, { error: 'user_ids is invalid' }])
    }
    expect(ids(await world.root.get(`${members}?query=${word}&skip_users=${part.id}`))).toEqual([
      exact.id,
      named.id,
    ])
    const page = await world.root.get(`${members}/all?query=${word}&per_page=2&page=2`)
    expect(ids(page)).toEqual([named.id])
    expect(page.headers.get('x-total')).toBe('3')
    await world.root.put(`/users/${named.id}`, { public_email: `${named.username}@example.com` })
    expect(ids(await world.root.get(`${members}?query=${named.username}@example.com`))).toEqual([named.id])
  })

  test('members without the right to, and strangers', async () => {
    const visible = await place(kind, 'public')
    const hidden = await place(kind)
    const target = await visible.member('guest')
    const stranger = await world.user()
    const body = { user_id: stranger.id, access_level: 30 }
    const missing = { message: `404 ${kind === 'groups' ? 'Group' : 'Project'} Not Found` }
    for (const person of [stranger, await visible.member('developer')]) {
      for (const answer of [
        await person.post(visible.members, body),
        await person.put(`${visible.members}/${target.id}`, { access_level: 30 }),
        await person.delete(`${visible.members}/${target.id}`),
      ]) {
        expect([answer.status, answer.body]).toEqual([403, { message: '403 Forbidden' }])
      }
      expect(ids(await person.get(`${visible.members}?user_ids=${target.id}`))).toEqual([target.id])
    }
    for (const answer of [
      await stranger.get(hidden.members),
      await stranger.get(`${hidden.members}/all`),
      await stranger.get(`${hidden.members}/1`),
      await stranger.post(hidden.members, body),
      await stranger.delete(`${hidden.members}/${stranger.id}`),
    ]) {
      expect([answer.status, answer.body]).toEqual([404, missing])
    }
    for (const path of [visible.members, `${visible.members}/all`, `${visible.members}/1`]) {
      expect((await world.anonymous.get(path)).status).toBe(401)
    }
    expect((await stranger.delete(`${visible.members}/${stranger.id}`)).status).toBe(404)
  })

  test.each(roleNames)('a %s may leave', async (role) => {
    const { members, member } = await place(kind)
    const person = await member(role)
    expect((await person.delete(`${members}/${person.id}`)).status).toBe(204)
  })

  test('a membership that has ended counts for nothing, and its row is removed by a task', async () => {
    const { id, members, member } = await place(kind)
    const person = await member('developer')
    await expire(person.id)
    expect((await person.get(`/${kind}/${id}`)).status).toBe(404)
    expect((await world.root.get(`${members}/${person.id}`)).status).toBe(404)
    expect((await world.root.get(`${members}/all/${person.id}`)).status).toBe(404)
    expect(ids(await world.root.get(`${members}?user_ids=${person.id}`))).toEqual([])
    // Who comes back is a new member.
    const again = await world.root.post(members, { user_id: person.id, access_level: 20 })
    expect([again.status, bodyOf(again)['expires_at'], bodyOf(again)['access_level']]).toEqual([
      201,
      null,
      20,
    ])

    await expire(person.id)
    const { writer } = world.service.services.db
    await sql`select graphile_worker.add_job('remove-expired-members')`.execute(writer)
    const left = async () => {
      const { rows } = await sql`select from members where user_id = ${person.id}`.execute(writer)
      return rows.length
    }
    await expect.poll(left, { timeout: 20_000, interval: 100 }).toBe(0)
  })
})

describe('groups', () => {
  test('the last owner stays, whoever removes or lowers him', async () => {
    const { members, member } = await place('groups')
    const owner = await member('owner')
    await world.root.delete(`${members}/1`)
    for (const answer of [
      await owner.delete(`${members}/${owner.id}`),
      await world.root.delete(`${members}/${owner.id}`),
      await world.root.put(`${members}/${owner.id}`, { access_level: 40 }),
      await owner.put(`${members}/${owner.id}`, { access_level: 50, expires_at: day(3) }),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    const several = await world.root.post(members, { user_id: `${owner.id},`, access_level: 10 })
    expect(several.body).toEqual({
      status: 'error',
      message: `${owner.username}: not authorized to update member`,
    })
    await member('owner')
    expect((await owner.delete(`${members}/${owner.id}`)).status).toBe(204)
  })

  test('of two owners who leave at once one stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { members, member } = await place('groups')
      const owners = [await member('owner'), await member('owner')]
      await world.root.delete(`${members}/1`)
      const answers = await Promise.all(owners.map((owner) => owner.delete(`${members}/${owner.id}`)))
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 403])
    }
  })

  test('the last owner of a subgroup may go when the group above has one', async () => {
    const parent = await world.group()
    const group = await world.group({ parent_id: parent['id'] })
    const owner = await world.member({ group }, 'owner')
    await world.root.delete(`/groups/${group['id']}/members/1`)
    expect((await owner.delete(`/groups/${group['id']}/members/${owner.id}`)).status).toBe(204)
  })

  test('who made a subgroup may leave it, and owns it still by the group above', async () => {
    const owner = await world.user()
    const make = async (fields: Json): Promise<Json> =>
      expectStatus(await owner.post('/groups', { name: 'Made', ...fields }), 201)
    const parent = await make({ path: `top-${owner.id}` })
    const group = await make({ path: 'below', parent_id: parent['id'] })
    expect((await owner.delete(`/groups/${group['id']}/members/${owner.id}`)).status).toBe(204)
    const still = await owner.get(`/groups/${group['id']}/members/all/${owner.id}`)
    expect(bodyOf(still)['access_level']).toBe(50)
    expect((await owner.delete(`/groups/${parent['id']}/members/${owner.id}`)).status).toBe(403)
  })

  test('a removal takes the memberships below with it, unless they are to stay', async () => {
    const parent = await world.group()
    const group = await world.group({ parent_id: parent['id'] })
    const project = await world.project({ namespace_id: group['id'] })
    const below = [`/groups/${group['id']}/members`, `/projects/${project['id']}/members`]
    const [kept, gone, other] = [await world.user(), await world.user(), await world.user()]
    const top = `/groups/${parent['id']}/members`
    for (const person of [kept, gone]) {
      for (const members of [top, ...below]) {
        expectStatus(await world.root.post(members, { user_id: person.id, access_level: 20 }), 201)
      }
    }
    for (const members of below) await world.root.post(members, { user_id: other.id, access_level: 20 })
    expect((await world.root.delete(`${top}/${kept.id}?skip_subresources=true`)).status).toBe(204)
    expect((await world.root.delete(`${top}/${gone.id}?unassign_issuables=true`)).status).toBe(204)
    for (const members of below) {
      const there = ids(await world.root.get(`${members}?user_ids=${kept.id},${gone.id},${other.id}`)).sort(
        (a, b) => a - b,
      )
      expect(there).toEqual([kept.id, other.id])
    }
  })

  test('minimal access is given in top-level groups only', async () => {
    const parent = await world.group()
    const group = await world.group({ parent_id: parent['id'] })
    const person = await world.user()
    const body = { user_id: person.id, access_level: 5 }
    expect((await world.root.post(`/groups/${group['id']}/members`, body)).status).toBe(400)
    expect((await world.root.post(`/groups/${parent['id']}/members`, body)).status).toBe(201)
  })
})

describe('inheritance', () => {
  async function tree() {
    const parent = await world.group()
    const group = await world.group({ parent_id: parent['id'] })
    const project = await world.project({ namespace_id: group['id'] })
    return {
      parent,
      top: `/groups/${parent['id']}/members`,
      middle: `/groups/${group['id']}/members`,
      bottom: `/projects/${project['id']}/members`,
    }
  }
  const add = async (members: string, person: Person, access_level: number, more: Json = {}) =>
    expectStatus(await world.root.post(members, { user_id: person.id, access_level, ...more }), 201)

  test('everybody is listed once: a group shows the highest row, a project its own with the highest level', async () => {
    const { top, middle, bottom } = await tree()
    const person = await world.user()
    await add(bottom, person, 20, { expires_at: day(4) })
    await add(middle, person, 30, { expires_at: day(3) })
    await add(top, person, 10, { expires_at: day(2) })
    const inGroup = await world.root.get(`${middle}/all?user_ids=${person.id}`)
    expect(
      rowsOf(inGroup).map((member) => [member['access_level'], member['expires_at']] as unknown[]),
    ).toEqual([[30, day(3)]])
    const inProject = await world.root.get(`${bottom}/all/${person.id}`)
    expect([bodyOf(inProject)['access_level'], bodyOf(inProject)['expires_at']]).toEqual([30, day(4)])
    expect(bodyOf(await person.get(`${bottom}/${person.id}`))['access_level']).toBe(20)
  })

  test('who inherits is no direct member', async () => {
    const { top, bottom } = await tree()
    const person = await world.user()
    await add(top, person, 30)
    const direct = await person.get(`${bottom}/${person.id}`)
    expect([direct.status, direct.body]).toEqual([404, { message: '404 Not found' }])
    expect(ids(await person.get(`${bottom}?user_ids=${person.id}`))).toEqual([])
    expect(bodyOf(await person.get(`${bottom}/all/${person.id}`))['access_level']).toBe(30)
    expect(ids(await person.get(`${bottom}/all?state=active&user_ids=${person.id}`))).toEqual([person.id])
    expect((await person.get(`${bottom}/all?state=odd`)).body).toEqual({
      error: 'state does not have a valid value',
    })
  })

  test('a direct membership is not lower than an inherited one', async () => {
    const { parent, top, middle, bottom } = await tree()
    const person = await world.user()
    await add(top, person, 40)
    const text = `should be greater than or equal to Maintainer inherited membership from group ${parent['name']}`
    for (const members of [middle, bottom]) {
      const low = await world.root.post(members, { user_id: person.id, access_level: 30 })
      expect([low.status, low.body]).toEqual([400, { message: { access_level: [text] } }])
      const several = await world.root.post(members, { user_id: `${person.id},`, access_level: 30 })
      expect(several.body).toEqual({ status: 'error', message: `${person.username}: Access level ${text}` })
      await add(members, person, 40)
      const lowered = await world.root.put(`${members}/${person.id}`, { access_level: 30 })
      expect([lowered.status, lowered.body]).toEqual([400, { message: { access_level: [text] } }])
    }
  })

  test('who waits is listed but has no access', async () => {
    const { top, middle } = await tree()
    const person = await world.user()
    await add(top, person, 30)
    const { writer } = world.service.services.db
    await sql`update members set state = 'awaiting' where user_id = ${person.id}`.execute(writer)
    expect((await person.get(middle)).status).toBe(404)
    for (const [query, there] of [
      ['', [person.id]],
      ['state=awaiting', [person.id]],
      ['state=active', []],
    ] as const) {
      const list = await world.root.get(`${middle}/all?user_ids=${person.id}&${query}`)
      expect(ids(list)).toEqual(there)
    }
    expect(bodyOf(await world.root.get(`${top}/${person.id}`))['membership_state']).toBe('awaiting')
  })
})

describe('projects', () => {
  test('a maintainer neither makes owners nor touches them', async () => {
    const { members, member } = await place('projects')
    const maintainer = await member('maintainer')
    const owner = await member('owner')
    const developer = await member('developer')
    const person = await world.user()
    for (const answer of [
      await maintainer.post(members, { user_id: person.id, access_level: 50 }),
      await maintainer.put(`${members}/${developer.id}`, { access_level: 50 }),
      await maintainer.put(`${members}/${owner.id}`, { access_level: 30 }),
      await maintainer.delete(`${members}/${owner.id}`),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    const several = await maintainer.post(members, { user_id: `${owner.id},${person.id}`, access_level: 30 })
    expect(several.body).toEqual({
      status: 'error',
      message: `${owner.username}: not authorized to update member`,
    })
    expect(bodyOf(await owner.get(`${members}/${person.id}`))['access_level']).toBe(30)
    expect((await maintainer.put(`${members}/${developer.id}`, { access_level: 40 })).status).toBe(200)
    expect((await maintainer.delete(`${members}/${developer.id}`)).status).toBe(204)
    expect((await owner.put(`${members}/${maintainer.id}`, { access_level: 50 })).status).toBe(200)
    const twice = await maintainer.post(members, { user_id: owner.id, access_level: 50 })
    expect(twice.status).toBe(409)
  })

  test('the holder of a personal project is its owner for good', async () => {
    const holder = await world.user()
    const namespace_id: unknown = bodyOf(await world.root.get(`/users/${holder.id}`))['namespace_id']
    const project = await world.project({ namespace_id }, holder)
    const members = `/projects/${project['id']}/members`
    expect(bodyOf(await holder.get(`${members}/${holder.id}`))['access_level']).toBe(50)
    for (const answer of [
      await holder.delete(`${members}/${holder.id}`),
      await world.root.delete(`${members}/${holder.id}`),
      await world.root.put(`${members}/${holder.id}`, { access_level: 40 }),
    ]) {
      expect(answer.status).toBe(403)
    }
  })

  test('a group may keep its projects from having members of their own', async () => {
    const { members, id } = await place('projects')
    const { writer } = world.service.services.db
    await sql`
      update namespaces n set settings = n.settings || '{"membership_lock": true}' from projects p
      where p.id = ${id} and n.id = p.namespace_id`.execute(writer)
    const person = await world.user()
    for (const user_id of [person.id, `${person.id},`]) {
      const answer = await world.root.post(members, { user_id, access_level: 30 })
      expect([answer.status, answer.body]).toEqual([405, { message: '405 Method Not Allowed' }])
    }
  })

  test('nobody becomes a member twice at once', async () => {
    const { members } = await place('projects')
    const person = await world.user()
    const post = (access_level: number) => world.root.post(members, { user_id: person.id, access_level })
    const answers = await Promise.all([10, 20, 30, 40].map(post))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  test('bots of projects stay where they are', async () => {
    const { members } = await place('projects')
    const bot = await world.user()
    await sql`update users set kind = 'project_bot' where id = ${bot.id}`.execute(
      world.service.services.db.writer,
    )
    const answer = await world.root.post(members, { user_id: bot.id, access_level: 30 })
    expect(answer.body).toEqual({
      message: { user_id: ['project bots cannot be added to other groups / projects'] },
    })
  })
})

describe('who leaves', () => {
  test('is taken off issues and merge requests with unassign_issuables, and keeps them without', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const assigned = async (person: Person) => {
      const issue = expectStatus(
        await world.root.post(`/projects/${project.id}/issues`, { title: 'x', assignee_ids: [person.id] }),
        201,
      )
      return async () =>
        bodyOf(await world.root.get(`/projects/${project.id}/issues/${issue['iid'] as number}`))['assignees']
    }
    const [stays, goes] = [
      await world.member({ group }, 'developer'),
      await world.member({ group }, 'developer'),
    ]
    const ofStaying = await assigned(stays)
    const ofGoing = await assigned(goes)
    const leave = (person: Person, query: string) =>
      person.delete(`/groups/${group.id}/members/${person.id}${query}`)
    expectStatus(await leave(stays, ''), 204)
    expectStatus(await leave(goes, '?unassign_issuables=true'), 204)
    await vi.waitFor(async () => expect(await ofGoing()).toEqual([]), { timeout: 20_000, interval: 20 })
    expect(await ofStaying()).toMatchObject([{ id: stays.id }])
  })

  test('has nothing to say any more about what he is told of the place', async () => {
    const group = await world.group({ visibility: 'public' })
    const person = await world.member({ group }, 'developer')
    const settings = `/groups/${group.id}/notification_settings`
    expectStatus(await person.put(settings, { level: 'watch' }), 200)
    expectStatus(await person.delete(`/groups/${group.id}/members/${person.id}`), 204)
    expect(bodyOf(await person.get(settings))).toMatchObject({ level: 'global' })
  })
})
