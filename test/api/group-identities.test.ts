import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let owner: Person
let member: Person
let group: Made
beforeAll(async () => {
  world = await startWorld()
  owner = await world.user()
  group = await world.group({}, owner)
  member = await world.member({ group }, 'developer')
})
afterAll(() => world[Symbol.asyncDispose]())

const seen = async (caller: Person, path: string): Promise<Json> =>
  expectStatus(await caller.get(`${path}/members/all/${member.id}`), 200)

test('owners see who members are at the sign-in of the group', async () => {
  const identities = `/groups/${group.id}/saml/identities`
  expect(await seen(owner, `/groups/${group.id}`)).not.toHaveProperty('group_saml_identity')
  const mira = { user_id: member.id, extern_uid: 'Mira' }
  expect(expectStatus(await owner.post(identities, mira), 201)).toEqual(mira)
  const subgroup = await world.group({ parent_id: group.id }, owner)
  const project = await world.project({ namespace_id: subgroup.id }, owner)
  for (const path of [`/groups/${group.id}`, `/groups/${subgroup.id}`, `/projects/${project.id}`]) {
    const shown = await seen(owner, path)
    expect(Object.keys(shown).slice(-3)).toEqual(['expires_at', 'group_saml_identity', 'membership_state'])
    expect(shown).toMatchObject({
      group_saml_identity: {
        extern_uid: 'Mira',
        provider: 'group_saml',
        saml_provider_id: expect.any(Number) as number,
      },
    })
    expect(await seen(member, path)).not.toHaveProperty('group_saml_identity')
    const listed = rowsOf(await owner.get(`${path}/members/all`))
    expect(listed.find(({ id }) => id === owner.id)).toMatchObject({ group_saml_identity: null })
  }
  // Owners may ask for those alone; of others it is ignored.
  const known = `/groups/${group.id}/members?with_saml_identity=true`
  expect(rowsOf(await owner.get(known)).map(({ id }) => id)).toEqual([member.id])
  expect(rowsOf(await member.get(known)).length).toBeGreaterThan(1)

  expect(bodyOf(await owner.get(identities))).toEqual([mira])
  expect(await owner.post(identities, { user_id: owner.id, extern_uid: 'mira' })).toMatchObject({
    status: 400,
    body: { message: { extern_uid: ['has already been taken'] } },
  })
  const stranger = await world.user()
  expect((await owner.post(identities, { user_id: stranger.id, extern_uid: 'x' })).status).toBe(404)
  expect((await owner.post(`/groups/${subgroup.id}/saml/identities`, mira)).status).toBe(400)
  expect((await member.get(identities)).status).toBe(403)
  const one = `/groups/${group.id}/saml`
  expect(bodyOf(await owner.patch(`${one}/mira`, { extern_uid: 'mira@corp' }))).toMatchObject({
    extern_uid: 'mira@corp',
    user_id: member.id,
  })
  expect((await owner.get(`${one}/mira`)).status).toBe(404)
  expect((await owner.delete(`${one}/${encodeURIComponent('mira@corp')}`)).status).toBe(204)
  expect(await seen(owner, `/groups/${group.id}`)).toMatchObject({ group_saml_identity: null })
})

test('who leaves the group is nobody at its sign-in any more', async () => {
  const leaver = await world.member({ group }, 'guest')
  const identities = `/groups/${group.id}/saml/identities`
  expectStatus(await owner.post(identities, { user_id: leaver.id, extern_uid: 'leaver' }), 201)
  expect((await owner.delete(`/groups/${group.id}/members/${leaver.id}`)).status).toBe(204)
  expect((await owner.get(`/groups/${group.id}/saml/leaver`)).status).toBe(404)
})

test('owners see the addresses of those whose domain is verified for the group', async () => {
  const domains = `/groups/${group.id}/verified_domains`
  const insider = await world.user({ email: `${world.unique('in')}@corp.example` })
  expectStatus(
    await owner.post(`/groups/${group.id}/members`, { user_id: insider.id, access_level: 20 }),
    201,
  )
  expect((await owner.put(domains, { domains: ['corp.example'] })).status).toBe(403)
  expect(bodyOf(await world.root.put(domains, { domains: ['Corp.example', 'corp.example'] }))).toEqual({
    domains: ['corp.example'],
  })
  expect(bodyOf(await owner.get(domains))).toEqual({ domains: ['corp.example'] })
  const path = `/groups/${group.id}/members/${insider.id}`
  expect(bodyOf(await owner.get(path))).toMatchObject({
    email: expect.stringContaining('@corp.example') as string,
  })
  expect(bodyOf(await member.get(path))).not.toHaveProperty('email')
  expect(bodyOf(await world.root.get(path))).not.toHaveProperty('email')
  expect(bodyOf(await owner.get(`/groups/${group.id}/members/${member.id}`))).not.toHaveProperty('email')
  const other = await world.group()
  expect(
    await world.root.put(`/groups/${other.id}/verified_domains`, { domains: ['corp.example'] }),
  ).toMatchObject({ status: 400 })
  expect((await world.root.put(domains, { domains: ['no domain'] })).status).toBe(400)
  expect(bodyOf(await world.root.put(domains, { domains: [] }))).toEqual({ domains: [] })
  expect(bodyOf(await owner.get(path))).not.toHaveProperty('email')
})

test('webui_members_inherited_users: members see those of private groups that were let in', async () => {
  const invited = await world.group({ visibility: 'private' })
  const inside = await world.member({ group: invited }, 'developer')
  expectStatus(
    await world.root.post(`/groups/${group.id}/share`, { group_id: invited.id, group_access: 20 }),
    201,
  )
  const sees = async () =>
    rowsOf(await member.get(`/groups/${group.id}/members/all`)).some(({ id }) => id === inside.id)
  const one = async () => (await member.get(`/groups/${group.id}/members/all/${inside.id}`)).status
  expect([await sees(), await one()]).toEqual([true, 200])
  expectStatus(await world.root.post('/features/webui_members_inherited_users', { value: 'false' }), 201)
  expect([await sees(), await one()]).toEqual([false, 404])
  expect((await world.root.delete('/features/webui_members_inherited_users')).status).toBe(204)
  expect([await sees(), await one()]).toEqual([true, 200])
})

test('with lock_memberships_to_ldap only administrators invite', async () => {
  const invite = (caller: Person) =>
    caller.post(`/groups/${group.id}/invitations`, {
      email: `${world.unique('guest')}@example.com`,
      access_level: 10,
    })
  expectStatus(await world.root.put('/application/settings', { lock_memberships_to_ldap: true }), 200)
  expect((await invite(owner)).status).toBe(403)
  expect((await invite(world.root)).status).toBe(201)
  expectStatus(await world.root.put('/application/settings', { lock_memberships_to_ldap: false }), 200)
  expect((await invite(owner)).status).toBe(201)
})
