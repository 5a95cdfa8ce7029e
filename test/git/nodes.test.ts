// @module-tag long
import { access, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { pino } from 'pino'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startService, type Service } from '../../src/app/service.ts'
import { flushPkt, pkt } from '../../src/git/pkt-line.ts'
import { pushBody } from '../../src/git/testing.ts'
import { zeroOid, type Oid } from '../../src/git/index.ts'
import { enqueue } from '../../src/tasks/index.ts'
import { readConfig } from '../../src/kernel/config/index.ts'
import { RegistryClient } from '../registry/client.ts'
import { Browser } from '../settings/browser.ts'
import { Client } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git, type Login } from './copies.ts'

let world: World
let copies: Copies
let other: Service

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  const config = readConfig({
    PORT: '0',
    DATA_DIR: world.directory,
    DATABASE_URL: world.databaseUrl,
    DATABASE_POOL: '4',
    ROLES: 'web',
    SHUTDOWN_TIMEOUT: '5',
  })
  other = await startService(config, pino({ level: 'silent' }))
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** The folder of a project's repository on the disk. */
async function folderOf(project: Json): Promise<string> {
  const row = await world.service.services.db.reader
    .selectFrom('projects as p')
    .select(['p.id', 'p.storage'])
    .where('p.id', '=', project['id'] as number)
    .executeTakeFirstOrThrow()
  return world.service.services.places.of(row).path
}

describe('two services on one database and one storage', () => {
  test('what is pushed through one is seen by the other at once, again and again', async () => {
    const project = await world.project()
    const copy = await copies.filled(project)
    const there = copies.url(project, world.root, other.address)
    for (let round = 0; round < 5; round += 1) {
      const head = await copies.commit(copy, `round-${round}`)
      await git(copy, 'push', '--quiet', round % 2 === 0 ? 'origin' : there, 'main')
      const reading = round % 2 === 0 ? there : copies.url(project, world.root)
      expect(await git(copies.folder, 'ls-remote', reading, 'main')).toContain(head)
      const base = round % 2 === 0 ? other.address : world.url
      const branch = await world.root.get(`${base}/api/v4/projects/${project['id']}/repository/branches/main`)
      expect(branch.body).toMatchObject({ commit: { id: head } })
    }
  })

  test('who is removed through one is refused by the other at once', async () => {
    const project = await world.project()
    await copies.filled(project)
    const member = await world.member({ project }, 'developer')
    const listing = () => copies.try(copies.folder, ['ls-remote', copies.url(project, member, other.address)])
    expect((await listing()).code).toBe(0)
    await world.root.delete(`/projects/${project['id']}/members/${member.id}`)
    expect((await listing()).stderr).toContain('not found')
  })

  test('who is lowered or removed through one is so at the other at once: REST, session, git and registry', async () => {
    const project = await world.project()
    const copy = await copies.filled(project)
    const password = 'correct horse battery staple'
    const member = await world.user({ force_random_password: undefined, password })
    const membership = `/projects/${project.id}/members`
    expectStatus(await world.root.post(membership, { user_id: member.id, access_level: 40 }), 201)

    const browser = new Browser(world)
    expect((await browser.signIn(member.username, password)).status).toBe(200)
    const byToken = new Client(other.address, { 'private-token': member.token })
    const bySession = new Client(other.address, { cookie: browser.cookie })
    const images = RegistryClient.of({ url: other.address }, member)
    const image = project.path_with_namespace
    await images.pushImage(image, 'one')
    // A token of the registry that was given before.
    const pushing = await images.token(`repository:${image}:pull,push`)
    const atRegistry = async (method: string, path: string, token: string) =>
      (
        await fetch(`${other.address}/v2/${image}/${path}`, {
          method,
          headers: { authorization: `Bearer ${token}` },
        })
      ).status
    // The registry trusts for less than a second what it knows of a token.
    const refused = (method: string, path: string, token: string) =>
      vi.waitFor(async () => expect(await atRegistry(method, path, token)).toBe(401), { interval: 20 })
    const keeps = async () => [
      (await byToken.get(`/projects/${project.id}/variables`)).status,
      (await bySession.get(`/projects/${project.id}/variables`)).status,
      (await copies.try(copy, ['push', copies.url(project, member, other.address), 'HEAD:kept'])).code,
    ]
    const reads = async () => [
      (await byToken.get(`/projects/${project.id}`)).status,
      (await bySession.get(`/projects/${project.id}`)).status,
      (await copies.try(copies.folder, ['ls-remote', copies.url(project, member, other.address)])).code,
    ]
    expect(await keeps()).toEqual([200, 200, 0])
    expect(await atRegistry('POST', 'blobs/uploads/', pushing)).toBe(202)
    expectStatus(await world.root.put(`${membership}/${member.id}`, { access_level: 20 }), 200)
    await refused('POST', 'blobs/uploads/', pushing)
    await copies.commit(copy, 'later')
    expect(await keeps()).toEqual([403, 403, 128])
    expect(await reads()).toEqual([200, 200, 0])
    const renewed = await images.token(`repository:${image}:pull`)
    expect(await atRegistry('GET', 'manifests/one', renewed)).toBe(200)
    expectStatus(await world.root.delete(`${membership}/${member.id}`), 204)
    await refused('GET', 'manifests/one', renewed)
    expect(await reads()).toEqual([404, 404, 128])
  })

  test('a rule made through one holds at the other at once', async () => {
    const project = await world.project()
    const copy = await copies.filled(project)
    const member = await world.member({ project }, 'developer')
    const there = copies.url(project, member, other.address)
    expect((await copies.try(copy, ['push', there, 'HEAD:ruled'])).code).toBe(0)
    await world.root.post(`/projects/${project['id']}/protected_branches`, { name: 'ruled' })
    await copies.commit(copy, 'more')
    expect((await copies.try(copy, ['push', there, 'HEAD:ruled'])).stderr).toContain('protected branches')
  })

  test('the first repository of a project is made by both at the same time', async () => {
    const project = await world.project()
    const copy = await copies.fresh(project, world.root)
    await copies.commit(copy, 'first')
    const there = copies.url(project, world.root, other.address)
    const [a, b] = await Promise.all([
      copies.try(copy, ['push', 'origin', 'HEAD:one']),
      copies.try(copy, ['push', there, 'HEAD:two']),
    ])
    expect([a.code, b.code]).toEqual([0, 0])
    const rules = await world.root.get(`/projects/${project['id']}/protected_branches`)
    expect(rules.body).toHaveLength(1)
  })
})

describe('what breaks in the midst', () => {
  test('a client that dies while it sends leaves nothing', async () => {
    const project = await world.project()
    const copy = await copies.filled(project)
    const login: Login = world.root
    await git(copy, 'checkout', '--quiet', '-b', 'broken')
    for (let i = 0; i < 120; i += 1) await writeFile(path.join(copy, `many-${i}`), `${i}\n`.repeat(50))
    const head = (await copies.commit(copy, 'last')) as Oid
    const body = await pushBody(copy, [{ old: zeroOid, new: head, ref: 'refs/heads/broken' }])
    const address = new URL(`${copies.url(project)}/git-receive-pack`)
    await new Promise<void>((resolve) => {
      const sending = request(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-git-receive-pack-request',
          'content-length': body.length,
          authorization: `Basic ${Buffer.from(`${login.username}:${login.token}`).toString('base64')}`,
        },
      })
      sending.on('error', () => undefined).on('close', resolve)
      sending.write(body.subarray(0, body.length - 100), () => setTimeout(() => sending.destroy(), 200))
    })
    const objects = path.join(await folderOf(project), 'objects')
    const left = async () => (await readdir(objects)).filter((name) => name.startsWith('tmp_objdir'))
    await expect.poll(left, { timeout: 30_000 }).toEqual([])
    expect(await git(copies.folder, 'ls-remote', copies.url(project, login), 'broken')).toBe('')
    const open = await sql`select from ref_updates where state = 'prepared'`.execute(
      world.service.services.db.reader,
    )
    expect(open.rows).toEqual([])
    await git(copy, 'push', '--quiet', 'origin', 'broken')
  })

  test('a service that died between moving a ref and writing it down: the push is told of after all', async () => {
    const { db, door } = world.service.services
    const project = await world.project()
    const copy = await copies.filled(project)
    const old = await git(copy, 'rev-parse', 'HEAD')
    const next = await copies.commit(copy, 'next')
    const id = project['id']
    const version = async () =>
      (await sql<{ v: number }>`select refs_version as v from projects where id = ${id}`.execute(db.reader))
        .rows[0]!.v
    // As a crash leaves it: objects and ref are there, the journal says prepared, the version is the old one.
    const folder = await folderOf(project)
    await git(copy, 'push', '--quiet', folder, 'HEAD:refs/heads/arrived')
    await git(folder, 'update-ref', 'refs/heads/main', next, old)
    await git(folder, 'update-ref', '-d', 'refs/heads/arrived')
    const before = await version()
    const updates = (oldOid: string, newOid: string) =>
      JSON.stringify([{ ref: 'refs/heads/main', oldOid, newOid }])
    await sql`insert into ref_updates (project_id, user_id, updates, push, created_at) values
      (${id}, 1, ${updates(old, next)}, '{"options": ["ci.skip"]}', now() - interval '5 minutes'),
      (${id}, 1, ${updates(next, 'd'.repeat(40))}, '{"options": []}', now() - interval '4 minutes')`.execute(
      db.writer,
    )
    await door.recover()
    expect(await version()).toBe(before + 1)
    const { rows } = await sql<{ payload: Json }>`
      select payload from events where kind = 'push' and project_id = ${id} order by id desc limit 1`.execute(
      db.reader,
    )
    expect(rows[0]!.payload).toEqual({
      updates: [{ ref: 'refs/heads/main', oldOid: old, newOid: next }],
      pushOptions: ['ci.skip'],
      byJob: false,
      imported: false,
    })
    const open = await sql`select from ref_updates where state = 'prepared' and project_id = ${id}`.execute(
      db.reader,
    )
    expect(open.rows).toEqual([])
    expect(await git(copies.folder, 'ls-remote', copies.url(project, world.root), 'main')).toContain(next)
  })

  test('entries of pushes that may still be under way are left alone', async () => {
    const { db, door } = world.service.services
    const project = await world.project()
    await copies.filled(project)
    const id = project['id']
    await sql`insert into ref_updates (project_id, user_id, updates) values
      (${id}, 1, ${JSON.stringify([{ ref: 'refs/heads/x', oldOid: zeroOid, newOid: zeroOid }])})`.execute(
      db.writer,
    )
    await door.recover()
    const open = await sql`select from ref_updates where state = 'prepared' and project_id = ${id}`.execute(
      db.reader,
    )
    expect(open.rows).toHaveLength(1)
    await sql`delete from ref_updates where project_id = ${id} and state = 'prepared'`.execute(db.writer)
  })

  test('what old broken pushes have left is swept away, what may be in use stays', async () => {
    const project = await world.project()
    await copies.filled(project)
    const folder = await folderOf(project)
    const long = new Date(Date.now() - 24 * 3_600_000)
    const names = [
      'refs/heads/main.lock',
      'refs/heads/fresh.lock',
      'objects/tmp_objdir-incoming-old',
      'objects/tmp_objdir-incoming-new',
    ]
    for (const name of names) {
      const file = path.join(folder, name)
      if (name.endsWith('.lock')) await writeFile(file, '')
      else await mkdir(file)
      if (/main|old/.test(name)) await utimes(file, long, long)
    }
    await enqueue(world.service.services.db.writer, 'repository:sweep', {})
    const left = async () => {
      const there = await Promise.all(
        names.map((name) =>
          access(path.join(folder, name)).then(
            () => [name],
            () => [],
          ),
        ),
      )
      return there.flat()
    }
    await expect.poll(left, { timeout: 30_000 }).toEqual([names[1], names[3]])
  })

  test('a client that stops listening stops git', async () => {
    const project = await world.project()
    const copy = await copies.filled(project)
    await copies.commit(copy, { large: Buffer.alloc(30 * 1024 * 1024, Math.random().toString()) })
    await git(copy, 'push', '--quiet', 'origin', 'main')
    const head = await git(copy, 'rev-parse', 'HEAD')
    const folder = await folderOf(project)
    const body = Buffer.concat([pkt(`want ${head} ofs-delta no-progress\n`), flushPkt, pkt('done\n')])
    const sending = request(new URL(`${copies.url(project)}/git-upload-pack`), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        authorization: `Basic ${Buffer.from(`x:${world.root.token}`).toString('base64')}`,
      },
    })
    sending.on('error', () => undefined).end(body)
    const answer = await new Promise<IncomingMessage>((resolve) => sending.once('response', resolve))
    expect(answer.statusCode).toBe(200)
    answer.on('error', () => undefined)
    // Read nothing, so that git has to wait, and then hang up.
    await expect.poll(() => programsAt(folder), { timeout: 30_000 }).not.toEqual([])
    sending.destroy()
    await expect.poll(() => programsAt(folder), { timeout: 30_000 }).toEqual([])
  })
})

/** What of git runs in a repository, readers of objects aside. */
async function programsAt(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    ids.map(async (id) =>
      (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' '),
    ),
  )
  return lines.filter((line) => line.includes(folder) && !line.includes('cat-file'))
}
