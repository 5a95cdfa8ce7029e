// @module-tag long
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { during, set } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { newSshKey } from '../world/ssh-key.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress } from './ssh-login.ts'

let world: World
let copies: Copies
let maintainer: Person

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  await set(world, { allow_local_requests_from_web_hooks_and_services: true })
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const token = 'a-token-nobody-has'
const of = (project: Json, rest = '') => `/projects/${project['id'] as number}/remote_mirrors${rest}`

/** A project with a first commit, and an empty one that it is to be mirrored to. */
async function pair(fields: Json = {}): Promise<{ source: Made; target: Made; copy: string }> {
  const source = await world.project(fields)
  const target = await world.project()
  maintainer = await world.member({ project: source }, 'maintainer')
  return { source, target, copy: await copies.filled(source, world.root) }
}

const address = (target: Json, login = { username: 'oauth2', token: world.root.token }) =>
  copies.url(target, login)

async function mirrorOf(source: Json, target: Json, fields: Json = {}): Promise<number> {
  const made = await maintainer.post(of(source), { url: address(target), enabled: true, ...fields })
  return expectStatus(made, 201)['id'] as number
}

/** The mirror once it is at rest. */
async function rested(source: Json, id: number): Promise<Json> {
  for (;;) {
    await world.settled()
    const mirror = expectStatus(await maintainer.get(of(source, `/${id}`)), 200)
    if (!['scheduled', 'started'].includes(mirror['update_status'] as string)) return mirror
    await sleep(20)
  }
}

async function synced(source: Json, id: number): Promise<Json> {
  expectStatus(await maintainer.post(of(source, `/${id}/sync`)), 204)
  return rested(source, id)
}

/** Names and ids of all branches and tags, as a client sees them. */
async function refsOf(project: Json): Promise<Record<string, string>> {
  const told = await copies.try(copies.folder, ['ls-remote', copies.url(project, world.root)])
  const lines = told.stdout.split('\n').map((line) => line.split('\t') as [string, string])
  return Object.fromEntries(
    lines.flatMap(([oid, ref]) => (/^refs\/(heads|tags)\//.test(ref) ? [[ref, oid]] : [])),
  )
}

describe('a push mirror', () => {
  test('is brought up to date after a push, and whenever it is asked for', async () => {
    const { source, target, copy } = await pair()
    const id = await mirrorOf(source, target)
    expect(await rested(source, id)).toMatchObject({
      id,
      enabled: true,
      auth_method: 'password',
      url: copies.url(target, { username: '*****', token: '*****' }),
      update_status: 'finished',
      last_error: null,
      only_protected_branches: false,
      keep_divergent_refs: false,
      host_keys: [],
      last_update_at: expect.any(String),
      last_update_started_at: expect.any(String),
      last_successful_update_at: expect.any(String),
    })
    expect(await refsOf(target)).toEqual(await refsOf(source))
    // The first branch of the target is protected there by now.
    await world.root.delete(`/projects/${target.id}/protected_branches/main`)

    await copies.commit(copy, 'second')
    await git(copy, 'tag', '-a', 'v1', '-m', 'One')
    await git(copy, 'push', '--quiet', 'origin', 'main', 'HEAD:side', 'v1')
    await synced(source, id)
    expect(await refsOf(target)).toEqual(await refsOf(source))
    expect(Object.keys(await refsOf(target)).length).toBeGreaterThan(2)

    await git(copy, 'push', '--quiet', 'origin', ':side', ':v1')
    await world.root.delete(`/projects/${source.id}/protected_branches/main`)
    await git(copy, 'reset', '--quiet', '--hard', 'HEAD~1')
    await copies.commit(copy, 'third')
    await git(copy, 'push', '--quiet', '--force', 'origin', 'main')
    expect(await synced(source, id)).toMatchObject({ update_status: 'finished' })
    expect(await refsOf(target)).toEqual(await refsOf(source))
    expect(Object.keys(await refsOf(target))).toEqual(['refs/heads/main'])
  })

  test('is pushed to once for several pushes', async () => {
    const { source, target, copy } = await pair()
    const id = await mirrorOf(source, target)
    await rested(source, id)
    const before = await refsOf(target)
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:one')
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:two')
    await world.settled()
    expect(expectStatus(await maintainer.get(of(source, `/${id}`)), 200)).toMatchObject({
      update_status: 'scheduled',
    })
    expect(await refsOf(target)).toEqual(before)
    const { rows } = await sql<{ seconds: number; tasks: number }>`
      select extract(epoch from m.due_at - m.last_update_started_at)::integer as seconds, (
        select count(*)::integer from graphile_worker.jobs j where j.key = 'mirrors:push:' || m.id) as tasks
      from push_mirrors m where m.id = ${id}`.execute(world.service.services.db.reader)
    expect(rows).toEqual([{ seconds: 300, tasks: 1 }])
    expect(await synced(source, id)).toMatchObject({ update_status: 'finished' })
    expect(await refsOf(target)).toEqual(await refsOf(source))
  })

  test('may have protected branches only, or those of a pattern', async () => {
    const { source, target, copy } = await pair()
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:rel-1', 'HEAD:work')
    const id = await mirrorOf(source, target, { only_protected_branches: true })
    await rested(source, id)
    expect(Object.keys(await refsOf(target))).toEqual(['refs/heads/main'])
    const both = await maintainer.put(of(source, `/${id}`), { mirror_branch_regex: '^rel-' })
    expect(both).toMatchObject({ status: 400 })
    const changed = { only_protected_branches: false, mirror_branch_regex: '^rel-' }
    expect(expectStatus(await maintainer.put(of(source, `/${id}`), changed), 200)).toMatchObject(changed)
    await synced(source, id)
    expect(Object.keys(await refsOf(target))).toEqual(['refs/heads/main', 'refs/heads/rel-1'])
  })

  test('may keep what the other side has of its own', async () => {
    const { source, target, copy } = await pair()
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:dev')
    const id = await mirrorOf(source, target, { keep_divergent_refs: true })
    await rested(source, id)
    const other = await copies.clone(target, world.root)
    await git(other, 'checkout', '--quiet', 'dev')
    await copies.commit(other, 'theirs')
    await git(other, 'push', '--quiet', 'origin', 'dev', 'HEAD:own')
    const theirs = await refsOf(target)
    await git(copy, 'checkout', '--quiet', '-b', 'dev')
    await copies.commit(copy, 'ours')
    await git(copy, 'push', '--quiet', 'origin', 'dev', 'HEAD:fresh')
    expect(await synced(source, id)).toMatchObject({
      update_status: 'failed',
      last_error: 'Some refs have diverged and were left as they are: refs/heads/dev',
    })
    const { 'refs/heads/fresh': fresh, ...rest } = await refsOf(target)
    expect(rest).toEqual(theirs)
    expect(fresh).toBeDefined()
    expectStatus(await maintainer.put(of(source, `/${id}`), { keep_divergent_refs: false }), 200)
    expect(await synced(source, id)).toMatchObject({ update_status: 'finished', last_error: null })
    expect(await refsOf(target)).toEqual(await refsOf(source))
  })

  test('rests while it is not enabled', async () => {
    const { source, target, copy } = await pair()
    const id = await mirrorOf(source, target, { enabled: false })
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:more')
    expect(await rested(source, id)).toMatchObject({ enabled: false, update_status: 'none' })
    const asked = await maintainer.post(of(source, `/${id}/sync`))
    expect(asked).toMatchObject({ status: 400, body: { message: 'The mirror is not enabled' } })
    expect(await refsOf(target)).toEqual({})
    expectStatus(await maintainer.put(of(source, `/${id}`), { enabled: true }), 200)
    await rested(source, id)
    expect(await refsOf(target)).toEqual(await refsOf(source))
    expectStatus(await maintainer.delete(of(source, `/${id}`)), 204)
    expect(await maintainer.get(of(source, `/${id}`))).toMatchObject({ status: 404 })
    expect((await maintainer.get(of(source))).body).toEqual([])
  })

  test('tells what the other side refuses', async () => {
    const { source, target, copy } = await pair()
    const id = await mirrorOf(source, target)
    await rested(source, id)
    await world.root.delete(`/projects/${source.id}/protected_branches/main`)
    await git(copy, 'commit', '--quiet', '--amend', '-m', 'Again')
    await git(copy, 'push', '--quiet', '--force', 'origin', 'main')
    const mirror = await synced(source, id)
    expect(mirror).toMatchObject({ update_status: 'failed' })
    expect(mirror['last_error']).toContain('refs/heads/main')
    expect(mirror['last_error']).toContain('protected branch')
  })
})

describe('over SSH', () => {
  test('a mirror signs in with a key of its own, at the host that it knows', async () => {
    const { source, target } = await pair()
    const url = sshAddress(world, target.path_with_namespace)
    const id = await mirrorOf(source, target, { url, auth_method: 'ssh_public_key', enabled: false })
    const { public_key: key } = expectStatus(await maintainer.get(of(source, `/${id}/public_key`)), 200)
    expect(key).toMatch(/^ssh-rsa /)
    expectStatus(await maintainer.put(of(source, `/${id}`), { enabled: true }), 200)
    expect(await rested(source, id)).toMatchObject({
      url,
      auth_method: 'ssh_public_key',
      update_status: 'failed',
      last_error: 'The login is refused',
    })
    const deployed = { title: 'mirror', key: key as string, can_push: true }
    expectStatus(await world.root.post(`/projects/${target.id}/deploy_keys`, deployed), 201)
    const mirror = await synced(source, id)
    expect(mirror).toMatchObject({
      update_status: 'finished',
      host_keys: [{ fingerprint_sha256: expect.stringMatching(/^SHA256:/) as unknown }],
    })
    expect(await refsOf(target)).toEqual(await refsOf(source))
    expect(await synced(source, id)).toMatchObject({ update_status: 'finished' })

    // The host shows another key than the known one.
    const { publicKey } = newSshKey()
    expectStatus(await maintainer.put(of(source, `/${id}`), { host_keys: [publicKey] }), 200)
    expect(await synced(source, id)).toMatchObject({
      update_status: 'failed',
      last_error: 'The host key of 127.0.0.1 is not the one that is known',
    })
    expectStatus(await maintainer.put(of(source, `/${id}`), { host_keys: [] }), 200)
    expect(await synced(source, id)).toMatchObject({
      update_status: 'finished',
      host_keys: mirror['host_keys'] as unknown,
    })
  })
})

describe('what goes wrong', () => {
  test('a login that is refused is not tried again, and shown to nobody', async () => {
    const { source, target } = await pair()
    const id = await mirrorOf(source, target, { url: address(target, { username: 'oauth2', token }) })
    const mirror = await rested(source, id)
    expect(mirror).toMatchObject({
      update_status: 'failed',
      last_error: 'The login is refused (HTTP 401)',
      last_successful_update_at: null,
    })
    const { rows } = await sql<{ row: string }>`select m::text as row from push_mirrors m`.execute(
      world.service.services.db.reader,
    )
    expect(rows.filter(({ row }) => row.includes(token) || row.includes(world.root.token))).toEqual([])
  })

  test('a host that is not there is tried again, three times', async () => {
    const { source, target } = await pair()
    const gone = new URL(address(target))
    gone.port = '1025'
    const id = await mirrorOf(source, target, { url: gone.href })
    for (const minutes of [1, 5, 15]) {
      expect(await rested(source, id)).toMatchObject({
        update_status: 'to_retry',
        last_error: '127.0.0.1 could not be reached',
      })
      const { db } = world.service.services
      const { rows } = await sql<{ minutes: number }>`
        select round(extract(epoch from due_at - last_update_at) / 60)::integer as minutes
        from push_mirrors where id = ${id}`.execute(db.reader)
      expect(rows).toEqual([{ minutes }])
      await sql`update push_mirrors set due_at = now(), update_status = 'scheduled' where id = ${id}`.execute(
        db.writer,
      )
      await enqueue(db.writer, 'mirrors:mind', {})
    }
    expect(await rested(source, id)).toMatchObject({ update_status: 'failed' })
  })

  test('what a node that died has left is taken up, and what another node does is left to it', async () => {
    const { source, target } = await pair()
    const id = await mirrorOf(source, target, { enabled: false })
    const { db } = world.service.services
    const left = (until: string) =>
      sql`
        update push_mirrors set enabled = true, due_at = now(), update_status = 'started', runner = gen_random_uuid(),
          running_until = now() + ${until}::interval where id = ${id}`.execute(db.writer)
    const runnerNow = async () => {
      const { rows } = await sql<{
        runner: string
      }>`select runner from push_mirrors where id = ${id}`.execute(db.reader)
      return rows[0]!.runner
    }
    await left('1 minute')
    const holder = await runnerNow()
    await enqueue(db.writer, 'mirrors:mind', {})
    await world.settled()
    expect(await runnerNow()).toBe(holder)
    await left('-1 second')
    await enqueue(db.writer, 'mirrors:mind', {})
    expect(await rested(source, id)).toMatchObject({ update_status: 'finished' })
    expect(await refsOf(target)).toEqual(await refsOf(source))
  })

  test('nothing goes out while the instance is silent', async () => {
    const { source, target } = await pair()
    const id = await mirrorOf(source, target, { enabled: false })
    const { db } = world.service.services
    await during(world, { silent_mode_enabled: true }, async () => {
      expectStatus(await maintainer.put(of(source, `/${id}`), { enabled: true }), 200)
      await world.settled()
      const kept = expectStatus(await maintainer.get(of(source, `/${id}`)), 200)
      expect(kept).toMatchObject({ update_status: 'scheduled', last_update_started_at: null })
      expect(await refsOf(target)).toEqual({})
    })
    await enqueue(db.writer, 'mirrors:mind', {})
    expect(await rested(source, id)).toMatchObject({ update_status: 'finished' })
  })

  test('addresses that may not be asked are refused, and not asked when that changes', async () => {
    const { source, target } = await pair()
    const ssh = sshAddress(world, target.path_with_namespace)
    const id = await mirrorOf(source, target, { enabled: false, url: ssh })
    await during(world, { allow_local_requests_from_web_hooks_and_services: false }, async () => {
      const closed = [
        'http://127.0.0.1:2000/x.git',
        ssh,
        'git://127.0.0.1:2000/x.git',
        'ssh://2130706433/x.git',
      ]
      for (const url of closed) {
        expect(await maintainer.post(of(source), { url })).toMatchObject({
          status: 400,
          body: { message: { url: ['is blocked: Requests to localhost are not allowed'] } },
        })
      }
      expectStatus(await maintainer.put(of(source, `/${id}`), { enabled: true }), 200)
      expect(await rested(source, id)).toMatchObject({
        update_status: 'failed',
        last_error: 'Requests to localhost are not allowed',
      })
    })
    expect(await refsOf(target)).toEqual({})
  })

  test.each([
    [{}, 'url is missing'],
    [{ url: '' }, 'url is empty'],
    [{ url: 'file:///etc' }, 'Only allowed schemes are http, https, ssh, git'],
    [{ url: 'git@host:path.git' }, 'URI is invalid'],
    [{ url: 'http://host:25/x.git' }, 'Only allowed ports are 22, 80, 443, and any over 1024'],
    [{ url: 'ssh://-oProxyCommand=x/y.git' }, 'is blocked'],
    [{ url: 'ssh://-x@127.0.0.1/y.git' }, 'Username needs to start with an alphanumeric character'],
    [{ url: 'http://127.0.0.1/a\nb' }, 'URI is invalid'],
    [{ url: 'http://127.0.0.1/' }, 'URI is invalid'],
    [{ url: `http://127.0.0.1/${'x'.repeat(3000)}` }, 'URI is invalid'],
    [{ url: 'http://127.0.0.1/x.git', auth_method: 'ssh_public_key' }, 'with an address of ssh:// only'],
    [{ url: 'http://127.0.0.1/x.git', auth_method: 'other' }, 'auth_method does not have a valid value'],
    [{ url: 'ssh://127.0.0.1/x.git', host_keys: ['nothing'] }, 'host_keys'],
    [{ url: 'http://127.0.0.1/x.git', mirror_branch_regex: '(' }, 'not valid RE2 syntax'],
  ])('%o is refused', async (body, text) => {
    const { source } = await shared()
    const reply = await maintainer.post(of(source), body)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain(text)
    expect((await maintainer.get(of(source))).body).toEqual([])
  })
})

let made: Promise<{ source: Made }> | undefined
const shared = () => (made ??= pair())

test('where mirrors are for administrators only, others change none, and those that there are go on', async () => {
  const { source, target, copy } = await pair()
  const id = await mirrorOf(source, target)
  await rested(source, id)
  await during(world, { mirror_available: false }, async () => {
    const refused = { status: 403 }
    expect(await maintainer.post(of(source), { url: address(target) })).toMatchObject(refused)
    expect(await maintainer.put(of(source, `/${id}`), { enabled: false })).toMatchObject(refused)
    expect(await maintainer.delete(of(source, `/${id}`))).toMatchObject(refused)
    expect(await maintainer.get(of(source, `/${id}`))).toMatchObject({ status: 200, body: { enabled: true } })
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:later')
    expect(await synced(source, id)).toMatchObject({ update_status: 'finished' })
    expect(Object.keys(await refsOf(target))).toContain('refs/heads/later')
    const by = await world.root.post(of(source), { url: address(target) })
    expect(by.status).toBe(201)
  })
  expectStatus(await maintainer.put(of(source, `/${id}`), { enabled: false }), 200)
})
