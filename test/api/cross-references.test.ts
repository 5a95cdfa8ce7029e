// @module-tag long
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
let developer: Person
let guest: Person
let path: string

beforeAll(async () => {
  world = await startWorld()
  group = await world.group({ visibility: 'public' })
  project = await world.project({ namespace_id: group.id, visibility: 'public' })
  developer = await world.member({ group }, 'maintainer')
  guest = await world.user()
  path = `/projects/${project.id}`
  await pushFiles(world, project, { 'a.txt': 'a' })
})
afterAll(() => world[Symbol.asyncDispose]())

const make = async (where: string, fields: Json, by: Person = developer): Promise<Json> =>
  expectStatus(await by.post(where, fields), 201)
const issue = (fields: Json = {}, where = path): Promise<Json> =>
  make(`${where}/issues`, { title: world.unique('issue'), ...fields })
const at = ({ iid, project_id }: Json): string => `/projects/${project_id as number}/issues/${iid as number}`

/** What the service wrote on an issue. */
const told = async (of: Json, by: Person = developer): Promise<string[]> =>
  rowsOf(await by.get(`${at(of)}/notes?sort=asc&activity_filter=only_activity`)).map(
    ({ body }) => body as string,
  )
const eventually = (check: () => Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 })

let files = 0
const commit = async (message: string, branch = 'main', by: Person = developer): Promise<string> => {
  files += 1
  const made = await make(
    `${path}/repository/commits`,
    {
      branch,
      ...(branch !== 'main' && { start_branch: 'main' }),
      commit_message: message,
      actions: [{ action: 'create', file_path: `f${files}`, content: 'x' }],
    },
    by,
  )
  return made['id'] as string
}

describe('what names an issue is told on it', () => {
  test('once of each: issues, merge requests, commits and comments, here and elsewhere', async () => {
    const target = await issue()
    const name = `#${target['iid'] as number}`
    const by = await issue({ description: `See ${name}, and ${name} again. \`not #1\`` })
    await make(`${at(by)}/notes`, { body: `Once more ${name}` })
    await make(`${at(target)}/notes`, { body: `About itself: ${name}` })
    const sha = await commit(`Work on ${name}`, 'topic')
    const request = await make(`${path}/merge_requests`, {
      title: `Work on ${name}`,
      source_branch: 'topic',
      target_branch: 'main',
    })
    const other = await world.project({ namespace_id: group.id, visibility: 'public' })
    const far = await issue({ title: `${project.path}${name}` }, `/projects/${other.id}`)
    await eventually(async () =>
      expect((await told(target)).toSorted()).toEqual([
        `mentioned in commit ${sha.slice(0, 8)}`,
        `mentioned in issue #${by['iid'] as number}`,
        `mentioned in issue ${other.path_with_namespace}#${far['iid'] as number}`,
        `mentioned in merge request !${request['iid'] as number}`,
      ]),
    )
    expect(rowsOf(await developer.get(`${at(target)}/related_merge_requests`))).toMatchObject([
      { id: request['id'] },
    ])
  })

  test('only to those who may read what names it', async () => {
    const target = await issue()
    const name = `#${target['iid'] as number}`
    const secret = await issue({ description: name, confidential: true })
    const hidden = await world.project({ namespace_id: group.id, visibility: 'private' })
    const away = await issue({ title: `${project.path_with_namespace}${name}` }, `/projects/${hidden.id}`)
    // Who cannot see an issue does not make it tell of him either.
    const shown = await issue({ description: name })
    await make(`${at(shown)}/notes`, { body: `#${secret['iid'] as number}` }, guest)
    await make(`${at(shown)}/notes`, { body: `#${secret['iid'] as number} inside`, internal: true })
    const open = `mentioned in issue #${shown['iid'] as number}`
    await eventually(async () =>
      expect(await told(target)).toEqual(
        expect.arrayContaining([
          `mentioned in issue #${secret['iid'] as number}`,
          `mentioned in issue ${hidden.path_with_namespace}#${away['iid'] as number}`,
          open,
        ]),
      ),
    )
    expect(await told(target, guest)).toEqual([open])
    expect((await guest.get(`${at(target)}/discussions`)).headers.get('x-total')).toBe('1')
    await make(`${at(shown)}/notes`, { body: `#${secret['iid'] as number}` })
    await eventually(async () => expect(await told(secret)).toEqual([open]))
  })

  test('not when the code that names it is closed to the reader', async () => {
    const target = await issue()
    const closed = await world.project({ namespace_id: group.id, visibility: 'private' })
    await pushFiles(world, closed, { 'a.txt': 'a' })
    const fields = {
      branch: 'main',
      commit_message: `${project.path_with_namespace}#${target['iid'] as number}`,
    }
    await make(`/projects/${closed.id}/repository/commits`, {
      ...fields,
      actions: [{ action: 'create', file_path: 'x', content: 'x' }],
    })
    const member = await world.member({ project: closed }, 'guest')
    await eventually(async () => expect(await told(target)).toHaveLength(1))
    expect(await told(target, member)).toEqual([])
  })
})

describe('commits on the default branch', () => {
  const state = async (of: Json): Promise<unknown> => ((await developer.get(at(of))).body as Json)['state']

  test('close the issues that they say they close', async () => {
    const [first, second, named, inBranch] = [await issue(), await issue(), await issue(), await issue()]
    const number = ({ iid }: Json): string => `#${iid as number}`
    await commit(`Fixes ${number(inBranch)}`, 'elsewhere')
    const sha = await commit(`Done\n\nCloses ${number(first)} and ${number(second)}, see ${number(named)}`)
    await eventually(async () => {
      expect([await state(first), await state(second)]).toEqual(['closed', 'closed'])
      expect(await told(named)).toEqual([`mentioned in commit ${sha.slice(0, 8)}`])
    })
    expect([await state(named), await state(inBranch)]).toEqual(['opened', 'opened'])
    expect((await developer.get(at(first))).body).toMatchObject({ closed_by: { id: developer.id } })
    expect(rowsOf(await developer.get(`${at(first)}/resource_state_events`))).toMatchObject([
      { state: 'closed', source_commit: sha, user: { id: developer.id } },
    ])
  })

  test('close nothing where the project does not let them', async () => {
    const [kept, probe] = [await issue(), await issue()]
    expectStatus(await world.root.put(path, { autoclose_referenced_issues: false }), 200)
    await commit(`Closes #${kept['iid'] as number}, see #${probe['iid'] as number}`)
    await eventually(async () => expect(await told(probe)).toHaveLength(1))
    expect(await state(kept)).toBe('opened')
    expectStatus(await world.root.put(path, { autoclose_referenced_issues: true }), 200)
    await commit(`Closes #${kept['iid'] as number}`)
    await eventually(async () => expect(await state(kept)).toBe('closed'))
  })

  test('close nothing that who pushes may not change', async () => {
    const foreign = await world.project({ visibility: 'public' })
    const theirs = expectStatus(await world.root.post(`/projects/${foreign.id}/issues`, { title: 'x' }), 201)
    const name = `${foreign.path_with_namespace}#${theirs['iid'] as number}`
    await commit(`Closes ${name}`)
    await eventually(async () => expect(await told(theirs, world.root)).toHaveLength(1))
    expect(await state(theirs)).toBe('opened')
  })
})

test('a merge request hears where its changes are picked to, once', async () => {
  await make(`${path}/repository/branches`, { branch: 'stable/1', ref: 'main' })
  await commit('A fix', 'fix')
  const { iid } = await make(`${path}/merge_requests`, {
    title: 'Fix',
    source_branch: 'fix',
    target_branch: 'main',
  })
  const request = `${path}/merge_requests/${iid as number}`
  let merged: Json = {}
  await eventually(async () => {
    merged = expectStatus(await developer.put(`${request}/merge`, {}), 200)
  })
  const sha = merged['merge_commit_sha'] as string
  const picked = await make(`${path}/repository/commits/${sha}/cherry_pick`, { branch: 'stable/1' })
  const notes = async () =>
    rowsOf(await developer.get(`${request}/notes?activity_filter=only_activity`)).map(
      ({ body }) => body as string,
    )
  const tree = `${world.url}/${project.path_with_namespace}/-/tree/stable/1`
  const body = `picked the changes into the branch [\`stable/1\`](${tree}) with commit ${picked['id'] as string}`
  await eventually(async () => expect(await notes()).toContain(body))
  // The same commit comes to another branch.
  await make(`${path}/repository/branches`, { branch: 'stable/2', ref: 'stable/1' })
  const later = await issue()
  await commit(`See #${later['iid'] as number}`, 'later')
  await eventually(async () => expect(await told(later)).toHaveLength(1))
  expect((await notes()).filter((one) => one.startsWith('picked'))).toEqual([body])
})
