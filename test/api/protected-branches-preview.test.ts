import { afterAll, beforeAll, expect, test } from 'vitest'
import { pushFiles } from '../world/push.ts'
import type { Person } from '../world/client.ts'
import { bodyOf } from '../world/bodies.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let base: string
let maintainer: Person
let developer: Person
let reporter: Person

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate' })
  project = await world.project()
  base = `/projects/${project.id}/protected_branches`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  reporter = await world.member({ project }, 'reporter')
  await pushFiles(world, project, { 'README.md': 'x' })
})
afterAll(() => world[Symbol.asyncDispose]())

async function preview(ref: string, of: Person, asker: Person = of): Promise<Json> {
  const user = of === asker ? '' : `&user_id=${of.id}`
  return bodyOf(await asker.get(`${base}/preview?ref=${encodeURIComponent(ref)}${user}`))
}

test('the default branch', async () => {
  const rule = bodyOf(await maintainer.get(`${base}/main`))
  const entry = (kind: string) => ({
    rule_id: rule['id'] as number,
    rule_name: 'main',
    entry: (rule[`${kind}_access_levels`] as Json[])[0],
  })
  expect(await preview('main', maintainer)).toEqual({
    ref: 'main',
    user_id: maintainer.id,
    exists: true,
    default: true,
    protected: true,
    push: {
      allowed: true,
      because: 'rule main: Maintainers',
      by: entry('push'),
      everybody: [entry('push')],
    },
    merge: {
      allowed: true,
      because: 'rule main: Maintainers',
      by: entry('push'),
      everybody: [entry('push'), entry('merge')],
    },
    force_push: {
      allowed: false,
      because: 'You are not allowed to force push code to a protected branch on this project.',
      by: null,
      everybody: [],
    },
    delete: {
      allowed: false,
      because: 'The default branch of a project cannot be deleted.',
      by: null,
      everybody: [],
    },
    unprotect: {
      allowed: true,
      because: 'no rule decides: the role in the project does',
      by: null,
      everybody: [],
    },
    code_owner_approval_required: false,
    rules: [rule],
  })
  const seen = await preview('main', developer, maintainer)
  expect(seen).toEqual(await preview('main', developer))
  expect(seen).toMatchObject({
    push: {
      allowed: false,
      because: 'You are not allowed to push code to protected branches on this project.',
      by: null,
    },
    merge: { allowed: false },
    unprotect: { allowed: false, because: '403 Forbidden' },
  })
})

test('a branch that is to come, by several rules', async () => {
  const named = { user_id: developer.id }
  await maintainer.post(base, { name: 'rel/*', push_access_level: 0, allow_force_push: true })
  await maintainer.post(base, {
    ...{ name: 'rel/1', allowed_to_push: [named], allowed_to_unprotect: [{ user_id: maintainer.id }] },
  })
  const seen = await preview('rel/1', developer)
  expect(seen).toMatchObject({
    exists: false,
    protected: true,
    push: { allowed: true, because: `rule rel/1: Name of ${developer.username}`, by: { rule_name: 'rel/1' } },
    force_push: { allowed: true },
    merge: { allowed: true },
    delete: { allowed: false },
    rules: [{ name: 'rel/*' }, { name: 'rel/1' }],
  })
  // Level 0 lets nobody in, so it is nobody who may.
  expect(seen['push']['everybody']).toHaveLength(1)
  expect((await preview('rel/1', maintainer))['push']).toMatchObject({
    allowed: false,
    because: 'You can only create protected branches using the web interface and API.',
  })
  expect((await preview('rel/1', maintainer))['unprotect']).toMatchObject({
    allowed: true,
    by: { rule_name: 'rel/*' },
  })
  expect((await preview('rel/1', world.root))['unprotect']).toMatchObject({ allowed: false })
})

test('an unprotected branch is for those who may push code', async () => {
  expect(await preview('free', developer)).toMatchObject({
    protected: false,
    push: { allowed: true, because: 'no rule decides: the role in the project does' },
    force_push: { allowed: true },
    delete: { allowed: true },
    unprotect: { allowed: false, because: 'The branch is not protected.' },
    rules: [],
  })
  expect((await preview('free', reporter))['push']).toMatchObject({
    allowed: false,
    because: 'You are not allowed to push code to this project.',
  })
})

test('what cannot be asked', async () => {
  expect((await developer.get(`${base}/preview?ref=main&user_id=${maintainer.id}`)).status).toBe(403)
  expect(await maintainer.get(`${base}/preview?ref=main&user_id=999999`)).toMatchObject({ status: 404 })
  expect((await maintainer.get(`${base}/preview?ref=a..b`)).status).toBe(400)
  // A rule of this name is found as ever.
  expect((await maintainer.get(`${base}/preview`)).status).toBe(404)
  await maintainer.post(base, { name: 'preview' })
  expect((await maintainer.get(`${base}/preview`)).body).toMatchObject({ name: 'preview' })
})
