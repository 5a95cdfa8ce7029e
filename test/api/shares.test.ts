// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const ids = (reply: { body: unknown }) => (reply.body as { id: number }[]).map(({ id }) => id)

async function guests(level: 'guest' | 'developer' | 'owner' = 'developer') {
  const group = await world.group()
  return { group, person: await world.member({ group }, level) }
}

test('a group that is let in has access at once, up to the level of the share, and loses it with it', async () => {
  const project = await world.project()
  const { group, person } = await guests('owner')
  const path = `/projects/${project.id}`
  expect((await person.get(path)).status).toBe(404)
  const shared = await world.root.post(`${path}/share`, {
    group_id: group.id,
    group_access: 30,
    expires_at: day(3),
  })
  expect([shared.status, shared.body]).toEqual([
    201,
    {
      id: expect.any(Number),
      project_id: project.id,
      group_id: group.id,
      group_access: 30,
      expires_at: day(3),
      member_role_id: null,
    },
  ])
  const seen = await person.get(path)
  expect(bodyOf(seen)['shared_with_groups']).toEqual([
    {
      group_id: group.id,
      group_name: group.name,
      group_full_path: group.full_path,
      group_access_level: 30,
      expires_at: day(3),
      member_role_id: null,
    },
  ])
  // A Developer may push, but not look after members.
  expect((await person.post(`${path}/members`, { user_id: 1, access_level: 10 })).status).toBe(403)
  expect(bodyOf(await person.get(`${path}/members/all/${person.id}`))['access_level']).toBe(30)
  expect(ids(await person.get('/projects?membership=true'))).toEqual([project.id])
  expect(ids(await person.get(`/groups/${group.id}/projects`))).toEqual([project.id])
  expect(ids(await person.get(`/groups/${group.id}/projects?with_shared=false`))).toEqual([])
  expect(ids(await person.get(`/groups/${group.id}/projects/shared`))).toEqual([project.id])
  expect(ids(await person.get(`${path}/invited_groups`))).toEqual([group.id])
  expect(ids(await world.root.get(`${path}/groups?with_shared=true`)).includes(group.id)).toBe(true)
  expect(bodyOf(await person.get(`/groups/${group.id}`))['shared_projects']).toMatchObject([
    { id: project.id },
  ])

  expect((await world.root.delete(`${path}/share/${group.id}`)).status).toBe(204)
  expect((await person.get(path)).status).toBe(404)
  const gone = await world.root.delete(`${path}/share/${group.id}`)
  expect([gone.status, gone.body]).toEqual([404, { message: '404 Group Link Not Found' }])
})

test('a group let into a group reaches all below, with its direct members only', async () => {
  const { group: above, person: inherited } = await guests()
  const invited = await world.group({ parent_id: above.id })
  const direct = await world.member({ group: invited }, 'owner')
  const place = await world.group()
  const inner = await world.group({ parent_id: place.id })
  const project = await world.project({ namespace_id: inner.id })
  const answer = await world.root.post(`/groups/${place.id}/share`, {
    group_id: invited.id,
    group_access: 40,
  })
  expect(answer.status).toBe(201)
  expect(bodyOf(answer)['shared_with_groups']).toMatchObject([
    { group_id: invited.id, group_access_level: 40 },
  ])
  expect((await direct.get(`/projects/${project.id}`)).status).toBe(200)
  expect((await inherited.get(`/projects/${project.id}`)).status).toBe(404)
  expect(ids(await direct.get(`/groups/${place.id}/members/all`))).toContain(direct.id)
  expect(ids(await direct.get(`/groups/${inner.id}/invited_groups`))).toEqual([invited.id])
  expect(ids(await direct.get(`/groups/${inner.id}/invited_groups?relation=direct`))).toEqual([])
  expect(ids(await direct.get(`/groups/${invited.id}/groups/shared`))).toEqual([place.id])
  expect((await direct.delete(`/groups/${place.id}/share/${invited.id}`)).status).toBe(403)

  // Into a project come those, too, whom the invited group inherits.
  const other = await world.project()
  expectStatus(
    await world.root.post(`/projects/${other.id}/share`, { group_id: invited.id, group_access: 20 }),
    201,
  )
  expect(
    bodyOf(await world.root.get(`/projects/${other.id}/members/all/${inherited.id}`))['access_level'],
  ).toBe(20)
})

describe('what is refused', () => {
  test('groups, to who does not look after their members, as if there were none', async () => {
    const group = await world.group()
    const { group: invited } = await guests()
    const maintainer = await world.member({ group }, 'maintainer')
    const reply = await maintainer.post(`/groups/${group.id}/share`, {
      group_id: invited.id,
      group_access: 10,
    })
    expect([reply.status, reply.body]).toEqual([404, { message: 'Not Found' }])
  })

  test('levels, days, groups that nobody knows, and the same again', async () => {
    const project = await world.project()
    const group = await world.group()
    const { group: invited } = await guests()
    for (const path of [`/projects/${project.id}/share`, `/groups/${group.id}/share`]) {
      const post = async (body: object) => {
        const reply = await world.root.post(path, { group_id: invited.id, group_access: 30, ...body })
        return [reply.status, reply.body] as unknown
      }
      const level = { error: 'group_access does not have a valid value' }
      expect(await post({ group_access: 0 })).toEqual([400, level])
      expect(await post({ group_access: 60 })).toEqual([400, level])
      expect(await post({ expires_at: day(-1) })).toEqual([
        400,
        { message: { expires_at: ['cannot be a date in the past'] } },
      ])
      expect(await post({ group_id: 999999 })).toEqual([404, { message: 'Not Found' }])
      expect(await post({})).toEqual([201, expect.anything()])
      const again = path.startsWith('/projects')
        ? 'Group already shared with this group'
        : 'Shared group The group has already been shared with this group'
      expect(await post({})).toEqual([409, { message: again }])
    }
  })

  test('a maintainer lets nobody in above his own level, nor a group he cannot see', async () => {
    const project = await world.project()
    const maintainer = await world.member({ project }, 'maintainer')
    const { group } = await guests()
    const path = `/projects/${project.id}/share`
    expect((await maintainer.post(path, { group_id: group.id, group_access: 30 })).status).toBe(404)
    const open = await world.group({ visibility: 'public' })
    expect((await maintainer.post(path, { group_id: open.id, group_access: 50 })).status).toBe(403)
    expect((await maintainer.post(path, { group_id: open.id, group_access: 40 })).status).toBe(201)
  })

  test('a group may keep its projects to itself: new shares are refused, old ones give nothing', async () => {
    const home = await world.group()
    const project = await world.project({ namespace_id: home.id })
    const { group, person } = await guests()
    const path = `/projects/${project.id}`
    expectStatus(await world.root.post(`${path}/share`, { group_id: group.id, group_access: 30 }), 201)
    expect((await person.get(path)).status).toBe(200)
    expectStatus(await world.root.put(`/groups/${home.id}`, { share_with_group_lock: true }), 200)
    expect((await person.get(path)).status).toBe(404)
    expect(bodyOf(await world.root.get(`${path}/members/all/${person.id}`))['access_level']).toBe(0)
    const other = await world.group()
    const refused = await world.root.post(`${path}/share`, { group_id: other.id, group_access: 30 })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: 'The project sharing with group is disabled' },
    ])
  })

  test('a top-level group may keep its groups inside', async () => {
    const top = await world.group()
    const inner = await world.group({ parent_id: top.id })
    const sibling = await world.group({ parent_id: top.id })
    const outside = await world.group()
    expectStatus(
      await world.root.put(`/groups/${top.id}`, { prevent_sharing_groups_outside_hierarchy: true }),
      200,
    )
    const share = (group_id: number) =>
      world.root.post(`/groups/${inner.id}/share`, { group_id, group_access: 30 })
    expect((await share(outside.id)).status).toBe(404)
    expect((await share(sibling.id)).status).toBe(201)
  })
})

test('members of a private invited group are shown to members of either side', async () => {
  const place = await world.group({ visibility: 'public' })
  const { group, person } = await guests()
  expectStatus(
    await world.root.post(`/groups/${place.id}/share`, { group_id: group.id, group_access: 10 }),
    201,
  )
  const stranger = await world.user()
  const member = await world.member({ group: place }, 'guest')
  const all = `/groups/${place.id}/members/all`
  expect(ids(await stranger.get(all))).not.toContain(person.id)
  expect((await stranger.get(`${all}/${person.id}`)).status).toBe(404)
  expect(bodyOf(await stranger.get(`/groups/${place.id}`))['shared_with_groups']).toEqual([])
  for (const caller of [member, person, world.root]) {
    expect(ids(await caller.get(all))).toContain(person.id)
    expect((await caller.get(`${all}/${person.id}`)).status).toBe(200)
  }
  expectStatus(await world.root.put(`/groups/${group.id}`, { visibility: 'public' }), 200)
  expect(ids(await stranger.get(all))).toContain(person.id)
})

test('a share ends with its day, though its row is still there', async () => {
  const project = await world.project()
  const { group, person } = await guests()
  expectStatus(
    await world.root.post(`/projects/${project.id}/share`, {
      group_id: group.id,
      group_access: 30,
      expires_at: day(1),
    }),
    201,
  )
  await sql`update project_shares set expires_at = ${day(0)} where project_id = ${project.id}`.execute(
    world.service.services.db.writer,
  )
  expect((await person.get(`/projects/${project.id}`)).status).toBe(404)
  expect(bodyOf(await world.root.get(`/projects/${project.id}`))['shared_with_groups']).toEqual([])
  // And makes room for a new one.
  expectStatus(
    await world.root.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: 10 }),
    201,
  )
  expect((await person.get(`/projects/${project.id}`)).status).toBe(200)
})
