// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

/* Whoever may merge a request from a fork may push to its branch, where its author lets him: to that branch, so long. */

let world: World
let copies: Copies
let at: MergeProject
let author: Person
let fork: Json
let copy: string

const path = () => `/projects/${fork['id'] as number}`
const mayNot = 'You are not allowed to push code to this project.'

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  at = await new MergeProjects(world).make({ visibility: 'public' })
  author = await world.user()
  fork = expectStatus(await author.post(`${at.base}/fork`, {}), 201)
  copy = await copies.clone(fork, author)
  for (const branch of ['work', 'other']) {
    await copies.commit(copy, branch)
    await git(copy, 'push', '--quiet', 'origin', `HEAD:${branch}`)
  }
  for (const [branch, allow_collaboration] of [
    ['work', true],
    ['other', false],
  ] as const) {
    const fields = { source_branch: branch, target_branch: 'main', title: branch, target_project_id: at.id }
    expectStatus(await author.post(`${path()}/merge_requests`, { ...fields, allow_collaboration }), 201)
  }
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const push = (who: Person, ...refs: string[]) => copies.try(copy, ['push', copies.url(fork, who), ...refs])

describe('a branch of a fork', () => {
  test('is pushed to by who may merge it, over HTTP, SSH and the API', async () => {
    await copies.commit(copy, 'by-maintainer')
    expect(await push(at.maintainer, 'HEAD:work')).toMatchObject({ code: 0 })
    const command = await sshLogin(world, copies, async (key) =>
      expectStatus(await at.maintainer.post('/user/keys', { title: 'key', key }), 201),
    )
    await copies.commit(copy, 'over-ssh')
    const address = sshAddress(world, fork['path_with_namespace'] as string)
    const told = await copies.try(copy, ['push', address, 'HEAD:work'], { GIT_SSH_COMMAND: command })
    expect(told).toMatchObject({ code: 0 })
    const file = { branch: 'work', commit_message: 'x', content: 'x' }
    expectStatus(await at.maintainer.post(`${path()}/repository/files/over-api`, file), 201)
    await git(copy, 'pull', '--quiet', '--ff-only', 'origin', 'work')
    await eventually(
      async () =>
        expectStatus(await author.get(at.one(1)), 200)['sha'] === (await git(copy, 'rev-parse', 'HEAD')),
    )
  })

  test('is closed to others, and so is the rest of the fork', async () => {
    await copies.commit(copy, 'next')
    const stranger = await world.user()
    // A Developer may not merge into the protected branch of the parent.
    for (const who of [stranger, at.developer])
      expect((await push(who, 'HEAD:work')).stderr).toContain(mayNot)
    for (const refs of [
      ['HEAD:other'],
      ['HEAD:new'],
      [':work'],
      ['HEAD:refs/tags/v1'],
      ['HEAD:work', 'HEAD:other'],
    ]) {
      expect((await push(at.maintainer, ...refs)).stderr, refs.join(' ')).toContain(mayNot)
    }
    const file = { branch: 'other', commit_message: 'x', content: 'x' }
    expect((await at.maintainer.post(`${path()}/repository/files/a`, file)).status).toBe(403)
    expect((await at.maintainer.post(`${path()}/repository/branches?branch=b&ref=work`)).status).toBe(403)
  })

  test('is rebased by who may merge it, not by others', async () => {
    await at.commit('main', { 'ahead.txt': 'ahead\n' })
    const refusal = { message: '403 Forbidden - Cannot push to source branch' }
    for (const [who, iid] of [
      [at.developer, 1],
      [at.maintainer, 2],
    ] as const) {
      expect(await who.put(`${at.one(iid)}/rebase`)).toMatchObject({ status: 403, body: refusal })
    }
    expectStatus(await at.maintainer.put(`${at.one(1)}/rebase`), 202)
    await eventually(async () => {
      const one = expectStatus(
        await author.get(`${at.one(1)}?include_rebase_in_progress=1&include_diverged_commits_count=1`),
        200,
      )
      expect(one['merge_error']).toBeNull()
      return one['rebase_in_progress'] === false && one['diverged_commits_count'] === 0
    })
  })

  test('is closed where a rule protects it, and once the author or the end of the request says so', async () => {
    await git(copy, 'fetch', '--quiet', 'origin')
    await git(copy, 'reset', '--quiet', '--hard', 'origin/work')
    await copies.commit(copy, 'last')
    expectStatus(await author.post(`${path()}/protected_branches`, { name: 'work' }), 201)
    expect((await push(at.maintainer, 'HEAD:work')).code).not.toBe(0)
    expect((await author.put(`${at.one(1)}/rebase`)).body).toEqual({
      message: '403 Forbidden - Source branch is protected from force push',
    })
    expect((await author.delete(`${path()}/protected_branches/work`)).status).toBe(204)
    expectStatus(await author.put(at.one(1), { allow_collaboration: false }), 200)
    expect((await push(at.maintainer, 'HEAD:work')).stderr).toContain(mayNot)
    expectStatus(await author.put(at.one(1), { allow_collaboration: true }), 200)
    expect((await push(at.maintainer, 'HEAD:work')).code).toBe(0)
    expectStatus(await author.put(at.one(1), { state_event: 'close' }), 200)
    await copies.commit(copy, 'late')
    expect((await push(at.maintainer, 'HEAD:work')).stderr).toContain(mayNot)
    expect((await author.put(`${at.one(1)}/rebase`)).status).toBe(405)
  })
})
