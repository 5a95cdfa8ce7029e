import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { answerOf, bodyOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { newSshKey } from '../world/ssh-key.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/* Whom a rule of a protected branch may name, how its entries are changed, and what it may be called. */

let world: World
let copies: Copies
let project: Made
let base: string
let maintainer: Person
let other: Person
let developer: Person
let name: string

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate' })
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project.id}/protected_branches`
  maintainer = await world.member({ project }, 'maintainer')
  other = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})
beforeEach(() => {
  name = world.unique('branch')
})

const at = (branch: string) => `${base}/${encodeURIComponent(branch)}`
const protect = async (fields: Json) => expectStatus(await maintainer.post(base, { name, ...fields }), 201)
const levels = (body: Json, kind: string) => body[`${kind}_access_levels`] as Json[]
const refusal = (...message: string[]) => ({ status: 422, body: { message } })

const deployKey = async (by: Person, can_push: boolean): Promise<number> => {
  const fields = { title: 'ci writer', key: newSshKey().publicKey, can_push }
  return expectStatus(await by.post(`/projects/${project.id}/deploy_keys`, fields), 201)['id'] as number
}

describe('deploy keys', () => {
  test('push where they are named, and stand there with their title', async () => {
    const id = await deployKey(maintainer, true)
    const entry = {
      ...{ id: expect.any(Number) as number, access_level: 40, access_level_description: 'ci writer' },
      ...{ deploy_key_id: id, user_id: null, group_id: null },
    }
    const made = await protect({ allowed_to_push: [{ deploy_key_id: id }] })
    expect(levels(made, 'push')).toEqual([entry])
    expect(levels(made, 'merge')[0]).not.toHaveProperty('deploy_key_id')
    const twice = { allowed_to_push: [{ deploy_key_id: id }] }
    expect(await maintainer.patch(at(name), twice)).toMatchObject(
      refusal('Push access levels deploy key has already been taken'),
    )
    const next = await deployKey(maintainer, true)
    const change = { allowed_to_push: [{ id: levels(made, 'push')[0]!['id'], deploy_key_id: next }] }
    expect(levels(bodyOf(await maintainer.patch(at(name), change)), 'push')).toEqual([
      { ...entry, id: levels(made, 'push')[0]!['id'], deploy_key_id: next },
    ])
    expect((await maintainer.delete(`/projects/${project.id}/deploy_keys/${next}`)).status).toBe(204)
    expect(levels(bodyOf(await maintainer.get(at(name))), 'push')).toEqual([])
  })

  test('are of the project, may write, and their owners are members', async () => {
    const ask = (id: number, kind = 'push') =>
      maintainer.post(base, { name, [`allowed_to_${kind}`]: [{ deploy_key_id: id }] })
    const notEnabled = (kind = 'Push') =>
      refusal(`${kind} access levels deploy key is not enabled for this project`)
    expect(await ask(await deployKey(maintainer, false))).toMatchObject(notEnabled())
    const elsewhere = await world.project()
    const fields = { title: 'x', key: newSshKey().publicKey, can_push: true }
    const foreign = expectStatus(await world.root.post(`/projects/${elsewhere.id}/deploy_keys`, fields), 201)
    expect(await ask(foreign['id'] as number)).toMatchObject(notEnabled())
    const good = await deployKey(maintainer, true)
    for (const kind of ['merge', 'unprotect']) {
      expect((await ask(good, kind)).status).toBeGreaterThanOrEqual(400)
    }
    const leaver = await world.member({ project }, 'maintainer')
    const left = await deployKey(leaver, true)
    expect((await world.root.delete(`/projects/${project.id}/members/${leaver.id}`)).status).toBe(204)
    expect(await ask(left)).toMatchObject(
      refusal('Push access levels deploy key owner is not a project member'),
    )
    expect((await maintainer.get(at(name))).status).toBe(404)
  })
})

test('all that is wrong is told, each thing once', async () => {
  const stranger = await world.user()
  const foreign = await world.group()
  const wanted = {
    allowed_to_push: [
      { user_id: stranger.id },
      { user_id: (await world.user()).id },
      { group_id: foreign.id },
    ],
    allowed_to_merge: [{ user_id: 999_999_999 }],
  }
  expect(await maintainer.post(base, { name, ...wanted })).toMatchObject(
    refusal(
      'Push access levels user is not a member of the project',
      'Push access levels group does not have access to the project',
      "Merge access levels user can't be blank",
    ),
  )
  const same = { allowed_to_unprotect: [{ access_level: 40 }, { access_level: 40 }] }
  expect(await maintainer.post(base, { name, ...same })).toMatchObject(
    refusal('Unprotect access levels access level has already been taken'),
  )
})

describe('a change', () => {
  test('of every kind of entry at once, and of the rest', async () => {
    const made = await protect({ allowed_to_push: [{ user_id: developer.id }, { access_level: 40 }] })
    const [user, level] = levels(made, 'push')
    const [merging] = levels(made, 'merge')
    const { status, body } = await answerOf(
      maintainer.patch(at(name), {
        allowed_to_push: [{ access_level: 30 }, { id: level!['id'], _destroy: true, access_level: 60 }],
        allowed_to_merge: [{ id: merging!['id'], access_level: 0, _destroy: false }],
        allowed_to_unprotect: [{ user_id: other.id }],
        code_owner_approval_required: true,
      }),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      push_access_levels: [{ id: user!['id'], user_id: developer.id }, { access_level: 30 }],
      merge_access_levels: [{ id: merging!['id'], access_level: 0, access_level_description: 'No one' }],
      unprotect_access_levels: [{ access_level: 40 }, { access_level: null, user_id: other.id }],
      code_owner_approval_required: true,
      allow_force_push: false,
    })
    expect(levels(body, 'push')).toHaveLength(2)
    // A level may leave and come back in one change.
    const [, thirty] = levels(body, 'push')
    const again = [{ id: thirty!['id'], _destroy: true }, { access_level: 30 }]
    expect((await maintainer.patch(at(name), { allowed_to_push: again })).status).toBe(200)
  })

  test('is sent as a form too', async () => {
    const made = await protect({})
    const form = new URLSearchParams([
      ['allowed_to_push[][id]', String(levels(made, 'push')[0]!['id'])],
      ['allowed_to_push[][_destroy]', 'true'],
      ['allowed_to_push[][user_id]', String(developer.id)],
      ['allow_force_push', '1'],
    ])
    expect(bodyOf(await maintainer.request('PATCH', at(name), form))).toMatchObject({
      push_access_levels: [],
      allow_force_push: true,
    })
  })

  test('that is refused changes nothing', async () => {
    const made = await protect({})
    const wrong = {
      allow_force_push: true,
      allowed_to_push: [{ access_level: 30 }, { user_id: 999_999_999 }],
    }
    expect(await maintainer.patch(at(name), wrong)).toMatchObject(
      refusal("Push access levels user can't be blank"),
    )
    expect((await maintainer.get(at(name))).body).toEqual(made)
  })

  test('is for those whom the unprotect entries name, from the moment they are there', async () => {
    const made = await protect({ allowed_to_unprotect: [{ user_id: maintainer.id }] })
    for (const person of [other, world.root]) {
      expect((await person.patch(at(name), { allow_force_push: true })).status).toBe(403)
      expect((await person.delete(at(name))).status).toBe(403)
    }
    const id = levels(made, 'unprotect')[0]!['id']
    const handed = { allowed_to_unprotect: [{ id, user_id: other.id }] }
    expect((await maintainer.patch(at(name), handed)).status).toBe(200)
    expect((await maintainer.delete(at(name))).status).toBe(403)
    expect((await other.delete(at(name))).status).toBe(204)
  })
})

describe('names', () => {
  test.each([
    ['release/*', 'release%2F%2A'],
    ['release/1.x', 'release%2F1.x'],
    ['v1.0', 'v1.0'],
    ['*', '%2A'],
    ['with space', 'with%20space'],
    ['größe/100%', 'gr%C3%B6%C3%9Fe%2F100%25'],
  ])('%s is found by %s', async (text, encoded) => {
    expectStatus(await maintainer.post(base, { name: text }), 201)
    expect(bodyOf(await maintainer.get(`${base}/${encoded}`))['name']).toBe(text)
    const changed = await maintainer.patch(`${base}/${encoded}`, { allow_force_push: true })
    expect(changed).toMatchObject({ status: 200, body: { name: text, allow_force_push: true } })
    for (const person of [developer, maintainer]) {
      // Whether there is such a rule is looked at before the role.
      expect((await person.delete(`${base}/no${encoded}`)).status).toBe(404)
    }
    expect((await maintainer.delete(`${base}/${encoded}`)).status).toBe(204)
    expect((await maintainer.get(`${base}/${encoded}`)).status).toBe(404)
  })

  test('have an end, in rules of groups and of tags too', async () => {
    const group = await world.group()
    const places = [base, `/groups/${group.id}/protected_branches`, `/projects/${project.id}/protected_tags`]
    // Nothing that a database could press together.
    const long = randomBytes(10_000).toString('hex')
    for (const place of places) {
      for (const length of [256, 5_000, 20_000]) {
        expect(await world.root.post(place, { name: long.slice(0, length) })).toMatchObject(
          refusal('Name is too long (maximum is 255 characters)'),
        )
      }
      expectStatus(await world.root.post(place, { name: '€'.repeat(255) }), 201)
    }
  })

  test('that no branch may have are refused to pushes', async () => {
    const own = await world.project()
    const copy = await copies.filled(own)
    const oid = await git(copy, 'rev-parse', 'HEAD')
    const push = async (branch: string) =>
      (await copies.try(copy, ['push', 'origin', `${oid}:refs/heads/${branch}`])).stderr
    for (const branch of [oid, `${oid}/x`]) {
      expect(await push(branch)).toContain('You cannot create a branch with a SHA-1 or SHA-256 branch name.')
    }
    for (const branch of ['HEAD', 'refs/heads/x', 'refs/remotes/origin/x']) {
      expect(await push(branch)).toContain('You cannot create a branch with an invalid name.')
    }
    expect(await push(`${oid}x`)).not.toContain('rejected')
  })

  test('stay when another branch becomes the default one', async () => {
    const own = await world.project()
    const copy = await copies.filled(own)
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:next')
    expectStatus(await world.root.put(`/projects/${own.id}`, { default_branch: 'next' }), 200)
    const rules = (await world.root.get(`/projects/${own.id}/protected_branches`)).body as Json[]
    expect(rules.map((rule) => rule['name'] as string)).toEqual(['main'])
  })
})
