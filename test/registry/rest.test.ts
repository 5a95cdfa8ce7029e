// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runPolicies } from '../../src/areas/container-registry/index.ts'
import { during, set } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'
import { digestOf, RegistryClient } from './client.ts'

let world: World
let project: Made
let maintainer: Person
let developer: Person
let client: RegistryClient
let host: string

beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  client = RegistryClient.of(world, maintainer)
  host = new URL(world.url).host
})
afterAll(() => world[Symbol.asyncDispose]())

const list = (query = '') => maintainer.get(`/projects/${project.id}/registry/repositories${query}`)

async function repositoryOf(path: string, of: Made = project): Promise<number> {
  const { body } = await world.root.get(`/projects/${of.id}/registry/repositories?per_page=100`)
  return (body as Json[]).find((row) => row['path'] === path)!['id'] as number
}

/** Pushes an image under each of the tags, oldest first, a day apart, the newest a day ago. */
async function pushTags(path: string, tags: readonly string[], of: Made = project): Promise<string> {
  const manifest = await client.pushImage(path, tags[0]!)
  for (const tag of tags.slice(1)) await client.pushManifest(path, tag, manifest)
  const id = await repositoryOf(path, of)
  for (const [index, tag] of tags.entries()) {
    await sql`
      update container_tags t set pushed_at = now() - make_interval(days => ${tags.length - index})
      where t.repository_id = ${id} and t.name = ${tag}`.execute(world.service.services.db.writer)
  }
  return `/projects/${of.id}/registry/repositories/${id}`
}

const tagsOf = async (path: string): Promise<string[]> =>
  ((await world.root.get(`${path}/tags?per_page=100`)).body as Json[]).map((tag) => tag['name'] as string)

describe('repositories', () => {
  test('are listed and shown with what is asked for', async () => {
    const path = `${project.path_with_namespace}/web`
    const manifest = await client.pushImage(path, '1.0', 'twelve bytes')
    await client.pushManifest(path, 'Latest', manifest)
    const id = await repositoryOf(path)
    const plain = {
      id,
      name: 'web',
      path,
      project_id: project.id,
      location: `${host}/${path}`,
      created_at: expect.stringMatching(/Z$/),
      cleanup_policy_started_at: null,
      status: null,
      delete_api_path: `${world.url}/api/v4/projects/${project.id}/registry/repositories/${id}`,
    }
    expect((await list()).body).toEqual([plain])
    const tags = ['1.0', 'Latest'].map((name) => ({
      name,
      path: `${path}:${name}`,
      location: `${host}/${path}:${name}`,
    }))
    expect((await list('?tags=true&tags_count=true')).body).toEqual([{ ...plain, tags_count: 2, tags }])
    const { delete_api_path: _, ...forDevelopers } = plain
    const shown = await developer.get(`/registry/repositories/${id}?size=true&tags_count=1`)
    expect(shown.body).toEqual({ ...forDevelopers, tags_count: 2, size: '{}'.length + 'twelve bytes'.length })
    const full = (await maintainer.get(`/projects/${project.id}`)).body as Json
    expect(full['container_registry_image_prefix']).toBe(`${host}/${project.path_with_namespace}`)
  })

  test('are told apart from projects of the same id', async () => {
    const path = `${project.path_with_namespace}/web`
    const id = await repositoryOf(path)
    // Projects until one has the id of the repository, each remembered by the gate as it is read.
    let other: Made | undefined
    while (other === undefined || other.id < id) other = await world.project()
    for (const address of [`/projects/${id}`, `/registry/repositories/${id}`, `/projects/${id}`]) {
      await world.root.get(address)
    }
    const shown = (await world.root.get(`/registry/repositories/${id}`)).body as Json
    expect([shown['path'], shown['project_id']]).toEqual([path, project.id])
  })

  test('of all projects of a group are listed', async () => {
    const group = await world.group()
    const inner = await world.group({ parent_id: group.id })
    const [one, two] = [
      await world.project({ namespace_id: group.id }),
      await world.project({ namespace_id: inner.id }),
    ]
    const root = new RegistryClient(world, { username: 'root', password: world.root.token })
    for (const of of [one, two]) await root.pushImage(of.path_with_namespace, 'x')
    const reporter = await world.member({ group }, 'reporter')
    const found = await reporter.get(`/groups/${group.id}/registry/repositories`)
    expect((found.body as Json[]).map((row) => [row['name'], row['path']])).toEqual([
      ['', one.path_with_namespace],
      ['', two.path_with_namespace],
    ])
    await world.root.put(`/projects/${two.id}`, { container_registry_access_level: 'disabled' })
    expect((await reporter.get(`/groups/${group.id}/registry/repositories`)).body).toHaveLength(1)
    const off = await world.root.get(`/projects/${two.id}/registry/repositories`)
    expect([off.status, off.body]).toEqual([404, { message: '404 Not Found' }])
  })

  test('are deleted, with all that they hold', async () => {
    const path = `${project.path_with_namespace}/gone`
    await client.pushImage(path, 'x')
    const id = await repositoryOf(path)
    const answer = await maintainer.delete(`/projects/${project.id}/registry/repositories/${id}`)
    expect([answer.status, answer.text]).toEqual([202, '202'])
    await vi.waitFor(
      async () => expect((await maintainer.get(`/registry/repositories/${id}`)).status).toBe(404),
      { timeout: 20_000 },
    )
  })

  test('that a rule protects are not deleted by whom it names', async () => {
    const path = `${project.path_with_namespace}/protected`
    await client.pushImage(path, 'x')
    await world.root.post(`/projects/${project.id}/registry/protection/repository/rules`, {
      repository_path_pattern: path,
      minimum_access_level_for_delete: 'owner',
    })
    const place = `/projects/${project.id}/registry/repositories/${await repositoryOf(path)}`
    for (const refused of [
      await maintainer.delete(place),
      await maintainer.delete(`${place}/tags`, { name_regex_delete: '.*' }),
    ]) {
      expect([refused.status, refused.body]).toEqual([
        403,
        { message: '403 Forbidden - Deleting protected container repository forbidden.' },
      ])
    }
    // A tag falls under the rules for tags.
    expect((await developer.delete(`${place}/tags/x`)).status).toBe(200)
    expect((await world.root.delete(place)).status).toBe(202)
  })
})

describe('tags', () => {
  test('are shown with what they name', async () => {
    const path = `${project.path_with_namespace}/detail`
    const manifest = await client.pushImage(path, 'v1', 'a layer')
    const place = `/projects/${project.id}/registry/repositories/${await repositoryOf(path)}`
    const shown = await developer.get(`${place}/tags/v1`)
    const revision = digestOf('{}').slice(7)
    expect(shown.body).toEqual({
      name: 'v1',
      path: `${path}:v1`,
      location: `${host}/${path}:v1`,
      revision,
      short_revision: revision.slice(0, 9),
      digest: digestOf(manifest),
      created_at: expect.stringMatching(/Z$/),
      total_size: 'a layer'.length,
    })
    const missing = await developer.get(`${place}/tags/v2`)
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Tag Not Found' }])
    const deleted = await developer.delete(`${place}/tags/v1`)
    expect([deleted.status, deleted.text]).toEqual([200, '200'])
    expect((await developer.delete(`${place}/tags/v1`)).status).toBe(404)
    expect((await client.request('GET', path, 'manifests/v1')).status).toBe(404)
    expect((await client.request('GET', path, `manifests/${digestOf(manifest)}`)).status).toBe(200)
  })

  test('are listed in pages, by number and by keyset', async () => {
    const place = await pushTags(`${project.path_with_namespace}/paged`, ['b', 'A', 'c'])
    const first = await developer.get(`${place}/tags?per_page=2`)
    expect((first.body as Json[]).map((tag) => tag['name'])).toEqual(['A', 'b'])
    expect([first.headers.get('x-total'), first.headers.get('x-next-page')]).toEqual(['3', '2'])
    const names: string[] = []
    let next: string | undefined = `${world.url}/api/v4${place}/tags?pagination=keyset&per_page=1&sort=desc`
    while (next !== undefined) {
      const page = await developer.get(next)
      names.push(...(page.body as Json[]).map((tag) => tag['name'] as string))
      next = /<([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
    }
    expect(names).toEqual(['c', 'b', 'A'])
  })

  test('of a repository that is not there, or of another project, are not found', async () => {
    const place = await pushTags(`${project.path_with_namespace}/untagged`, ['only'])
    const elsewhere = (await world.project()).id
    const wrong = [
      place.replace(/\d+$/, '999999'),
      place.replace(/^\/projects\/\d+/, `/projects/${elsewhere}`),
    ]
    for (const path of wrong) {
      for (const pagination of ['legacy', 'keyset']) {
        const answer = await world.root.get(`${path}/tags?pagination=${pagination}`)
        expect([answer.status, answer.body]).toEqual([404, { message: '404 Not found' }])
      }
    }
    expect((await developer.delete(`${place}/tags/only`)).status).toBe(200)
    for (const pagination of ['legacy', 'keyset']) {
      const answer = await developer.get(`${place}/tags?pagination=${pagination}`)
      expect([answer.status, answer.body]).toEqual([200, []])
    }
  })

  test('that are protected stay', async () => {
    const of = await world.project()
    const path = of.path_with_namespace
    await new RegistryClient(world, { username: 'root', password: world.root.token }).pushImage(path, 'v1')
    await world.root.post(`/projects/${of.id}/registry/protection/tag/rules`, {
      tag_name_pattern: '^v',
      minimum_access_level_for_push: 'owner',
      minimum_access_level_for_delete: 'owner',
    })
    const somebody = await world.member({ project: of }, 'maintainer')
    const refused = await somebody.delete(
      `/projects/${of.id}/registry/repositories/${await repositoryOf(path, of)}/tags/v1`,
    )
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - cannot delete protected tag(s)' },
    ])
  })

  test('are removed in bulk: by name, the newest and the youngest kept, never latest', async () => {
    const tags = ['old-1', 'old-2', 'keep-me', 'latest', 'new-1', 'new-2', 'other']
    const place = await pushTags(`${project.path_with_namespace}/bulk`, tags)
    const answer = await maintainer.delete(`${place}/tags`, {
      name_regex_delete: '(old|new|keep|latest).*',
      name_regex_keep: 'keep.*',
      keep_n: 1,
      older_than: '5d',
    })
    expect([answer.status, answer.text]).toEqual([202, '202'])
    await vi.waitFor(
      async () => expect(await tagsOf(place)).toEqual(['keep-me', 'latest', 'new-1', 'new-2', 'other']),
      { timeout: 20_000 },
    )
    const again = await maintainer.delete(`${place}/tags`, { name_regex_delete: '.*' })
    expect([again.status, again.body]).toEqual([
      400,
      {
        message:
          'This request has already been made. You can run this at most once an hour for a given container repository',
      },
    ])
  })

  test.each<[Json, RegExp]>([
    [{}, /^name_regex, name_regex_delete are missing, at least one parameter must be provided$/],
    [{ name_regex_delete: '(' }, /^name_regex_delete is an invalid regexp: /],
    [{ name_regex: '*' }, /^name_regex is an invalid regexp: /],
    [{ name_regex: 'x', name_regex_keep: '[' }, /^name_regex_keep is an invalid regexp: /],
    [{ name_regex: 'x', older_than: 'never' }, /^older_than is invalid$/],
    [{ name_regex: 'x', keep_n: 'x' }, /^keep_n is invalid$/],
  ])('are not removed by %j', async (body, error) => {
    const id = await repositoryOf(`${project.path_with_namespace}/web`)
    const reply = await maintainer.delete(`/projects/${project.id}/registry/repositories/${id}/tags`, body)
    expect(reply.status).toBe(400)
    expect((reply.body as Json)['error']).toMatch(error)
  })
})

describe('cleanup policies', () => {
  const policy = {
    enabled: true,
    cadence: '1d',
    keep_n: 1,
    older_than: '7d',
    name_regex_delete: '.*',
    name_regex_keep: 'release',
  }

  test('remove tags of projects that have one, once its time has come', async () => {
    const of = await world.project()
    await world.root.post(`/projects/${of.id}/members`, { user_id: maintainer.id, access_level: 40 })
    await world.root.put(`/projects/${of.id}`, { container_expiration_policy_attributes: policy })
    const path = of.path_with_namespace
    const days = Array.from({ length: 10 }, (_, index) => `day-${10 - index}`)
    const place = await pushTags(path, [...days.slice(0, 1), 'release', ...days.slice(1)], of)
    const kept = await pushTags(`${path}/kept`, ['a', 'b', ...days], of)
    await world.root.post(`/projects/${of.id}/registry/protection/repository/rules`, {
      repository_path_pattern: `${path}/kept`,
      minimum_access_level_for_delete: 'owner',
    })
    const { services } = world.service
    await during(world, { container_registry_expiration_policies_worker_capacity: 0 }, async () => {
      await runPolicies(services)
      expect(await tagsOf(place)).toHaveLength(11)
    })

    await set(world, { container_registry_cleanup_tags_service_max_list_size: 2 })
    await runPolicies(services)
    // Four are old enough, and `release` is kept; of these two go at a time.
    expect(await tagsOf(place)).toHaveLength(9)
    expect(await tagsOf(kept)).toHaveLength(12)
    const shown = await world.root.get(place.replace(/\/projects\/\d+/, ''))
    expect((shown.body as Json)['cleanup_policy_started_at']).toMatch(/Z$/)

    // It is not due yet; then it is.
    await runPolicies(services)
    expect(await tagsOf(place)).toHaveLength(9)
    await sql`update container_cleanup_policies set next_run_at = now()`.execute(services.db.writer)
    await runPolicies(services)
    const left = await tagsOf(place)
    expect(left).toContain('release')
    expect(left.filter((name) => name.startsWith('day-'))).toHaveLength(6)
  })

  test('container_expiration_policies_enable_historic_entries: of projects that are older than policies they run too', async () => {
    const of = await world.project()
    await world.root.post(`/projects/${of.id}/members`, { user_id: maintainer.id, access_level: 40 })
    await world.root.put(`/projects/${of.id}`, { container_expiration_policy_attributes: policy })
    const place = await pushTags(of.path_with_namespace, ['old-1', 'old-2', 'old-3'], of)
    const { services } = world.service
    const { db } = services
    await sql`update container_tags set pushed_at = now() - interval '30 days'`.execute(db.writer)
    await sql`insert into container_cleanup_policies (project_id, historic) values (${of.id}, true)`.execute(
      db.writer,
    )
    await runPolicies(services)
    expect(await tagsOf(place)).toHaveLength(3)
    await during(world, { container_expiration_policies_enable_historic_entries: true }, async () => {
      await runPolicies(services)
      expect(await tagsOf(place)).toHaveLength(1)
    })
    await pushTags(of.path_with_namespace, ['old-1', 'old-2'], of)
    await sql`update container_tags set pushed_at = now() - interval '30 days'`.execute(db.writer)
    await sql`update container_cleanup_policies set next_run_at = now() where project_id = ${of.id}`.execute(
      db.writer,
    )
    await runPolicies(services)
    expect(await tagsOf(place)).toHaveLength(3)
  })

  test('container_registry_delete_tags_service_timeout: a run ends after so many seconds, and goes on later', async () => {
    const of = await world.project()
    await world.root.post(`/projects/${of.id}/members`, { user_id: maintainer.id, access_level: 40 })
    await world.root.put(`/projects/${of.id}`, { container_expiration_policy_attributes: policy })
    const place = await pushTags(of.path_with_namespace, ['first'], of)
    const { services } = world.service
    const { db } = services
    // More than are looked at in one go.
    await sql`
      insert into container_tags (repository_id, manifest_id, name, pushed_at)
      select t.repository_id, t.manifest_id, 'tag-' || n, now() - interval '30 days' - n * interval '1 second'
      from container_tags t join container_repositories c on c.id = t.repository_id and c.project_id = ${of.id},
        generate_series(1, 2500) n`.execute(db.writer)
    const count = async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from container_tags t
        join container_repositories c on c.id = t.repository_id and c.project_id = ${of.id}`.execute(
        db.reader,
      )
      return rows[0]!.n
    }
    const values = {
      container_registry_cleanup_tags_service_max_list_size: 0,
      container_registry_delete_tags_service_timeout: 1,
    }
    await during(world, values, async () => {
      // Somebody holds a tag of the first thousand for longer than the run may take.
      const run = await db.writer.transaction().execute(async (tx) => {
        await sql`
          select t.name from container_tags t join container_repositories c on c.id = t.repository_id
          where c.project_id = ${of.id} and t.name = 'tag-1' for update of t`.execute(tx)
        const begun = Date.now()
        const running = runPolicies(services)
        await expect.poll(() => Date.now() - begun, { timeout: 5000, interval: 20 }).toBeGreaterThan(1100)
        return { running }
      })
      await run.running
      expect(await count()).toBe(2501 - 999)
    })
    await sql`update container_cleanup_policies set next_run_at = now() where project_id = ${of.id}`.execute(
      db.writer,
    )
    await during(world, { container_registry_cleanup_tags_service_max_list_size: 0 }, () =>
      runPolicies(services),
    )
    expect(await count()).toBe(1)
    expect(await tagsOf(place)).toEqual(['first'])
  })
})
