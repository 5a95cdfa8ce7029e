// @module-tag long
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, test } from 'vitest'
import { freePort, Program, temporaryFolder } from '../start/process.ts'
import { Person } from '../world/client.ts'
import { copyDatabase } from '../world/databases.ts'
import { eventually } from '../world/merge-project.ts'
import { expectStatus, rootToken, type Json } from '../world/world.ts'

test('a suggestion whose commit is in the branch is applied, though the service was killed before it said so', async () => {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await copyDatabase(inject('postgres')))
  const folder = stack.use(await temporaryFolder()).path
  const url = `http://127.0.0.1:${await freePort()}`
  const root = new Person(url, { id: 1, username: 'root', token: rootToken })
  const start = async (environment: NodeJS.ProcessEnv): Promise<Program> => {
    const program = new Program(['serve'], {
      PORT: new URL(url).port,
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      ROOT_TOKEN: rootToken,
      ...environment,
    })
    await program.ready(url)
    return program
  }
  const killed = {
    ROLES: 'web',
    CRASH_AT: 'update suggestions set applied_commit',
    NODE_OPTIONS: `--import=${pathToFileURL(path.join(import.meta.dirname, 'crash-points.ts')).href}`,
  }

  let program = await start({ ROLES: 'web,tasks' })
  const fields = { name: 'app', path: 'app', initialize_with_readme: true }
  const project = expectStatus(await root.post('/projects', fields), 201)
  const base = `/projects/${project['id'] as number}`
  const first = await suggestion(root, base, 'first')
  const second = await suggestion(root, base, 'second')
  await program[Symbol.asyncDispose]()

  for (const { id } of [first, second]) {
    program = await start(killed)
    await root.put(`/suggestions/${id}/apply`).catch(() => undefined)
    expect((await program.ended).signal).toBe('SIGKILL')
  }

  // One is asked for again before anything else has happened.
  program = await start({ ROLES: 'web' })
  const again = expectStatus(await root.put(`/suggestions/${first.id}/apply`), 400)
  expect(again['message']).toContain('applied before')
  expect(await shown(root, first)).toMatchObject({ resolved: true, suggestions: [{ applied: true }] })
  expect(await shown(root, second)).toMatchObject({ resolved: false, suggestions: [{ applied: false }] })
  await program[Symbol.asyncDispose]()

  // The other is known by the push.
  program = await start({ ROLES: 'web,tasks' })
  stack.use(program)
  await eventually(async () => (await shown(root, second))['resolved'] === true)
  expect(await shown(root, second)).toMatchObject({ suggestions: [{ applied: true, appliable: false }] })
  for (const { branch } of [first, second]) {
    const file = await root.get(`${base}/repository/files/a.txt/raw?ref=${branch}`)
    // The line that it begins with is there as before: nothing else would keep it from being applied twice.
    expect(file.text).toBe('one\nand more\ntwo\n')
  }
}, 300_000)

interface Suggested {
  readonly id: number
  readonly branch: string
  readonly note: string
}

/** A merge request with a suggestion that adds a line to its first one. */
async function suggestion(root: Person, base: string, branch: string): Promise<Suggested> {
  const commit = {
    branch,
    start_branch: 'main',
    commit_message: 'Write',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'one\ntwo\n' }],
  }
  expectStatus(await root.post(`${base}/repository/commits`, commit), 201)
  const fields = { source_branch: branch, target_branch: 'main', title: branch }
  const { iid } = expectStatus(await root.post(`${base}/merge_requests`, fields), 201)
  const at = `${base}/merge_requests/${iid as number}`
  const refs = await eventually(async () => (await root.get(at)).body as Json).then(
    (one) => one['diff_refs'] as Json,
  )
  const position = { ...refs, position_type: 'text', old_path: 'a.txt', new_path: 'a.txt', new_line: 1 }
  const body = '```suggestion\none\nand more\n```'
  const thread = expectStatus(await root.post(`${at}/discussions`, { body, position }), 201)
  const [note] = thread['notes'] as Json[]
  const [made] = note!['suggestions'] as Json[]
  return { id: made!['id'] as number, branch, note: `${at}/notes/${note!['id'] as number}` }
}

async function shown(root: Person, { note }: Suggested): Promise<Json> {
  return expectStatus(await root.get(note), 200)
}
