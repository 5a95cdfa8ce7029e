import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enterAs, project as projectKind, type ProjectSubject } from '../../src/access/index.ts'
import { codeOwnerGuard } from '../../src/areas/code-owners/index.ts'
import { RepositoryPlaces } from '../../src/areas/repository/index.ts'
import { openGit, type Oid, type ProposedUpdate, type RefName } from '../../src/git/index.ts'
import { Database } from '../../src/kernel/db/index.ts'
import { createLogger } from '../../src/kernel/log/index.ts'
import { Copies, git } from '../git/copies.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let copies: Copies
let top: Made
let project: Made
let base: string
let maintainer: Person
let developer: Person

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate' })
  copies = await Copies.open(world)
  top = await world.group()
  project = await world.project({ namespace_id: top.id })
  base = `/projects/${project.id}/repository/code_owners`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  await copies.filled(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

async function write(branch: string, file: string, content: string): Promise<void> {
  const at = `/projects/${project.id}/repository/files/${encodeURIComponent(file)}`
  const fields = { branch, start_branch: 'main', commit_message: 'Own', content }
  expect((await maintainer.post(at, fields)).status).toBe(201)
}

test('owners by name, group, address and role', async () => {
  const group = await world.group()
  const insider = await world.member({ group }, 'developer')
  const guest = await world.member({ project }, 'guest')
  const stranger = await world.user()
  await world.root.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: 30 })
  const groupOwner = await world.member({ group: top }, 'owner')
  const mail = bodyOf(await developer.get('/user'))['email'] as string
  await write(
    'owned',
    'docs/CODEOWNERS',
    [
      `* @${developer.username.toUpperCase()} @${guest.username} @${stranger.username} @nobody-at-all`,
      '[Shared][2]',
      `/src/ @${group.full_path} ${mail}`,
      '^[Roles]',
      `*.md @@maintainers @${top.full_path}`,
      '!/src/own.md',
    ].join('\n'),
  )
  const asked = `${base}?ref=owned&paths=src/a.ts,src/own.md,README.md`
  const rows = rowsOf(await developer.get(asked))
  const ids = (row: Json) =>
    // The administrator made the groups, and so owns them.
    (row['owners'] as Json[]).map(({ id }) => id as number).filter((id) => id !== world.root.id)
  expect(rows.map(({ owners: _, ...row }) => row)).toEqual([
    {
      ...{ section: 'codeowners', pattern: '*', line: 1, optional: false, approvals_required: 1 },
      paths: ['src/a.ts', 'src/own.md', 'README.md'],
    },
    {
      ...{ section: 'Shared', pattern: '/src/', line: 3, optional: false, approvals_required: 2 },
      paths: ['src/a.ts', 'src/own.md'],
    },
    {
      ...{ section: 'Roles', pattern: '*.md', line: 5, optional: true, approvals_required: 1 },
      paths: ['README.md'],
    },
  ])
  // Those who may not approve own nothing: a guest, a stranger, nobody.
  expect(ids(rows[0]!)).toEqual([developer.id])
  expect(ids(rows[1]!).sort()).toEqual([developer.id, insider.id].sort())
  expect(ids(rows[2]!).sort()).toEqual([maintainer.id, groupOwner.id].sort())
  expect((await developer.get(`${base}?paths=README.md`)).status).toBe(404)
})

test('what is wrong with the file, of which the first one counts', async () => {
  await write('wrong', '.gitlab/CODEOWNERS', '* @late')
  await write('both', 'CODEOWNERS', '# first\n[Open\n*.md\n')
  expect((await developer.get(`${base}/errors?ref=wrong`)).body).toMatchObject({
    path: '.gitlab/CODEOWNERS',
    errors: [],
  })
  expect((await developer.get(`${base}/errors?ref=both`)).body).toEqual({
    path: 'CODEOWNERS',
    commit_id: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
    errors: [
      {
        ...{ code: 'invalid_section_format', line: 2, source: '[Open' },
        message: 'The heading of a section has no closing bracket.',
      },
      { code: 'missing_entry_owner', line: 2, source: '[Open', message: 'The pattern has no owners.' },
      { code: 'missing_entry_owner', line: 3, source: '*.md', message: 'The pattern has no owners.' },
    ],
  })
  expect((await developer.get(`${base}/errors`)).status).toBe(404)
  expect((await developer.get(`${base}/errors?ref=nothing`)).status).toBe(404)
})

test('pushes to owned files are for those who may push anyway, and for merge requests', async () => {
  await write('kept', 'CODEOWNERS', '/docs/ @root\n*.lock @root')
  const rules = `/projects/${project.id}/protected_branches`
  await maintainer.post(rules, { name: 'kept', code_owner_approval_required: true, merge_access_level: 30 })
  const copy = await copies.clone(project, maintainer, '--branch', 'kept')
  const before = await git(copy, 'rev-parse', 'HEAD')
  await copies.commit(copy, { 'docs/a.md': 'a', 'src/b.ts': 'b', 'deep/c.lock': 'c' })
  const owned = await git(copy, 'rev-parse', 'HEAD')
  await git(copy, 'checkout', '--quiet', before)
  const free = await copies.commit(copy, 'src/free.ts')
  await git(copy, 'push', '--quiet', 'origin', `${owned}:refs/heads/one`, `${free}:refs/heads/two`)

  await using db = new Database({
    connection: { connectionString: world.databaseUrl },
    log: createLogger('warn'),
  })
  await using program = await openGit({ durable: false })
  const places = new RepositoryPlaces(program, { default: path.join(world.directory, 'repositories') })
  const told = async (person: Person, newOid: string, via: 'git' | 'web' = 'git') => {
    const entered = (await enterAs<ProjectSubject>(db, projectKind, person.id, project.id))!
    const guard = codeOwnerGuard({ db }, { actor: entered.actor, project: entered.subject, via })
    const update = {
      ...{ ref: 'refs/heads/kept' as RefName, oldOid: before as Oid, newOid: newOid as Oid },
      ...{ isCreation: false, isDeletion: false },
    } as ProposedUpdate
    const objects = places.of(entered.subject)
    return (await guard.check({ updates: [update], objects, pushOptions: [] }))[0]?.message
  }
  expect(await told(developer, owned)).toBe(
    [
      'Pushes to protected branches that contain changes to files that match patterns defined in `CODEOWNERS` are disabled for this project. Please submit these changes via a merge request.',
      '',
      'The following pattern(s) from `CODEOWNERS` were matched:',
      '- /docs/',
      '- *.lock',
    ].join('\n'),
  )
  expect(await told(developer, free)).toBeUndefined()
  expect(await told(developer, owned, 'web')).toBeUndefined()
  expect(await told(maintainer, owned)).toBeUndefined()
  await git(copy, 'push', '--quiet', 'origin', `${owned}:refs/heads/kept`)
})
