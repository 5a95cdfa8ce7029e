import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { during } from '../settings/effects.ts'
import { Client, type Person, type Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const run = promisify(execFile)

let world: World
let project: Made
let maintainer: Person
let developer: Person
beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
})
afterAll(() => world[Symbol.asyncDispose]())

const basic = (username: string, password: string): Client =>
  new Client(world.url, {
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  })

const stateOf = (name: string): string => `/projects/${project.id}/terraform/state/${name}`
/** A state that nothing else uses. */
const newState = (): string => stateOf(world.unique('state'))

const state = (serial: number, fields: Json = {}): Json => ({ version: 4, serial, lineage: 'l', ...fields })

const lockInfo = (ID: string): Json => ({
  ID,
  Operation: 'OperationTypeApply',
  Info: '',
  Who: 'me@my-machine',
  Version: '1.9.0',
  Created: '2030-01-01T00:00:00Z',
  Path: '',
})

describe('a state', () => {
  test('has its versions by serial, of which the newest is the state', async () => {
    const at = newState()
    expect((await maintainer.get(at)).status).toBe(404)
    const sent = JSON.stringify(state(1, { outputs: { password: { value: 'geheim ü' } } }), null, 2)
    const written = await maintainer.post(at, sent, { 'content-type': 'application/json' })
    expect([written.status, written.text]).toEqual([200, ''])
    const got = await developer.get(at)
    expect([got.status, got.headers.get('content-type'), got.text]).toEqual([200, 'application/json', sent])
    expectStatus(await maintainer.post(at, state(3)), 200)
    expectStatus(await maintainer.post(at, state(2)), 200)
    expect((await maintainer.get(at)).body).toEqual(state(3))
    expect((await developer.get(`${at}/versions/1`)).text).toBe(sent)
    expect((await maintainer.post(at, state(3))).status).toBe(422)
    expect((await maintainer.delete(`${at}/versions/3`)).status).toBe(204)
    expect((await maintainer.get(`${at}/versions/3`)).status).toBe(404)
    expect((await maintainer.get(at)).body).toEqual(state(2))

    const { rows } = await sql<{ open: boolean }>`
      select position('geheim' in v.content) > 0
        or position('geheim'::bytea in decode(v.content, 'base64')) > 0 as open
      from terraform_state_versions v join terraform_states s on s.id = v.state_id
      where s.name = ${at.slice(at.lastIndexOf('/') + 1)}`.execute(world.service.services.db.reader)
    expect(rows).toEqual([{ open: false }, { open: false }])
    expect((await maintainer.delete(at)).status).toBe(200)
    expect((await maintainer.get(at)).status).toBe(404)
    expect((await maintainer.delete(at)).status).toBe(404)
  })

  test('that is locked is written by who holds the lock only', async () => {
    const at = newState()
    const mine = lockInfo('mine')
    const taken = await maintainer.post(`${at}/lock`, mine)
    expect([taken.status, taken.body]).toEqual([
      200,
      { ...mine, Who: maintainer.username, Created: expect.any(String) as string },
    ])
    expect((await developer.get(at)).status).toBe(204)
    const other = await world.root.post(`${at}/lock`, lockInfo('other'))
    expect(other.status).toBe(409)
    expect(other.body).toMatchObject({
      ID: 'mine',
      Who: maintainer.username,
      Operation: 'OperationTypeApply',
    })
    const refused = [
      await world.root.post(at, state(1)),
      await world.root.post(`${at}?ID=other`, state(1)),
      await world.root.delete(at),
      await world.root.delete(`${at}/lock?ID=other`),
    ]
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409])
    expect((await maintainer.post(`${at}?ID=mine`, state(1))).status).toBe(200)
    expect((await maintainer.delete(`${at}/lock`, mine)).status).toBe(200)
    expect((await maintainer.post(`${at}?ID=mine`, state(2))).status).toBe(409)
    expect((await maintainer.post(at, state(2))).status).toBe(200)
    // By force, when whoever held it is gone.
    expectStatus(await maintainer.post(`${at}/lock`, lockInfo('lost')), 200)
    expect((await world.root.delete(`${at}/lock`)).status).toBe(200)
    expectStatus(await maintainer.post(`${at}/lock`, lockInfo('next')), 200)
    expect((await maintainer.delete(`${at}?ID=next`)).status).toBe(200)
  })

  test('is locked once, whoever comes at the same time', async () => {
    const at = newState()
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => maintainer.post(`${at}/lock`, lockInfo(`lock ${index}`))),
    )
    const statuses = replies.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
  })

  test.for<[string, string, Record<string, string>, number]>([
    ['no JSON', 'nonsense', {}, 400],
    ['no number of its version', '{"version":4}', {}, 400],
    ['a number that is none', '{"serial":-1}', {}, 400],
    ['another digest', '{"serial":1}', { 'content-md5': 'AAAA' }, 400],
    ['its digest', '{"serial":1}', { 'content-md5': md5('{"serial":1}') }, 200],
    ['nothing', '', {}, 204],
  ])('with %s is answered as it should be', async ([, body, headers, status]) => {
    expect((await maintainer.post(newState(), body, headers)).status).toBe(status)
  })

  test('is no larger than max_terraform_state_size_bytes', async () => {
    const at = newState()
    const size = JSON.stringify(state(1)).length
    await during(world, { max_infra_state_size_bytes: size }, async () => {
      expect((await maintainer.post(at, state(1))).status).toBe(200)
      expect((await maintainer.post(at, state(22))).status).toBe(413)
    })
    expect((await maintainer.post(at, state(22))).status).toBe(200)
  })
})

function md5(text: string): string {
  return createHash('md5').update(text).digest('base64')
}

describe('who reads and writes states', () => {
  const tries = async (client: Client, at: string): Promise<number[]> => {
    const replies: Reply[] = [await client.post(at, state(1)), await client.get(at)]
    return replies.map(({ status }) => status)
  }

  test('shows a token, also by HTTP Basic', async () => {
    expect(await tries(basic('anything', maintainer.token), newState())).toEqual([200, 200])
    const at = newState()
    expectStatus(await maintainer.post(at, state(0)), 200)
    expect(await tries(basic('anything', developer.token), at)).toEqual([403, 200])
    expect(await tries(basic(maintainer.username, 'wrong'), at)).toEqual([401, 401])
    expect(await tries(world.anonymous, at)).toEqual([401, 401])
  })

  test('may be a job of the project', async () => {
    await using projects = await CiProjects.open(world)
    const ci = await projects.make({ test: { script: ['x'] } })
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    const job = await runner.take()
    const client = basic('gitlab-ci-token', job.token)
    expect(await tries(client, `/projects/${ci.id}/terraform/state/ci`)).toEqual([200, 200])
    expect(await tries(client, newState())).toEqual([404, 404])
  })

  test('finds it closed with the feature', async () => {
    const at = newState()
    const level = (name: string): Promise<Reply> =>
      world.root.put(`/projects/${project.id}`, { infrastructure_access_level: name })
    expectStatus(await level('disabled'), 200)
    const closed = await tries(maintainer, at)
    expectStatus(await level('enabled'), 200)
    expect(closed).toEqual([403, 403])
    expect(await tries(maintainer, at)).toEqual([200, 200])
  })
})

const program = ['terraform', 'tofu'].find((name) => {
  try {
    execFileSync(name, ['version'], { stdio: 'ignore', env: { ...process.env, CHECKPOINT_DISABLE: '1' } })
    return true
  } catch {
    return false
  }
})

test.skipIf(program === undefined)(
  'the program itself keeps its state here',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-terraform-'))
    const at = newState()
    const address = `${world.url}/api/v4${at}`
    const environment = {
      ...process.env,
      CHECKPOINT_DISABLE: '1',
      TF_IN_AUTOMATION: '1',
      TF_HTTP_ADDRESS: address,
      TF_HTTP_LOCK_ADDRESS: `${address}/lock`,
      TF_HTTP_UNLOCK_ADDRESS: `${address}/lock`,
      TF_HTTP_LOCK_METHOD: 'POST',
      TF_HTTP_UNLOCK_METHOD: 'DELETE',
      TF_HTTP_USERNAME: maintainer.username,
      TF_HTTP_PASSWORD: maintainer.token,
      TF_HTTP_RETRY_MAX: '0',
    }
    const terraform = (...args: string[]) => run(program!, args, { cwd: folder, env: environment })
    const configure = (input: string): Promise<void> =>
      writeFile(
        path.join(folder, 'main.tf'),
        `terraform {\n  backend "http" {}\n}\nresource "terraform_data" "one" {\n  input = "${input}"\n}\noutput "said" {\n  value = terraform_data.one.output\n}\n`,
      )
    try {
      await configure('hello')
      await terraform('init', '-input=false')
      await terraform('apply', '-auto-approve', '-input=false')
      expect((await terraform('output', '-raw', 'said')).stdout).toBe('hello')
      await configure('again')
      expectStatus(await world.root.post(`${at}/lock`, lockInfo('somebody else')), 200)
      await expect(terraform('apply', '-auto-approve', '-input=false')).rejects.toThrow(/lock/)
      await terraform('force-unlock', '-force', 'somebody else')
      await terraform('apply', '-auto-approve', '-input=false')
      expect((await terraform('output', '-raw', 'said')).stdout).toBe('again')
      await terraform('destroy', '-auto-approve', '-input=false')
      expect((await developer.get(at)).body).toMatchObject({ resources: [] })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)
