// @module-tag long
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { during, set } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress } from './ssh-login.ts'

let world: World
let copies: Copies

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  await set(world, { allow_local_requests_from_web_hooks_and_services: true })
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const pathOf = (project: Json) => `/projects/${project['id'] as number}/mirror/pull`
const login = () => ({ username: 'oauth2', token: world.root.token })

interface Followed {
  /** What is followed. */
  readonly upstream: Made
  readonly copy: string
  readonly project: Made
  readonly maintainer: Person
}

/** A project that may follow another one, which has a first commit. */
async function scene(): Promise<Followed> {
  const upstream = await world.project()
  const project = await world.project()
  const copy = await copies.filled(upstream, world.root)
  return { upstream, copy, project, maintainer: await world.member({ project }, 'maintainer') }
}

async function follow({ upstream, project, maintainer }: Followed, fields: Json = {}): Promise<Json> {
  const body = { enabled: true, url: copies.url(upstream, login()), ...fields }
  return expectStatus(await maintainer.put(pathOf(project), body), 200)
}

async function rested({ project, maintainer }: Followed): Promise<Json> {
  for (;;) {
    await world.settled()
    const mirror = expectStatus(await maintainer.get(pathOf(project)), 200)
    if (!['scheduled', 'started'].includes(mirror['update_status'] as string)) return mirror
    await sleep(20)
  }
}

/** Asks again, as if the five minutes between two times were over. */
async function again(scene: Followed): Promise<Json> {
  await sql`
    update pull_mirrors set last_update_at = now() - interval '6 minutes'
    where project_id = ${scene.project.id}`.execute(world.service.services.db.writer)
  expect(await scene.maintainer.post(pathOf(scene.project))).toMatchObject({ status: 202 })
  return rested(scene)
}

async function refsOf(project: Json): Promise<Record<string, string>> {
  const told = await copies.try(copies.folder, ['ls-remote', copies.url(project, world.root)])
  const lines = told.stdout.split('\n').map((line) => line.split('\t') as [string, string])
  return Object.fromEntries(
    lines.flatMap(([oid, ref]) => (/^refs\/(heads|tags)\//.test(ref) ? [[ref, oid]] : [])),
  )
}

const pipelinesOf = async ({ project, maintainer }: Followed) =>
  (await maintainer.get(`/projects/${project.id}/pipelines`)).body as Json[]

describe('a project that follows another one', () => {
  test('has what appears there, and keeps what goes away there', async () => {
    const here = await scene()
    const { upstream, copy, project, maintainer } = here
    expect(await maintainer.get(pathOf(project))).toMatchObject({
      status: 400,
      body: { message: 'The project is not mirrored' },
    })
    await follow(here)
    expect(await rested(here)).toMatchObject({
      enabled: true,
      url: copies.url(upstream, { username: '*****', token: '*****' }),
      update_status: 'finished',
      last_error: null,
      last_update_at: expect.any(String) as unknown,
      last_update_started_at: expect.any(String) as unknown,
      last_successful_update_at: expect.any(String) as unknown,
      mirror_trigger_builds: false,
      only_mirror_protected_branches: false,
      mirror_overwrites_diverged_branches: false,
      mirror_branch_regex: null,
    })
    expect(await refsOf(project)).toEqual(await refsOf(upstream))
    const shown = expectStatus(await maintainer.get(`/projects/${project.id}`), 200)
    expect(shown).toMatchObject({
      default_branch: 'main',
      empty_repo: false,
      mirror: true,
      mirror_user_id: maintainer.id,
      mirror_trigger_builds: false,
      only_mirror_protected_branches: false,
      mirror_overwrites_diverged_branches: false,
      import_url: copies.url(upstream, { username: '*****', token: '*****' }),
    })
    await copies.commit(copy, 'second')
    await git(copy, 'tag', '-a', 'v1', '-m', 'One')
    await git(copy, 'push', '--quiet', 'origin', 'main', 'HEAD:side', 'v1')
    expect(await again(here)).toMatchObject({ update_status: 'finished' })
    const both = await refsOf(upstream)
    expect(await refsOf(project)).toEqual(both)
    await git(copy, 'push', '--quiet', 'origin', ':side')
    expect(await again(here)).toMatchObject({ update_status: 'finished' })
    expect(await refsOf(project)).toEqual(both)
    const events = (await maintainer.get(`/projects/${project.id}/events?action=pushed`)).body as Json[]
    expect(events.map(({ author_id: author }) => author as number)).toContain(maintainer.id)
  })

  test('runs pipelines for that only where it should', async () => {
    const here = await scene()
    await copies.commit(here.copy, { '.gitlab-ci.yml': 'job: { script: [echo] }\n' })
    await git(here.copy, 'push', '--quiet', 'origin', 'main')
    await follow(here)
    await rested(here)
    await world.settled()
    expect((await pipelinesOf(here)).map(({ status }) => status as string)).toEqual(['skipped'])
    await follow(here, { mirror_trigger_builds: true })
    await copies.commit(here.copy, 'more')
    await git(here.copy, 'push', '--quiet', 'origin', 'main')
    await again(here)
    await world.settled()
    expect(await pipelinesOf(here)).toEqual([
      expect.objectContaining({ sha: await git(here.copy, 'rev-parse', 'HEAD'), status: 'pending' }),
      expect.objectContaining({ status: 'skipped' }),
    ])
  })

  test('keeps what went another way here, unless it is to be overwritten', async () => {
    const here = await scene()
    const { copy, project, upstream } = here
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:dev', 'HEAD:ahead')
    await follow(here)
    await rested(here)
    const own = await copies.clone(project, world.root)
    await copies.commit(own, 'ours')
    await git(own, 'push', '--quiet', 'origin', 'HEAD:dev', 'HEAD:ahead')
    const ours = await refsOf(project)
    await copies.commit(copy, 'theirs')
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:dev', 'HEAD:fresh')
    expect(await again(here)).toMatchObject({
      update_status: 'failed',
      last_error: 'Some refs have diverged and were left as they are: refs/heads/dev',
    })
    expect(await refsOf(project)).toEqual({
      ...ours,
      'refs/heads/fresh': await git(copy, 'rev-parse', 'HEAD'),
    })
    await follow(here, { mirror_overwrites_diverged_branches: true })
    expect(await again(here)).toMatchObject({ update_status: 'finished', last_error: null })
    expect(await refsOf(project)).toEqual(await refsOf(upstream))
  })

  test('keeps both of two changes that are made at one time', async () => {
    const here = await scene()
    await follow(here, { enabled: false })
    const changes: Promise<Reply>[] = []
    const other = new pg.Client({ connectionString: world.databaseUrl })
    await other.connect()
    try {
      await other.query('begin')
      await other.query('select from pull_mirrors where project_id = $1 for update', [here.project.id])
      for (const change of [{ mirror_trigger_builds: true }, { mirror_overwrites_diverged_branches: true }])
        changes.push(here.maintainer.put(pathOf(here.project), change))
      for (;;) {
        // Not by the connection that holds it: a transaction sees this as it was when it first looked.
        const { rows } = await sql<{ count: number }>`
          select count(*)::integer as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query ilike '%pull_mirrors%'`.execute(
          world.service.services.db.reader,
        )
        if (rows[0]!.count >= changes.length) break
        await sleep(20)
      }
      await other.query('commit')
    } finally {
      await other.end()
    }
    for (const reply of await Promise.all(changes)) expectStatus(reply, 200)
    expect((await here.maintainer.get(pathOf(here.project))).body).toMatchObject({
      enabled: false,
      mirror_trigger_builds: true,
      mirror_overwrites_diverged_branches: true,
    })
  })

  test('may follow protected branches only, or those of a pattern', async () => {
    const here = await scene()
    await git(here.copy, 'push', '--quiet', 'origin', 'HEAD:rel-1', 'HEAD:work')
    const rule = { name: 'main' }
    expectStatus(await world.root.post(`/projects/${here.project.id}/protected_branches`, rule), 201)
    await follow(here, { only_mirror_protected_branches: true })
    await rested(here)
    expect(Object.keys(await refsOf(here.project))).toEqual(['refs/heads/main'])
    await follow(here, { only_mirror_protected_branches: false, mirror_branch_regex: '^rel-' })
    await again(here)
    expect(Object.keys(await refsOf(here.project))).toEqual(['refs/heads/main', 'refs/heads/rel-1'])
  })

  test('is set up with the project, too, and is asked only so often', async () => {
    const { upstream } = await scene()
    const { url, ...mirror } = {
      url: copies.url(upstream, login()),
      mirror: true,
      mirror_trigger_builds: true,
    }
    const project = await world.project({ ...mirror, import_url: url })
    const here = { ...(await scene()), project, maintainer: world.root }
    expect(await rested(here)).toMatchObject({ update_status: 'finished', mirror_trigger_builds: true })
    expect(await refsOf(project)).toEqual(await refsOf(upstream))
    expect(await world.root.post(pathOf(project))).toMatchObject({ status: 202 })
    await world.settled()
    expect((await world.root.get(pathOf(project))).body).toMatchObject({ update_status: 'scheduled' })

    const off = expectStatus(await world.root.put(`/projects/${project.id}`, { mirror: false }), 200)
    expect(off).toMatchObject({ mirror: false, import_url: null })
    expect(await world.root.post(pathOf(project))).toMatchObject({ status: 400 })
    const body = { mirror: true, import_url: 'file:///etc/passwd' }
    expect(await world.root.put(`/projects/${project.id}`, body)).toMatchObject({
      status: 400,
      body: { message: { import_url: ['is blocked: Only allowed schemes are http, https, ssh, git'] } },
    })
  })

  test('is not mirrored any further by a user who may not push', async () => {
    const here = await scene()
    await follow(here)
    await rested(here)
    const members = `/projects/${here.project.id}/members/${here.maintainer.id}`
    expectStatus(await world.root.put(members, { access_level: 30 }), 200)
    await copies.commit(here.copy, 'more')
    await git(here.copy, 'push', '--quiet', 'origin', 'main')
    expect(await again({ ...here, maintainer: world.root })).toMatchObject({
      update_status: 'failed',
      last_error: 'The user of the mirror may not push all branches of the project',
    })
    const change = { mirror_user_id: 1 }
    expect(expectStatus(await world.root.put(`/projects/${here.project.id}`, change), 200)).toMatchObject(
      change,
    )
    expect(await again({ ...here, maintainer: world.root })).toMatchObject({ update_status: 'finished' })
  })

  test('is given up after the fourteenth failure, until somebody asks', async () => {
    const here = await scene()
    const { db } = world.service.services
    const url = new URL(copies.url(here.upstream, login()))
    url.port = '1025'
    await follow(here, { url: url.href })
    expect(await rested(here)).toMatchObject({
      update_status: 'failed',
      last_error: '127.0.0.1 could not be reached',
    })
    const waits = async () => {
      const { rows } = await sql<{ minutes: number | null }>`
        select round(extract(epoch from due_at - last_update_at) / 60)::integer as minutes
        from pull_mirrors where project_id = ${here.project.id}`.execute(db.reader)
      return rows[0]!.minutes
    }
    expect(await waits()).toBe(60)
    await sql`
      update pull_mirrors set failures = 13, due_at = now(), update_status = 'scheduled'
      where project_id = ${here.project.id}`.execute(db.writer)
    await enqueue(db.writer, 'mirrors:mind', {})
    await rested(here)
    expect(await waits()).toBeNull()
    await again(here)
    expect(await waits()).toBe(60)
  })

  test('follows over SSH only hosts whose keys it knows, and says no login to anybody', async () => {
    const here = await scene()
    const url = sshAddress(world, here.upstream.path_with_namespace)
    await follow(here, { url, auth_password: 'not a password' })
    const mirror = await rested(here)
    expect(mirror).toMatchObject({ update_status: 'failed', last_error: 'The login is refused' })
    expect(JSON.stringify(mirror)).not.toContain('not')
  })
})

test('where mirrors are for administrators only, others set up none, and those that there are go on', async () => {
  const here = await scene()
  await follow(here)
  await rested(here)
  await during(world, { mirror_available: false }, async () => {
    expect(await here.maintainer.put(pathOf(here.project), { enabled: false })).toMatchObject({ status: 403 })
    const through = await here.maintainer.put(`/projects/${here.project.id}`, { mirror: false })
    expect(through).toMatchObject({ status: 403 })
    await copies.commit(here.copy, 'more')
    await git(here.copy, 'push', '--quiet', 'origin', 'main')
    expect(await again(here)).toMatchObject({ enabled: true, update_status: 'finished' })
    expect(await refsOf(here.project)).toEqual(await refsOf(here.upstream))
    expectStatus(await world.root.put(pathOf(here.project), { mirror_trigger_builds: true }), 200)
  })
  expectStatus(await here.maintainer.put(pathOf(here.project), { enabled: false }), 200)
})
