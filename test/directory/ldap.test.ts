import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import {
  dnOf,
  groupOfNames,
  hasSlapd,
  leftOut,
  limitedDn,
  passwordOf,
  person,
  suffix,
  TestDirectory,
} from '../world/directory.ts'
import { during } from '../settings/effects.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const names = ['ada', 'bob', 'eve', 'mia', 'tom']

describe.skipIf(!hasSlapd)(`LDAP${leftOut}`, () => {
  let world: World
  let directory: TestDirectory
  let open: Made
  beforeAll(async () => {
    directory = await TestDirectory.start([
      ...names.map((name) => person(name)),
      person('nested'),
      person('posix'),
      person('unique'),
      person('odd (x)*'),
      person('cora', { description: 'active' }, 'contractors'),
      person('carl', { description: 'left' }, 'contractors'),
      person('pat', {}, 'partners'),
    ])
    const file = path.join(directory.folder, 'ldap.yml')
    await writeFile(path.join(directory.folder, 'password'), 'limited\n')
    await writeFile(file, configuration(directory))
    world = await startWorld({ LDAP_CONFIG: file })
    open = await world.project({ visibility: 'internal', initialize_with_readme: true })
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await directory[Symbol.asyncDispose]()
  })

  const main = 'ldapmain'

  /** Status of a fetch over HTTP with this login. */
  async function fetchAs(login: string, password: string, project: Json = open): Promise<number> {
    const address = `${world.url}/${project['path_with_namespace'] as string}.git/info/refs?service=git-upload-pack`
    const authorization = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`
    return (await fetch(address, { headers: { authorization } })).status
  }

  async function signIn(uid: string): Promise<number> {
    expect(await fetchAs(uid, passwordOf(uid))).toBe(200)
    return bodyOf(await world.root.get(`/users?username=${uid}`))[0].id as number
  }

  const link = async (group: Json, fields: Json) =>
    expectStatus(await world.root.post(`/groups/${group['id'] as number}/ldap_group_links`, fields), 201)
  const linkCn = (group: Json, cn: string, group_access: number) =>
    link(group, { provider: main, cn, group_access })

  const stateOf = async (group: Json) =>
    bodyOf(await world.root.get(`/groups/${group['id'] as number}/ldap_sync`))

  /** Syncs a group and tells how that went. */
  async function sync(group: Json, fields: Json = {}): Promise<Json> {
    const { finished_at: before } = await stateOf(group)
    expectStatus(await world.root.post(`/groups/${group['id'] as number}/ldap_sync`, fields), 202)
    await expect
      .poll(async () => (await stateOf(group))['finished_at'] as string, { timeout: 20_000 })
      .not.toBe(before)
    return stateOf(group)
  }

  async function levels(group: Json, by: Person = world.root): Promise<Record<string, number>> {
    const members = rowsOf(await by.get(`/groups/${group['id'] as number}/members?per_page=100`))
    return Object.fromEntries(
      members
        .filter(({ username }) => username !== 'root')
        .map(({ username, access_level }) => [username, access_level]),
    ) as Record<string, number>
  }

  const preview = async (group: Json) =>
    bodyOf(await world.root.get(`/groups/${group['id'] as number}/ldap_sync/preview`))

  describe('signing in', () => {
    test('makes an account from what the directory says', async () => {
      const id = await signIn('ada')
      expect(bodyOf(await world.root.get(`/users/${id}`))).toMatchObject({
        username: 'ada',
        name: 'Name of ada',
        email: 'ada@example.org',
        state: 'active',
        identities: [{ provider: main, extern_uid: dnOf('ada'), saml_provider_id: null }],
      })
      expect(await signIn('ada')).toBe(id)
    })

    test('takes no wrong, empty or other password, and no pattern for a name', async () => {
      for (const [login, password] of [
        ['ada', 'wrong'],
        ['ada', ''],
        ['nobody', 'x'],
        ['*', passwordOf('ada')],
        ['a*', passwordOf('ada')],
        ['ada)(uid=*', passwordOf('ada')],
      ] as const) {
        expect([login, await fetchAs(login, password)]).toEqual([login, 401])
      }
      expect(await fetchAs('odd (x)*', passwordOf('odd (x)*'))).toBe(200)
    })

    test('gives the account with the same address to who has one', async () => {
      const there = await world.user({ username: 'robert', email: 'BOB@example.org' })
      expect(await fetchAs('bob', passwordOf('bob'))).toBe(200)
      expect(bodyOf(await world.root.get(`/users/${there.id}`))['identities']).toMatchObject([
        { provider: main },
      ])
      expect(rowsOf(await world.root.get('/users?username=bob'))).toEqual([])
    })

    test('works with StartTLS and with TLS, with filters, and for several servers', async () => {
      expect(await fetchAs('cora', passwordOf('cora'))).toBe(200)
      // The filter of that server leaves him out.
      expect(await fetchAs('carl', passwordOf('carl'))).toBe(401)
      // New accounts of that server wait for a word.
      expect(await fetchAs('pat@somewhere', passwordOf('pat'))).toBe(403)
      expect(bodyOf(await world.root.get('/users?username=pat'))[0].state).toBe('blocked_pending_approval')
    })

    test('does not help who is blocked', async () => {
      const id = await signIn('tom')
      expectStatus(await world.root.post(`/users/${id}/block`), 201)
      expect(await fetchAs('tom', passwordOf('tom'))).toBe(403)
      expectStatus(await world.root.post(`/users/${id}/unblock`), 201)
    })

    test('lets into groups at once', async () => {
      const group = await world.group()
      const project = await world.project({ namespace_id: group.id, initialize_with_readme: true })
      await directory.add(groupOfNames('newcomers', [dnOf('mia')]))
      await linkCn(group, 'newcomers', 30)
      expect(await fetchAs('mia', passwordOf('mia'), project)).toBe(200)
    })

    test('goes for the registry of images too', async () => {
      const authorization = `Basic ${Buffer.from(`ada:${passwordOf('ada')}`).toString('base64')}`
      const reply = await fetch(`${world.url}/jwt/auth?service=container_registry`, {
        headers: { authorization },
      })
      expect(reply.status).toBe(200)
    })
  })

  describe('links', () => {
    test('are made, listed and ended in every form', async () => {
      const group = await world.group()
      const base = `/groups/${group.id}/ldap_group_links`
      expect((await world.root.get(base)).body).toEqual([])
      const one = await linkCn(group, 'devs', 30)
      expect(one).toEqual({
        cn: 'devs',
        group_access: 30,
        provider: main,
        filter: null,
        member_role_id: null,
      })
      const two = await link(group, { provider: main, filter: '(mail=*)', group_access: 20 })
      expect((await world.root.get(base)).body).toEqual([one, two])
      expect(bodyOf(await world.root.get(`/groups/${group.id}`))).toMatchObject({
        ldap_cn: 'devs',
        ldap_access: 30,
      })
      await linkCn(group, 'a', 10)
      await linkCn(group, 'b', 10)
      expect((await world.root.delete(base, { provider: main, filter: '(mail=*)' })).status).toBe(204)
      expect((await world.root.delete(`${base}?provider=${main}&cn=devs`)).status).toBe(204)
      expect((await world.root.delete(`${base}/a`)).status).toBe(204)
      expect((await world.root.delete(`${base}/${main}/b`)).status).toBe(204)
      for (const path of [`${base}/a`, `${base}/${main}/b`, `${base}?provider=${main}&cn=devs`]) {
        const reply = await world.root.delete(path)
        expect([reply.status, reply.body]).toEqual([404, { message: 'Linked LDAP group not found' }])
      }
    })

    test('are refused with the reason', async () => {
      const group = await world.group()
      const below = await world.group({ parent_id: group.id })
      const post = async (fields: Json, of: Json = group) => {
        const { status, body } = await world.root.post(
          `/groups/${of['id'] as number}/ldap_group_links`,
          fields,
        )
        return [status, body] as unknown
      }
      const usual = { provider: main, group_access: 30 }
      const neither = [400, { error: 'cn, filter are missing, exactly one parameter must be provided' }]
      expect(await post(usual)).toEqual(neither)
      expect(await post({ ...usual, cn: ' ' })).toEqual(neither)
      expect(await post({ ...usual, cn: 'a', filter: '(a=b)' })).toEqual([
        400,
        { error: 'cn, filter are mutually exclusive' },
      ])
      const level = [400, { error: 'group_access does not have a valid value' }]
      expect(await post({ ...usual, cn: 'a', group_access: 31 })).toEqual(level)
      expect(await post({ ...usual, cn: 'a', group_access: 5 }, below)).toEqual(level)
      expect(await post({ cn: 'a', group_access: 30 })).toEqual([400, { error: 'provider is missing' }])
      expect(await post({ ...usual, filter: '(a=b' })).toEqual([
        409,
        { message: 'Filter must be a valid filter' },
      ])
      expect(await post({ ...usual, cn: 'a'.repeat(256) })).toEqual([
        409,
        { message: 'Cn is too long (maximum is 255 characters)' },
      ])
      await linkCn(group, 'a', 5)
      expect(await post({ ...usual, cn: 'a' })).toEqual([409, { message: 'Cn has already been taken' }])
      await link(group, { ...usual, filter: '(a=b)' })
      expect(await post({ ...usual, filter: '(a=b)' })).toEqual([
        409,
        { message: 'Filter has already been taken' },
      ])
      expect(await post({ ...usual, cn: 'r', member_role_id: 999_999 })).toEqual([
        404,
        { message: '404 Member Role Not Found' },
      ])
    })

    test('are for owners, unless they are left to administrators', async () => {
      const group = await world.group()
      const owner = await world.member({ group }, 'owner')
      const maintainer = await world.member({ group }, 'maintainer')
      const base = `/groups/${group.id}/ldap_group_links`
      expect([(await owner.get(base)).status, (await maintainer.get(base)).status]).toEqual([200, 403])
      const add = async (cn: string) =>
        (await owner.post(base, { provider: main, cn, group_access: 10 })).status
      await during(world, { allow_group_owners_to_manage_ldap: false }, async () => {
        expect([(await owner.get(base)).status, (await world.root.get(base)).status]).toEqual([403, 200])
        expect(await add('left')).toBe(403)
      })
      expect((await owner.get(base)).status).toBe(200)
      expect(await add('left')).toBe(201)
    })

    test('can be chosen from what the directory has', async () => {
      await directory.add(groupOfNames('choose-a', []), groupOfNames('choose-b', []))
      const found = (await world.root.get('/ldap/groups?search=choose')).body as unknown
      expect(found).toEqual([{ cn: 'choose-a' }, { cn: 'choose-b' }])
      expect((await world.root.get(`/ldap/${main}/groups?search=choose-b`)).body).toEqual([
        { cn: 'choose-b' },
      ])
      expect((await world.root.get('/ldap/ldapnone/groups')).status).toBe(404)
      expect((await (await world.user()).get('/ldap/groups')).status).toBe(403)
    })
  })

  describe('a sync', () => {
    beforeAll(async () => {
      for (const name of ['eve', 'nested', 'posix', 'unique']) await signIn(name)
    })

    test('adds, lets the highest link win, lowers, and removes who has left', async () => {
      const group = await world.group()
      await directory.add(
        groupOfNames('team', [dnOf('ada'), dnOf('eve')]),
        groupOfNames('leads', [dnOf('ada')]),
      )
      await linkCn(group, 'team', 20)
      await linkCn(group, 'leads', 40)
      expect(await levels(group)).toEqual({})
      expect(await sync(group)).toMatchObject({ state: 'ready', error: null })
      expect(await levels(group)).toEqual({ ada: 40, eve: 20 })
      await directory.replace(groupOfNames('leads', [dnOf('eve')]))
      await directory.replace(groupOfNames('team', [dnOf('eve')]))
      await sync(group)
      expect(await levels(group)).toEqual({ eve: 40 })
      expect(
        rowsOf(await world.root.get(`/groups/${group.id}/members`)).find(
          ({ username }) => username === 'eve',
        ),
      ).toMatchObject({ created_by: null, expires_at: null })
    })

    test('understands every kind of group: unique names, user names, groups within groups, filters', async () => {
      const group = await world.group()
      await directory.add(
        {
          dn: 'cn=unique,ou=groups',
          attributes: { objectClass: 'groupOfUniqueNames', uniqueMember: dnOf('unique').toUpperCase() },
        },
        {
          dn: 'cn=posix,ou=groups',
          attributes: { objectClass: 'posixGroup', gidNumber: '1', memberUid: 'posix' },
        },
        groupOfNames('inner', [dnOf('nested'), `cn=outer,ou=groups,${suffix}`]),
        groupOfNames('outer', [`cn=inner,ou=groups,${suffix}`]),
      )
      await linkCn(group, 'unique', 10)
      await linkCn(group, 'POSIX', 20)
      await linkCn(group, 'outer', 30)
      await link(group, { provider: main, filter: '(&(uid=a*)(mail=ada@example.org))', group_access: 40 })
      await link(group, { provider: 'ldapunknown', cn: 'x', group_access: 50 })
      await sync(group)
      expect(await levels(group)).toEqual({ unique: 10, posix: 20, nested: 30, ada: 40 })
    })

    test('takes what has a role with it', async () => {
      const group = await world.group()
      const role = expectStatus(
        await world.root.post('/member_roles', {
          name: world.unique('role'),
          base_access_level: 20,
          read_code: true,
        }),
        201,
      )
      await directory.add(groupOfNames('with-role', [dnOf('eve')]))
      const made = await link(group, {
        provider: main,
        cn: 'with-role',
        group_access: 40,
        member_role_id: role['id'] as number,
      })
      expect(made['group_access']).toBe(20)
      await sync(group)
      const found = rowsOf(await world.root.get(`/groups/${group.id}/members`)).find(
        ({ username }) => username === 'eve',
      )
      expect(found).toMatchObject({ access_level: 20, member_role: { id: role['id'] as number } })
    })

    test('removes who was added by hand and is in no linked group, never who is in no directory', async () => {
      const group = await world.group()
      const stranger = await world.member({ group }, 'guest')
      const eve = bodyOf(await world.root.get('/users?username=eve'))[0].id as number
      await world.root.post(`/groups/${group.id}/members`, { user_id: eve, access_level: 50 })
      await directory.add(groupOfNames('only-ada', [dnOf('ada')]))
      await linkCn(group, 'only-ada', 30)
      const planned = await preview(group)
      expect(planned['changes']).toEqual([
        expect.objectContaining({
          username: 'ada',
          action: 'add',
          to: 30,
          because: 'is in cn=only-ada of ldapmain',
        }),
        expect.objectContaining({
          username: 'eve',
          action: 'remove',
          from: 50,
          because: 'is in no linked group of the directory any more',
        }),
      ])
      expect(await levels(group)).toEqual({ eve: 50, [stranger.username]: 10 })
      await sync(group)
      expect(await levels(group)).toEqual({ ada: 30, [stranger.username]: 10 })
    })

    test('keeps the last owner, and the level that somebody has above', async () => {
      const eve = bodyOf(await world.root.get('/users?username=eve'))[0].id as number
      const top = await world.group()
      const below = await world.group({ parent_id: top.id })
      await world.root.post(`/groups/${top.id}/members`, { user_id: eve, access_level: 50 })
      await world.root.delete(`/groups/${top.id}/members/1`)
      await world.root.delete(`/groups/${below.id}/members/1`)
      await directory.add(groupOfNames('nobody', []), groupOfNames('eve-only', [dnOf('eve')]))
      await linkCn(top, 'nobody', 30)
      await linkCn(below, 'eve-only', 20)
      await sync(top)
      await sync(below)
      expect(await levels(top)).toEqual({ eve: 50 })
      expect(await levels(below)).toEqual({ eve: 50 })
      expect((await preview(top))['changes']).toEqual([
        expect.objectContaining({
          username: 'eve',
          action: 'keep',
          because: 'is the last owner of the group',
        }),
      ])
    })

    test('knows below what the same sync has just given above', async () => {
      await signIn('ada')
      const top = await world.group()
      const below = await world.group({ parent_id: top.id })
      await link(below, { provider: main, filter: '(uid=ada)', group_access: 20 })
      await sync(below)
      expect(await levels(below)).toEqual({ ada: 20 })
      await directory.add(person('latecomer'), groupOfNames('above', [dnOf('ada'), dnOf('latecomer')]))
      await linkCn(top, 'above', 40)
      // A first sign-in syncs his groups, and those that are linked by a filter, parents first.
      await signIn('latecomer')
      expect(await levels(top)).toEqual({ ada: 40, latecomer: 40 })
      expect(await levels(below)).toEqual({ ada: 40 })
    })

    test('leaves an override alone, until it is taken back', async () => {
      const group = await world.group()
      await directory.add(groupOfNames('override', [dnOf('eve')]))
      await linkCn(group, 'override', 20)
      await sync(group)
      const eve = bodyOf(await world.root.get('/users?username=eve'))[0].id as number
      const at = `/groups/${group.id}/members/${eve}`
      // What the directory keeps nobody changes by hand.
      expect((await world.root.put(at, { access_level: 40 })).status).toBe(403)
      expect(expectStatus(await world.root.post(`${at}/override`), 201)).toMatchObject({
        id: eve,
        override: true,
      })
      expectStatus(await world.root.put(at, { access_level: 40 }), 200)
      await sync(group)
      expect(await levels(group)).toEqual({ eve: 40 })
      expect(expectStatus(await world.root.delete(`${at}/override`), 200)['override']).toBe(false)
      expect(await levels(group)).toEqual({ eve: 40 })
      await sync(group)
      expect(await levels(group)).toEqual({ eve: 20 })
      expectStatus(await world.root.post(`${at}/override`), 201)
      expect(expectStatus(await world.root.put(`${at}/override`), 200)['override']).toBe(false)
      const byHand = await world.member({ group }, 'guest')
      expect((await world.root.post(`/groups/${group.id}/members/${byHand.id}/override`)).status).toBe(403)
      const stranger = await world.user()
      expect((await world.root.post(`/groups/${group.id}/members/${stranger.id}/override`)).status).toBe(404)
      const maintainer = await world.member({ group }, 'maintainer')
      expect((await maintainer.post(`${at}/override`)).status).toBe(403)
    })

    test('asks before it removes very many', async () => {
      const crowd = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8']
      await directory.add(...crowd.map((name) => person(name)))
      for (const name of crowd) await signIn(name)
      const group = await world.group()
      await directory.add(
        groupOfNames(
          'crowd',
          crowd.map((name) => dnOf(name)),
        ),
      )
      await linkCn(group, 'crowd', 20)
      await sync(group)
      expect(Object.keys(await levels(group))).toHaveLength(8)
      await directory.replace(groupOfNames('crowd', [dnOf('c1')]))
      const asked = await sync(group)
      expect(asked).toMatchObject({
        state: 'pending',
        error: 'The sync would remove 7 of 9 members. Start it with confirm=true if that is right.',
      })
      expect(Object.keys(await levels(group))).toHaveLength(8)
      expect(await preview(group)).toMatchObject({ state: 'pending' })
      expect((await sync(group, { confirm: true }))['state']).toBe('ready')
      expect(await levels(group)).toEqual({ c1: 20 })
    })

    test('changes nothing when the directory does not answer, or not whole', async () => {
      const group = await world.group()
      const eve = bodyOf(await world.root.get('/users?username=eve'))[0].id as number
      await world.root.post(`/groups/${group.id}/members`, { user_id: eve, access_level: 30 })
      // Nobody listens there.
      await link(group, { provider: 'ldapdead', cn: 'x', group_access: 30 })
      const dead = await sync(group)
      expect([dead['state'], dead['error']]).toEqual([
        'failed',
        expect.stringContaining('ldapdead: it cannot be reached'),
      ])
      expect(await levels(group)).toEqual({ eve: 30 })
      expect((await preview(group))['state']).toBe('failed')

      const other = await world.group()
      await world.root.post(`/groups/${other.id}/members`, { user_id: eve, access_level: 30 })
      // This account may find one entry only.
      await link(other, { provider: 'ldaplimited', filter: '(objectClass=*)', group_access: 30 })
      const cut = await sync(other)
      expect([cut['state'], cut['error']]).toEqual([
        'failed',
        expect.stringContaining('ldaplimited: it refuses with code'),
      ])
      expect(await levels(other)).toEqual({ eve: 30 })
    })

    test('comes with the schedule for every group with links', async () => {
      const group = await world.group()
      await directory.add(groupOfNames('scheduled', [dnOf('eve')]))
      await linkCn(group, 'scheduled', 20)
      const { enqueue } = await import('../../src/tasks/index.ts')
      await enqueue(world.service.services.db.writer, 'ldap:sync-groups', {})
      await expect.poll(() => levels(group), { timeout: 20_000 }).toEqual({ eve: 20 })
    })
  })

  describe('accounts', () => {
    const runUsers = async (): Promise<void> => {
      const { enqueue } = await import('../../src/tasks/index.ts')
      await enqueue(world.service.services.db.writer, 'ldap:sync-users', {})
    }
    const user = async (name: string): Promise<Json> =>
      bodyOf(
        await world.root.get(
          `/users/${bodyOf(await world.root.get(`/users?username=${name}`))[0].id as number}`,
        ),
      )

    test('are blocked when their people leave, and open again when they are back', async () => {
      await directory.add(person('zoe'))
      await signIn('zoe')
      await directory.remove('uid=zoe,ou=people')
      await runUsers()
      await expect
        .poll(async () => (await user('zoe'))['state'] as string, { timeout: 20_000 })
        .toBe('ldap_blocked')
      await directory.add(person('zoe', { cn: 'Zoe the Second', mail: 'zoe2@example.org' }))
      await runUsers()
      await expect
        .poll(async () => (await user('zoe'))['state'] as string, { timeout: 20_000 })
        .toBe('active')
      expect(await user('zoe')).toMatchObject({ name: 'Zoe the Second', email: 'zoe2@example.org' })
    })

    test('of the groups that say so are administrators or external', async () => {
      await directory.add(
        person('chief'),
        groupOfNames('admins', [dnOf('chief')]),
        groupOfNames('outside', [dnOf('eve')]),
      )
      await signIn('chief')
      await runUsers()
      await expect
        .poll(async () => (await user('chief'))['is_admin'] as boolean, { timeout: 20_000 })
        .toBe(true)
      expect((await user('eve'))['external']).toBe(true)
      await directory.replace(groupOfNames('admins', []))
      await directory.replace(groupOfNames('outside', []))
      await runUsers()
      await expect
        .poll(async () => (await user('chief'))['is_admin'] as boolean, { timeout: 20_000 })
        .toBe(false)
      expect((await user('eve'))['external']).toBe(false)
    })
  })

  test('memberships can be left to the directory alone', async () => {
    const group = await world.group()
    const owner = await world.member({ group }, 'owner')
    const other = await world.user()
    const add = (by: Person) =>
      by.post(`/groups/${group.id}/members`, { user_id: other.id, access_level: 10 })
    const member = `/groups/${group.id}/members/${other.id}`
    await during(world, { lock_memberships_to_ldap: true }, async () => {
      expect((await add(owner)).status).toBe(403)
      expect((await add(world.root)).status).toBe(201)
      expect((await owner.put(member, { access_level: 20 })).status).toBe(403)
      expect((await owner.put(`${member}/state`, { state: 'awaiting' })).status).toBe(403)
      expect((await owner.post(`/groups/${group.id}/members/approve_all`)).status).toBe(403)
      expect((await owner.delete(member)).status).toBe(403)
      const billable = `/groups/${group.id}/billable_members/${other.id}`
      expect((await owner.delete(billable)).status).toBe(403)
      expect((await world.root.put(`${member}/state`, { state: 'awaiting' })).status).toBe(200)
      const [waiting] = expectStatus(await owner.get(`/groups/${group.id}/pending_members`), 200) as Json[]
      const approve = `/groups/${group.id}/members/${waiting!['id'] as number}/approve`
      expect((await owner.put(approve)).status).toBe(403)
      expect((await world.root.put(approve)).status).toBe(204)
    })
    expect((await owner.delete(member)).status).toBe(204)
  })

  test('and then nobody comes into groups and their projects in other ways', async () => {
    const group = await world.group({ visibility: 'public' })
    const owner = await world.member({ group }, 'owner')
    const project = await world.project({ namespace_id: group.id, visibility: 'public' })
    const [its, invited, seeker, other] = await Promise.all([
      owner.post('/projects', { name: world.unique('own') }).then((made) => expectStatus(made, 201)),
      world.group(),
      world.user(),
      world.user(),
    ])
    await world.root.post(`/groups/${invited.id}/members`, { user_id: owner.id, access_level: 10 })
    for (const place of [`/groups/${group.id}`, `/projects/${project.id}`]) {
      expectStatus(await seeker.post(`${place}/access_requests`), 201)
    }
    const share = { group_id: invited.id, group_access: 10 }
    const one = { user_id: other.id, access_level: 10 }
    const several = { ...one, user_id: `${other.id},${seeker.id}` }
    const ways = async (place: string, by: Person) => [
      (await by.post(`${place}/members`, one)).status,
      (await by.post(`${place}/members`, several)).status,
      (await by.post(`${place}/invitations`, { email: 'guest@example.org', access_level: 10 })).status,
      (await by.put(`${place}/access_requests/${seeker.id}/approve`)).status,
      (await by.post(`${place}/share`, share)).status,
    ]
    await during(world, { lock_memberships_to_ldap: true }, async () => {
      expect(await ways(`/groups/${group.id}`, owner)).toEqual([403, 403, 403, 403, 403])
      expect(await ways(`/projects/${project.id}`, owner)).toEqual([405, 405, 405, 405, 403])
      expect(
        (await owner.post(`/projects/${project.id}/import_project_members/${its['id'] as number}`)).status,
      ).toBe(405)
      // What belongs to somebody himself is in no group.
      expectStatus(await owner.post(`/projects/${its['id'] as number}/members`, one), 201)
      expectStatus(await owner.post(`/projects/${its['id'] as number}/share`, share), 201)
    })
    expect(await ways(`/projects/${project.id}`, owner)).toEqual([201, 201, 201, 404, 201])
    expectStatus(await owner.post(`/groups/${group.id}/share`, share), 201)
    const unshare = async (by: Person) => [
      (await by.delete(`/groups/${group.id}/share/${invited.id}`)).status,
      (await by.delete(`/projects/${project.id}/share/${invited.id}`)).status,
    ]
    await during(world, { lock_memberships_to_ldap: true }, async () => {
      expect(await unshare(owner)).toEqual([403, 403])
      expect((await owner.delete(`/projects/${its['id'] as number}/share/${invited.id}`)).status).toBe(204)
      expect(await unshare(world.root)).toEqual([204, 204])
    })
  })
})

test('without directories there is nothing to link', async () => {
  await using world = await startWorld()
  const group = await world.group()
  expect((await world.root.get(`/groups/${group.id}/ldap_group_links`)).status).toBe(403)
  expect((await world.root.post(`/groups/${group.id}/ldap_sync`)).status).toBe(403)
  expect((await world.root.get('/ldap/groups')).status).toBe(403)
})

function configuration({ port, tlsPort, caFile, folder }: TestDirectory): string {
  const people = `ou=people,${suffix}`
  const groups = `ou=groups,${suffix}`
  return `
servers:
  main:
    label: Main
    # Nobody listens at the first one.
    hosts: [[127.0.0.1, 1], [127.0.0.1, ${port}]]
    encryption: plain
    uid: uid
    base: ${people}
    group_base: ${groups}
    admin_group: admins
    external_groups: [outside]
  contractors:
    label: Contractors
    host: 127.0.0.1
    port: ${port}
    encryption: start_tls
    uid: uid
    base: ou=contractors,${suffix}
    user_filter: (description=active)
    tls_options: { ca_file: ${caFile} }
  partners:
    label: Partners
    host: localhost
    port: ${tlsPort}
    encryption: simple_tls
    uid: uid
    base: ou=partners,${suffix}
    allow_username_or_email_login: true
    block_auto_created_users: true
    tls_options: { ca_file: ${caFile} }
  limited:
    label: Limited
    host: 127.0.0.1
    port: ${port}
    encryption: plain
    bind_dn: ${limitedDn}
    password_file: ${folder}/password
    uid: uid
    base: ${groups}
    group_base: ${groups}
  dead:
    label: Dead
    host: 127.0.0.1
    port: 1
    encryption: plain
    timeout: 2
    uid: uid
    base: ${people}
    group_base: ${groups}
`
}
