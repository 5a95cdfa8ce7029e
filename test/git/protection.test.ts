import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

  test('is protected anew by DELETE and POST, and no push slips through in between', async () => {
    const copy = await copies.clone(project, developer)
    await copies.commit(copy, 'in-between')
    const push = () => copies.try(copy, ['push', 'origin', 'main'])
    const write = () =>
      developer.post(`/projects/${project['id'] as number}/repository/files/${world.unique('file')}`, {
        ...{ branch: 'main', commit_message: 'x', content: 'x' },
      })
    expect((await maintainer.delete(`${rules}/main`)).status).toBe(204)
    // So that it is not over while the machine is busy.
    await sql`update default_branch_pauses set until = now() + interval '1 minute'`.execute(
      world.service.services.db.writer,
    )
    const inBetween = Promise.all([push(), write()])
    // Long enough for what does not wait to be through.
    await Promise.race([inBetween, sleep(500)])
    expect((await maintainer.post(rules, { name: 'main' })).status).toBe(201)
    const [pushed, written] = await inBetween
    expect(pushed.stderr).toContain(words.push)
    // Refused at the door, or before it where it came late.
    expect([400, 403]).toContain(written.status)

    // Where nothing follows the branch is open, to pushes that waited too.
    expect((await maintainer.delete(`${rules}/main`)).status).toBe(204)
    expect((await push()).code).toBe(0)
    expect((await maintainer.post(rules, { name: 'main' })).status).toBe(201)
    expect((await write()).status).toBe(403)
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
