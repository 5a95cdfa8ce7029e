// @module-tag long
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { RepositoryPlaces } from '../../src/areas/repository/index.ts'
import { openGit } from '../../src/git/index.ts'
import { git, tryGit } from '../../src/git/testing.ts'
import { freePort, Program, temporaryFolder } from '../start/process.ts'
import { Person } from '../world/client.ts'
import { copyDatabase } from '../world/databases.ts'
import { expectStatus, rootToken, type Json } from '../world/world.ts'

/*
 * A service that is killed at one step after the other of a push, of a commit over the API, of the deletion of a branch
 * and of a merge. Started again, its database and its repository must agree about what happened, and it must go on working.
 */

const stack = new AsyncDisposableStack()
let db: pg.Client
let url: string
let crashFile: string
let folder: string
let program: Program
let root: Person
let project: Json
let copy: string
let repository: string

const start = async (): Promise<void> => {
  program = new Program(['serve'], {
    PORT: new URL(url).port,
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    DATABASE_POOL: '2',
    ROOT_TOKEN: rootToken,
    ROLES: 'web',
    CRASH_FILE: crashFile,
    NODE_OPTIONS: `--import=${pathToFileURL(path.join(import.meta.dirname, 'crash-points.ts')).href}`,
  })
  await program.ready(url)
}
let database: Awaited<ReturnType<typeof copyDatabase>>

beforeAll(async () => {
  database = stack.use(await copyDatabase(inject('postgres')))
  folder = stack.use(await temporaryFolder()).path
  crashFile = path.join(folder, 'crash')
  url = `http://127.0.0.1:${await freePort()}`
  db = new pg.Client({ connectionString: database.url })
  await db.connect()
  stack.defer(() => db.end())
  await start()
  stack.defer(() => program[Symbol.asyncDispose]())
  root = new Person(url, { id: 1, username: 'root', token: rootToken })
  project = expectStatus(await root.post('/projects', { name: 'app', path: 'app' }), 201)
  const id = project['id'] as number
  const program_ = stack.use(await openGit({ durable: false }))
  const places = new RepositoryPlaces(program_, { default: path.join(folder, 'repositories') })
  repository = places.of({ id, storage: 'default' }).path
  copy = path.join(folder, 'copy')
  const address = new URL(`${url}/${project['path_with_namespace'] as string}.git`)
  address.username = 'root'
  address.password = rootToken
  await git(folder, 'init', '--quiet', copy)
  await git(copy, 'remote', 'add', 'origin', address.href)
  await git(copy, 'commit', '--quiet', '--allow-empty', '-m', 'First')
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:refs/heads/main', 'HEAD:refs/heads/work')
}, 300_000)
afterAll(() => stack.disposeAsync())

/** Does something and tells whether it was acknowledged, and whether the service died of it. */
async function dyingAt(
  step: number,
  work: () => Promise<boolean>,
): Promise<{ done: boolean; died: boolean }> {
  await writeFile(crashFile, String(step))
  const died = program.ended.then(() => true)
  const done = await work().catch(() => false)
  await rm(crashFile)
  // What was not acknowledged has failed of a death, which a busy machine may be slow to tell.
  const still = sleep(done ? 1000 : 30_000, false as const)
  return { done, died: await Promise.race([died, still]) }
}

const headOf = async (branch: string): Promise<string> =>
  (await git(repository, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)).trim()

const newsOf = async (branch: string): Promise<number> => {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from events where kind = 'push' and payload -> 'updates' @> $1`,
    [JSON.stringify([{ ref: `refs/heads/${branch}` }])],
  )
  return Number(rows[0]!.count)
}

/** What the service says of a branch must be what lies on the disk, told once. */
async function agree(branch: string, before: { head: string; news: number }): Promise<string> {
  const head = await headOf(branch)
  const answer = await root.get(`/projects/${project['id'] as number}/repository/branches/${branch}`)
  expect(answer.status === 404 ? '' : ((answer.body as Json)['commit'] as Json)['id']).toBe(head)
  const { rows } = await db.query(`select id from ref_updates where state = 'prepared'`)
  expect(rows).toEqual([])
  expect((await newsOf(branch)) - before.news).toBe(head === before.head ? 0 : 1)
  return head
}

async function again(): Promise<void> {
  await program.ended
  // What is open for less than a minute may be somebody's who is at work.
  await db.query(
    `update ref_updates set created_at = created_at - interval '2 minutes' where state = 'prepared'`,
  )
  await db.query(`update merge_requests set locked_at = now() - interval '2 minutes' where state = 'locked'`)
  await start()
  const open = `select from ref_updates where state = 'prepared'
    union all select from merge_requests where state = 'locked'`
  await expect.poll(async () => (await db.query(open)).rowCount, { interval: 20, timeout: 20_000 }).toBe(0)
}

interface Work {
  /** Gives the branch that is to change. */
  readonly prepare: (name: string) => Promise<void>
  readonly run: (name: string) => Promise<boolean>
  /** What else must agree with whether the branch moved. */
  readonly look?: (name: string, moved: boolean) => Promise<void>
}

const api = () => `/projects/${project['id'] as number}/repository`

const works: Readonly<Record<string, Work>> = {
  push: {
    prepare: () => Promise.resolve(),
    async run(name) {
      await git(copy, 'commit', '--quiet', '--allow-empty', '-m', name)
      return (await tryGit(copy, ['push', '--quiet', 'origin', `HEAD:refs/heads/${name}`], {})).code === 0
    },
  },
  'commit over the API': {
    prepare: (name) =>
      git(copy, 'push', '--quiet', 'origin', `HEAD:refs/heads/${name}`).then(() => undefined),
    async run(branch) {
      const actions = [{ action: 'create', file_path: branch, content: 'x' }]
      const made = await root.post(`${api()}/commits`, { branch, commit_message: 'Change', actions })
      return made.status === 201
    },
  },
  'deletion of a branch': {
    prepare: (name) =>
      git(copy, 'push', '--quiet', 'origin', `HEAD:refs/heads/${name}`).then(() => undefined),
    run: async (name) => (await root.delete(`${api()}/branches/${name}`)).status === 204,
  },
  merge: {
    async prepare(name) {
      await git(copy, 'push', '--quiet', 'origin', `HEAD:refs/heads/${name}`)
      await git(copy, 'commit', '--quiet', '--allow-empty', '-m', `Work for ${name}`)
      await git(copy, 'push', '--quiet', 'origin', `HEAD:refs/heads/of-${name}`)
      const fields = { source_branch: `of-${name}`, target_branch: name, title: name }
      expectStatus(await root.post(requests(), fields), 201)
    },
    run: async (name) => (await root.put(`${requests()}/${await requestInto(name)}/merge`)).status === 200,
    async look(name, moved) {
      const request = expectStatus(await root.get(`${requests()}/${await requestInto(name)}`), 200)
      expect(request['state']).toBe(moved ? 'merged' : 'opened')
      if (moved) expect(request['merge_commit_sha']).toBe(await headOf(name))
      const { rowCount } = await db.query(
        `select from events where kind = 'merge_request' and payload ->> 'action' = 'merge'
           and payload ->> 'mergeRequestId' = $1`,
        [String(request['id'])],
      )
      expect(rowCount).toBe(moved ? 1 : 0)
      // What did not come about can be asked for again.
      if (!moved) expect(await works['merge']!.run(name)).toBe(true)
    },
  },
}

const requests = () => `/projects/${project['id'] as number}/merge_requests`

async function requestInto(branch: string): Promise<number> {
  const found = (await root.get(`${requests()}?target_branch=${branch}`)).body as Json[]
  return found[0]!['iid'] as number
}

/** Twenty steps at least, over the four; a failure names its branch, which has the number of the step. */
test.each(Object.keys(works))('%s', { timeout: 300_000 }, async (kind) => {
  const { prepare, run, look } = works[kind]!
  let deaths = 0
  for (let step = 1; ; step += 1) {
    const branch = `${kind.split(' ')[0]!}-${step}`
    await prepare(branch)
    const before = { head: await headOf(branch), news: await newsOf(branch) }
    const { done, died } = await dyingAt(step, () => run(branch))
    if (died) {
      deaths += 1
      await again()
    }
    const head = await agree(branch, before)
    // What was acknowledged is there.
    if (done) expect(head).not.toBe(before.head)
    await look?.(branch, head !== before.head)
    if (!died) {
      expect(done).toBe(true)
      break
    }
  }
  expect(deaths).toBeGreaterThanOrEqual(7)
})
