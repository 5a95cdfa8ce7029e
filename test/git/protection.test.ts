import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entryFor } from '../../src/access/index.ts'
import {
  protectionOf,
  refusal,
  type BranchRule,
  type Entry,
} from '../../src/areas/protected-branches/rules.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
let project: Json
let rules: string
let maintainer: Person
let developer: Person

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project()
  rules = `/projects/${project['id'] as number}/protected_branches`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  await copies.filled(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const words = {
  push: 'You are not allowed to push code to protected branches on this project.',
  force: 'You are not allowed to force push code to a protected branch on this project.',
}

describe('the protected default branch', () => {
  test('a developer is told why not, a maintainer passes', async () => {
    const copy = await copies.clone(project, developer)
    await copies.commit(copy, 'by-developer')
    const told = await copies.try(copy, ['push', 'origin', 'main'])
    expect(told.code).not.toBe(0)
    expect(told.stderr).toContain(`remote: Guildhall: ${words.push}`)
    expect(told.stderr).toContain('! [remote rejected] main -> main (pre-receive hook declined)')
    await git(copy, 'push', '--quiet', copies.url(project, maintainer), 'main')
  })

  test('a force push is refused to both until it is allowed', async () => {
    const copy = await copies.clone(project, maintainer)
    await git(copy, 'commit', '--quiet', '--amend', '-m', 'Rewritten')
    const push = (person: Person) =>
      copies.try(copy, ['push', '--force', copies.url(project, person), 'main'])
    for (const person of [developer, maintainer]) {
      expect((await push(person)).stderr).toContain(`remote: Guildhall: ${words.force}`)
    }
    await maintainer.patch(`${rules}/main`, { allow_force_push: true })
    expect((await push(developer)).stderr).toContain(`remote: Guildhall: ${words.push}`)
    expect(await push(maintainer)).toMatchObject({ code: 0 })
    await maintainer.patch(`${rules}/main`, { allow_force_push: false })
  })

  test('nobody deletes it', async () => {
    const copy = await copies.clone(project, maintainer)
    for (const person of [maintainer, world.root]) {
      const told = await copies.try(copy, ['push', '--delete', copies.url(project, person), 'main'])
      expect(told.stderr).toContain('remote: Guildhall: The default branch of a project cannot be deleted.')
    }
  })
})

test('a rule holds from the next push on, for branches made later too', async () => {
  const copy = await copies.clone(project, developer)
  const push = (branch: string) => copies.try(copy, ['push', 'origin', `HEAD:${branch}`])
  expect((await push('release/1')).code).toBe(0)
  await maintainer.post(rules, { name: 'release/*' })
  await copies.commit(copy, 'late')
  expect((await push('release/1')).stderr).toContain(words.push)
  expect((await push('release/2')).stderr).toContain(
    'You are not allowed to create protected branches on this project.',
  )
  await maintainer.delete(`${rules}/release%2F*`)
  expect((await push('release/1')).code).toBe(0)
})

test('who may merge but not push makes a protected branch over the API only, from a protected one', async () => {
  await maintainer.post(rules, { name: 'based/*', merge_access_level: 30 })
  const copy = await copies.clone(project, developer)
  const from = (branch: string) => copies.try(copy, ['push', 'origin', `HEAD:${branch}`])
  expect((await from('based/1')).stderr).toContain(
    'You can only create protected branches using the web interface and API.',
  )
  const branches = `/projects/${project['id'] as number}/repository/branches`
  expect((await developer.post(branches, { branch: 'based/1', ref: 'main' })).status).toBe(201)
  await copies.commit(copy, 'foreign')
  expect((await from('based/2')).stderr).toContain(
    'You can only use an existing protected branch ref as the basis of a new protected branch.',
  )
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:foreign')
  expect(await developer.post(branches, { branch: 'based/2', ref: 'foreign' })).toMatchObject({
    status: 400,
    body: {
      message: 'You can only use an existing protected branch ref as the basis of a new protected branch.',
    },
  })
})

test('a protected branch is deleted by maintainers, over the API only', async () => {
  const copy = await copies.clone(project, maintainer)
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:doomed')
  await maintainer.post(rules, { name: 'doomed', push_access_level: 30 })
  const over = (person: Person) =>
    copies.try(copy, ['push', '--delete', copies.url(project, person), 'doomed'])
  expect((await over(developer)).stderr).toContain(
    'Only a project maintainer or owner can delete a protected branch.',
  )
  expect((await over(maintainer)).stderr).toContain(
    'You can only delete protected branches using the web interface.',
  )
  const branch = `/projects/${project['id'] as number}/repository/branches/doomed`
  expect((await developer.delete(branch)).status).toBe(400)
  expect((await maintainer.delete(branch)).status).toBe(204)
})

test('one user is let in by name, as long as he may push at all', async () => {
  await maintainer.post(rules, { name: 'personal', allowed_to_push: [{ user_id: developer.id }] })
  const other = await world.member({ project }, 'developer')
  const copy = await copies.clone(project, developer)
  const push = (person: Person) => copies.try(copy, ['push', copies.url(project, person), 'HEAD:personal'])
  expect((await push(other)).code).not.toBe(0)
  expect((await push(developer)).code).toBe(0)
  const member = `/projects/${project['id'] as number}/members/${developer.id}`
  await world.root.put(member, { access_level: 20 })
  await copies.commit(copy, 'later')
  expect((await push(developer)).stderr).toContain('403')
  await world.root.put(member, { access_level: 30 })
})

/** The real client against the pure rule. */
describe('any rules, any actor, any update', () => {
  const levels = [0, 30, 40, 60] as const
  const anyRule = fc.record({
    name: fc.constantFrom('any/one', 'any/*', 'any/o*e', '*/one', 'any/two'),
    allow_force_push: fc.boolean(),
    push: fc.uniqueArray(fc.constantFrom(...levels), { minLength: 1, maxLength: 2 }),
    merge: fc.uniqueArray(fc.constantFrom(...levels), { minLength: 1, maxLength: 2 }),
  })
  const anyCase = fc.record({
    rules: fc.uniqueArray(anyRule, { selector: ({ name }) => name, maxLength: 3 }),
    actor: fc.constantFrom('developer', 'maintainer', 'administrator'),
    change: fc.constantFrom('create', 'forward', 'back', 'aside', 'delete'),
  })
  const rank = { developer: 30, maintainer: 40, administrator: 60 } as const

  test('has the same verdict', { timeout: 120_000 }, async () => {
    const copy = await copies.clone(project, world.root)
    const base = await git(copy, 'rev-parse', 'HEAD')
    const middle = await copies.commit(copy, 'middle')
    const top = await copies.commit(copy, 'top')
    await git(copy, 'checkout', '--quiet', base)
    const aside = await copies.commit(copy, 'aside')
    const targets = { create: middle, forward: top, back: base, aside, delete: '' } as const
    const people = { developer, maintainer, administrator: world.root }
    const branch = 'any/one'

    await fc.assert(
      fc.asyncProperty(anyCase, async ({ rules: wanted, actor, change }) => {
        for (const { name } of wanted) await world.root.delete(`${rules}/${encodeURIComponent(name)}`)
        const exists = (await git(copy, 'ls-remote', 'origin', branch)) !== ''
        if (change === 'create' && exists) await git(copy, 'push', '--quiet', '--delete', 'origin', branch)
        if (change !== 'create')
          await git(copy, 'push', '--quiet', '--force', 'origin', `${middle}:refs/heads/${branch}`)
        for (const { name, allow_force_push, push, merge } of wanted) {
          const entries = (list: readonly number[]) => list.map((access_level) => ({ access_level }))
          const made = await world.root.post(rules, {
            ...{ name, allow_force_push, allowed_to_push: entries(push), allowed_to_merge: entries(merge) },
          })
          expect(made.status).toBe(201)
        }

        const told = await copies.try(copy, [
          ...[
            'push',
            '--force',
            copies.url(project, people[actor]),
            `${targets[change]}:refs/heads/${branch}`,
          ],
        ])

        const protection = protectionOf(branch, wanted.map(asRule))
        const admitted = (list: readonly Entry[] = []) =>
          list.some(
            ({ accessLevel }) => accessLevel !== null && accessLevel > 0 && rank[actor] >= accessLevel,
          )
        const mayPush = admitted(protection?.push)
        const expected = await refusal({
          branch,
          kind: change === 'create' ? 'create' : change === 'delete' ? 'delete' : 'update',
          isDefault: false,
          isForced: () => Promise.resolve(change === 'back' || change === 'aside'),
          onProtectedBranch: () => Promise.resolve(false),

          isMergeResult: () => Promise.resolve(false),
          via: 'git',
          protection,
          may: {
            push: mayPush,
            merge: mayPush || admitted(protection?.merge),
            deleteProtected: actor !== 'developer',
          },
        })
        for (const { name } of wanted) await world.root.delete(`${rules}/${encodeURIComponent(name)}`)
        expect({ code: told.code, stderr: told.stderr }).toEqual(
          expected === undefined
            ? { code: 0, stderr: expect.any(String) as string }
            : { code: 1, stderr: expect.stringContaining(`remote: Guildhall: ${expected}`) as string },
        )
      }),
      { numRuns: 40 },
    )
  })

  function asRule({
    name,
    allow_force_push,
    push,
    merge,
  }: {
    name: string
    allow_force_push: boolean
    push: readonly number[]
    merge: readonly number[]
  }): BranchRule {
    const entries = (action: Entry['action'], list: readonly number[]) =>
      list.map((accessLevel, id): Entry => ({ id, action, ...entryFor({ accessLevel }) }))
    return {
      id: 0,
      name,
      inherited: false,
      allowForcePush: allow_force_push,
      codeOwnerApprovalRequired: false,
      entries: [...entries('push', push), ...entries('merge', merge)],
    }
  }
})
