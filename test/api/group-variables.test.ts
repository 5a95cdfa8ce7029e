// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { rowsOf } from '../world/bodies.ts'
import type { Client, Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`delete from ci_variables where project_id is null and namespace_id is null`.execute(
    world.service.services.db.writer,
  )
})

const instancePath = '/admin/ci/variables'
const answer = ({ status, body }: Reply): unknown[] => [status, body]

const unscoped = {
  variable_type: 'env_var',
  key: 'HOST',
  value: 'db1',
  hidden: false,
  protected: false,
  masked: false,
  raw: false,
  description: null,
}
const { description, ...before } = unscoped
const scoped = { ...before, environment_scope: '*', description }

interface Place {
  path: string
  id: number
  owner: Person
}

async function place(...variables: Json[]): Promise<Place> {
  const group = await world.group()
  const owner = await world.member({ group }, 'owner')
  const path = `/groups/${group.id}/variables`
  for (const variable of variables) expectStatus(await owner.post(path, variable), 201)
  return { path, id: group.id, owner }
}

async function everyCall(client: Client, path: string): Promise<unknown[][]> {
  const replies: unknown[][] = []
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/HOST'],
    ['POST', ''],
    ['PUT', '/HOST'],
    ['DELETE', '/HOST'],
  ] as const) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : { key: 'NEW', value: 'x' }
    replies.push(answer(await client.request(method, path + rest, body)))
  }
  return replies
}
const all = (status: number, message: string): unknown[][] => Array<unknown[]>(5).fill([status, { message }])

describe('variables of a group', () => {
  test('are for its Owners and administrators', async () => {
    const group = await world.group({ visibility: 'public' })
    const path = `/groups/${group.id}/variables`
    expectStatus(await world.root.post(path, { key: 'HOST', value: 'x' }), 201)
    expect(await everyCall(world.anonymous, path)).toEqual(all(401, '401 Unauthorized'))
    for (const person of [await world.member({ group }, 'maintainer'), await world.user()]) {
      expect(await everyCall(person, path)).toEqual(all(403, '403 Forbidden'))
    }
    const hidden = await world.group({ visibility: 'private' })
    expect(await everyCall(await world.user(), `/groups/${hidden.id}/variables`)).toEqual(
      all(404, '404 Group Not Found'),
    )
    for (const person of [await world.member({ group }, 'owner'), world.root]) {
      const statuses = (await everyCall(person, path)).map(([status]) => status)
      expect(statuses).toEqual([200, 200, 201, 200, 204])
      expectStatus(await person.delete(`${path}/NEW`), 204)
      expectStatus(await person.post(path, { key: 'HOST', value: 'x' }), 201)
    }
  })

  test('are made, shown, changed and removed like those of a project', async () => {
    const { path, owner } = await place()
    const made = await owner.post(path, { key: 'HOST', value: 'db1' })
    expect([made.status, made.text]).toEqual([201, JSON.stringify(scoped)])
    expect((await owner.get(`${path}/HOST`)).text).toBe(made.text)
    const change = { value: 'db2', protected: true, environment_scope: 'prod', description: 'd' }
    expect(answer(await owner.put(`${path}/HOST`, change))).toEqual([200, { ...scoped, ...change }])
    expect(rowsOf(await owner.get(path))).toEqual([{ ...scoped, ...change }])
    expect((await owner.delete(`${path}/HOST`)).status).toBe(204)
    expect(answer(await owner.get(`${path}/HOST`))).toEqual([404, { message: '404 GroupVariable Not Found' }])
  })

  test('are told apart by their scopes', async () => {
    const { path, owner } = await place(
      { key: 'HOST', value: 'every' },
      { key: 'HOST', value: 'production', environment_scope: 'prod' },
    )
    expect(answer(await owner.get(`${path}/HOST`))).toEqual([
      409,
      {
        message:
          "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
      },
    ])
    expect((await owner.delete(`${path}/HOST?filter[environment_scope]=prod`)).status).toBe(204)
    expect(rowsOf(await owner.get(path)).map(({ value }) => value as string)).toEqual(['every'])
  })

  test('follow the same rules', async () => {
    const { path, owner } = await place({ key: 'HOST', value: 'x' })
    expect(answer(await owner.post(path, { key: 'HOST', value: 'y' }))).toEqual([
      400,
      { message: { key: ['HOST has already been taken'] } },
    ])
    expect(answer(await owner.post(path, { key: 'A-B', value: 'x', masked: true }))).toEqual([
      400,
      { message: { key: ["can contain only letters, digits and '_'."], value: ['is invalid'] } },
    ])
    expect(answer(await owner.post(path, {}))).toEqual([400, { error: 'key is missing, value is missing' }])
    const hidden = await owner.post(path, { key: 'KEPT', value: 'abcdefgh', masked_and_hidden: true })
    expect(hidden.body).toMatchObject({ value: null, hidden: true, masked: true })
  })

  test('are at most 30000', async () => {
    const { path, id, owner } = await place()
    await sql`
      insert into ci_variables (namespace_id, key, secret)
      select ${id}, 'KEY_' || n, '' from generate_series(1, 30000) n`.execute(
      world.service.services.db.writer,
    )
    expect(answer(await owner.post(path, { key: 'MORE', value: 'x' }))).toEqual([
      400,
      { message: { base: ['Maximum number of group ci variables (30000) exceeded'] } },
    ])
  })

  test('belong to that group alone, found by its path too', async () => {
    const { id, owner } = await place({ key: 'HOST', value: 'db1' })
    const subgroup = await world.group({ parent_id: id })
    const full = encodeURIComponent(subgroup.full_path)
    expect((await owner.get(`/groups/${full}/variables`)).body).toEqual([])
    expect((await owner.post(`/groups/${full}/variables`, { key: 'HOST', value: 'x' })).status).toBe(201)
    const project = await world.project({ namespace_id: id })
    expect((await owner.get(`/projects/${project.id}/variables`)).body).toEqual([])
    await world.root.delete(`/groups/${subgroup.id}`)
  })
})

describe('variables of the instance', () => {
  test('are for administrators', async () => {
    expectStatus(await world.root.post(instancePath, { key: 'HOST', value: 'x' }), 201)
    expect(await everyCall(world.anonymous, instancePath)).toEqual(all(401, '401 Unauthorized'))
    expect(await everyCall(await world.user(), instancePath)).toEqual(all(403, '403 Forbidden'))
    const statuses = (await everyCall(world.root, instancePath)).map(([status]) => status)
    expect(statuses).toEqual([200, 200, 201, 200, 204])
  })

  test('have no scopes', async () => {
    const made = await world.root.post(instancePath, { key: 'HOST', value: 'db1', environment_scope: 'prod' })
    expect([made.status, made.text]).toEqual([201, JSON.stringify(unscoped)])
    expect((await world.root.get(instancePath)).text).toBe(JSON.stringify([unscoped]))
    expect(answer(await world.root.post(instancePath, { key: 'HOST', value: 'db1' }))).toEqual([
      400,
      { message: { key: ['HOST has already been taken'] } },
    ])
    const filtered = await world.root.get(`${instancePath}/HOST?filter[environment_scope]=prod`)
    expect(answer(filtered)).toEqual([200, unscoped])
    const changed = await world.root.put(`${instancePath}/HOST`, { value: 'db2', environment_scope: 'test' })
    expect(answer(changed)).toEqual([200, { ...unscoped, value: 'db2' }])
    expect(answer(await world.root.delete(`${instancePath}/OTHER`))).toEqual([
      404,
      { message: '404 InstanceVariable Not Found' },
    ])
  })

  test('may be larger files', async () => {
    const post = (variable_type: string, length: number) =>
      world.root.post(instancePath, {
        key: world.unique('K').replace('-', '_'),
        value: 'v'.repeat(length),
        variable_type,
      })
    const refusal = (limit: number) => [
      400,
      { message: { value: [`The value of the provided variable exceeds the ${limit} character limit`] } },
    ]
    expect((await post('file', 50_000)).status).toBe(201)
    expect(answer(await post('file', 50_001))).toEqual(refusal(50_000))
    expect((await post('env_var', 10_000)).status).toBe(201)
    expect(answer(await post('env_var', 10_001))).toEqual(refusal(10_000))
    const { path, owner } = await place()
    expect(
      answer(await owner.post(path, { key: 'A', value: 'v'.repeat(10_001), variable_type: 'file' })),
    ).toEqual(refusal(10_000))
  })

  test('are at most 25', async () => {
    for (let index = 1; index <= 25; index += 1) {
      expectStatus(await world.root.post(instancePath, { key: `KEY_${index}`, value: 'x' }), 201)
    }
    expect(answer(await world.root.post(instancePath, { key: 'MORE', value: 'x' }))).toEqual([
      400,
      { message: { base: ['Maximum number of ci instance level variables (25) exceeded'] } },
    ])
  })
})

describe('a job gets', () => {
  /** A project below two groups, and who takes its jobs. */
  async function nested(config: Json): Promise<{
    projects: CiProjects
    ci: Awaited<ReturnType<CiProjects['make']>>
    places: Record<'instance' | 'top' | 'sub' | 'project', string>
  }> {
    const projects = await CiProjects.open(world)
    const top = await world.group()
    const sub: Made = await world.group({ parent_id: top.id })
    const ci = await projects.make(config, { namespace_id: sub.id })
    const places = {
      instance: instancePath,
      top: `/groups/${top.id}/variables`,
      sub: `/groups/${sub.id}/variables`,
      project: `/projects/${ci.id}/variables`,
    }
    return { projects, ci, places }
  }

  async function set(path: string, key: string, value: string, more: Json = {}): Promise<void> {
    expectStatus(await world.root.post(path, { key, value, ...more }), 201)
  }

  test('of each key the value of the nearest place that has one', async () => {
    const { projects, ci, places } = await nested({
      variables: { FILE: 'file', FROM_FILE: 'file' },
      test: { script: ['x'], rules: [{ if: '$TOP == "top"' }] },
    })
    await using _ = projects
    const order = ['instance', 'top', 'sub', 'project'] as const
    // Each place has a key for itself and all places nearer than it is.
    for (const [index, name] of order.entries()) {
      for (const key of order.slice(index)) await set(places[name], key.toUpperCase(), name)
    }
    await set(places.instance, 'FILE', 'instance')
    await ci.run(world.root, { variables: [{ key: 'GIVEN', value: 'run' }] })
    const job = await (await RawRunner.forProject(world, ci.project)).take()
    expect(
      ['INSTANCE', 'TOP', 'SUB', 'PROJECT', 'FILE', 'FROM_FILE', 'GIVEN'].map((key) => job.variable(key)),
    ).toEqual(['instance', 'top', 'sub', 'project', 'instance', 'file', 'run'])
    expect((job.payload['variables'] as Json[]).filter(({ key }) => key === 'PROJECT')).toHaveLength(1)
  })

  test('the nearer place even where the other has the closer scope', async () => {
    const { projects, ci, places } = await nested({
      deploy: { script: ['x'], environment: { name: 'prod/eu' } },
    })
    await using _ = projects
    await set(places.top, 'A', 'exact above', { environment_scope: 'prod/eu' })
    await set(places.sub, 'A', 'any below')
    await set(places.sub, 'B', 'any')
    await set(places.sub, 'B', 'closest', { environment_scope: 'prod/e*' })
    await set(places.sub, 'B', 'close', { environment_scope: 'prod/*' })
    await set(places.top, 'C', 'elsewhere', { environment_scope: 'test' })
    await ci.run(world.root)
    const job = await (await RawRunner.forProject(world, ci.project)).take()
    expect(['A', 'B', 'C'].map((key) => job.variable(key))).toEqual(['any below', 'closest', undefined])
  })

  test('protected ones on protected branches only, and masked ones as masked', async () => {
    const { projects, ci, places } = await nested({ test: { script: ['x'] } })
    await using _ = projects
    await set(places.instance, 'ANY', 'instance-value', { masked: true })
    await set(places.instance, 'KEPT', 'instance', { protected: true })
    await set(places.top, 'KEPT_TOO', 'top', { protected: true })
    await ci.push({ 'more.txt': 'x' }, { to: 'free', options: ['ci.skip'] })
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root, { ref: 'free' })
    const free = await runner.take()
    expect(['ANY', 'KEPT', 'KEPT_TOO'].map((key) => free.variable(key))).toEqual([
      'instance-value',
      undefined,
      undefined,
    ])
    expect((free.payload['variables'] as Json[]).find(({ key }) => key === 'ANY')).toMatchObject({
      masked: true,
      public: false,
    })
    await ci.run(world.root)
    const main = await runner.take()
    expect(['KEPT', 'KEPT_TOO'].map((key) => main.variable(key))).toEqual(['instance', 'top'])
  })

  test('none of other groups', async () => {
    const { projects, ci } = await nested({ test: { script: ['x'] } })
    await using _ = projects
    await place({ key: 'FOREIGN', value: 'x' })
    await ci.run(world.root)
    const job = await (await RawRunner.forProject(world, ci.project)).take()
    expect(job.variable('FOREIGN')).toBeUndefined()
  })
})
