// @module-tag long
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { sshAddress, sshLogin } from '../git/ssh-login.ts'
import { during } from '../settings/effects.ts'
import { answerOf, bodyOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let copies: Copies
let project: Made
let path: string
let maintainer: Person
let copy: string

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate', SSH_PORT: '0' })
  copies = await Copies.open(world)
  project = await world.project()
  path = `/projects/${project.id}/push_rule`
  maintainer = await world.member({ project }, 'maintainer')
  await copies.filled(project, maintainer)
  copy = await copies.clone(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe('the rule of a project', () => {
  test('is made once, changed and removed', async () => {
    expect(await maintainer.get(path)).toMatchObject({ status: 200, body: null })
    expect(await maintainer.put(path, { max_file_size: 5 })).toMatchObject({
      status: 404,
      body: { message: '404 Push Rule Not Found' },
    })
    const made = await answerOf(maintainer.post(path, { branch_name_regex: '^x', max_file_size: 5 }))
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.any(Number) as number,
      project_id: project.id,
      commit_message_regex: '',
      commit_message_negative_regex: '',
      branch_name_regex: '^x',
      deny_delete_tag: false,
      created_at: expect.any(String) as string,
      member_check: false,
      prevent_secrets: false,
      author_email_regex: '',
      file_name_regex: '',
      max_file_size: 5,
      commit_committer_check: false,
      commit_committer_name_check: false,
      reject_unsigned_commits: false,
      reject_non_dco_commits: false,
    })
    expect(await maintainer.post(path, {})).toMatchObject({
      status: 422,
      body: { message: 'Project push rule exists' },
    })
    const changed = bodyOf(await maintainer.put(path, { branch_name_regex: null, deny_delete_tag: true }))
    expect(changed).toEqual({ ...made.body, branch_name_regex: '', deny_delete_tag: true })
    expect((await maintainer.get(path)).body).toEqual(changed)
    expect(await maintainer.put(path, { commit_message_regex: '(', max_file_size: -1 })).toMatchObject({
      status: 400,
      body: {
        message: {
          commit_message_regex: ['not valid RE2 syntax'],
          max_file_size: ['must be greater than or equal to 0'],
        },
      },
    })
    expect((await maintainer.delete(path)).status).toBe(204)
    expect((await maintainer.put(path, {})).status).toBe(404)
    expect((await maintainer.delete(path)).status).toBe(404)
  })

  test('is at first that of the nearest group', async () => {
    const top = await world.group()
    const inner = await world.group({ parent_id: top.id })
    const rule = `/groups/${top.id}/push_rule`
    const made = bodyOf(await world.root.post(rule, { commit_message_regex: 'T-\\d+', member_check: true }))
    expect(made).not.toHaveProperty('project_id')
    expect((await world.root.post(rule, {})).status).toBe(422)
    const below = await world.project({ namespace_id: inner.id })
    expect((await world.root.get(`/projects/${below.id}/push_rule`)).body).toMatchObject({
      commit_message_regex: 'T-\\d+',
      member_check: true,
      max_file_size: 0,
    })
    await world.root.post(`/groups/${inner.id}/push_rule`, { commit_message_regex: 'nearer' })
    const later = await world.project({ namespace_id: inner.id })
    expect((await world.root.get(`/projects/${later.id}/push_rule`)).body).toMatchObject({
      commit_message_regex: 'nearer',
      member_check: false,
    })
    expect((await world.root.delete(rule)).status).toBe(204)
  })

  test('of a fork is its own: that of the group it comes into, not that of its source', async () => {
    const source = await world.project()
    await copies.filled(source)
    const rule = `/projects/${source.id}/push_rule`
    expectStatus(await world.root.post(rule, { commit_message_regex: '^source' }), 201)
    const home = await world.group()
    const strict = { commit_message_regex: '^fork', file_name_regex: '\\.exe$' }
    expectStatus(await world.root.post(`/groups/${home.id}/push_rule`, strict), 201)
    const forkInto = async (namespace_id: number) =>
      expectStatus(
        await world.root.post(`/projects/${source.id}/fork`, {
          ...{ namespace_id, path: world.unique('fork'), name: world.unique('fork') },
        }),
        201,
      ) as Made
    const plain = await forkInto((await world.group()).id)
    expect((await world.root.get(`/projects/${plain.id}/push_rule`)).body).toBeNull()
    const fork = await forkInto(home.id)
    const ofFork = `/projects/${fork.id}/push_rule`
    expect((await world.root.get(ofFork)).body).toMatchObject({ ...strict, project_id: fork.id })

    const folder = await copies.clone(fork, world.root)
    await copies.commit(folder, 'a', 'source: a')
    expect((await copies.try(folder, ['push', 'origin', 'HEAD:one'])).stderr).toContain(
      "Commit message does not follow the pattern '^fork'",
    )
    expect((await copies.try(folder, ['push', copies.url(source, world.root), 'HEAD:one'])).code).toBe(0)
    await git(folder, 'commit', '--quiet', '--amend', '-m', 'fork: a')
    expect((await copies.try(folder, ['push', 'origin', 'HEAD:one'])).code).toBe(0)
    expect((await copies.try(folder, ['push', copies.url(source, world.root), 'HEAD:two'])).stderr).toContain(
      "Commit message does not follow the pattern '^source'",
    )
    // What the fork makes of it is its own affair.
    expectStatus(await world.root.put(ofFork, { commit_message_regex: null }), 200)
    expect((await world.root.get(rule)).body).toMatchObject({ commit_message_regex: '^source' })
    expect((await world.root.delete(ofFork)).status).toBe(204)
    expect((await world.root.get(rule)).status).toBe(200)
  })
})

describe('holds', () => {
  let branch: string
  beforeEach(async () => {
    branch = world.unique('branch')
    await git(copy, 'checkout', '--quiet', '-B', branch, 'origin/main')
  })

  const under = async (rule: Json, work: () => Promise<void>) => {
    expect((await maintainer.post(path, rule)).status).toBe(201)
    try {
      await work()
    } finally {
      await maintainer.delete(path)
    }
  }
  const push = (...what: string[]) => copies.try(copy, ['push', 'origin', ...what])
  const commitFile = (file_path: string, fields: Json = {}): Promise<Reply> =>
    maintainer.post(`/projects/${project.id}/repository/files/${encodeURIComponent(file_path)}`, {
      ...{ branch, start_branch: 'main', content: 'x', commit_message: 'Add', ...fields },
    })

  test('for messages, over git and the API', async () => {
    await under({ commit_message_regex: '^T-\\d+' }, async () => {
      const message = "Commit message does not follow the pattern '^T-\\d+'"
      await copies.commit(copy, 'a', 'No ticket')
      const told = await push(branch)
      expect(told.stderr).toContain(`remote: Guildhall: ${message}`)
      expect(told.stderr).toContain('(pre-receive hook declined)')
      expect(await commitFile('b')).toMatchObject({ status: 400, body: { message } })
      await git(copy, 'commit', '--quiet', '--amend', '-m', 'T-1 Add a')
      expect((await push(branch)).code).toBe(0)
      expect((await commitFile('b', { commit_message: 'T-2', start_branch: undefined })).status).toBe(201)
    })
  })

  test('over SSH, of users and of deploy keys', async () => {
    const user = await sshLogin(world, copies, async (key) =>
      expectStatus(await maintainer.post('/user/keys', { title: branch, key }), 201),
    )
    const deployKey = await sshLogin(world, copies, async (key) =>
      expectStatus(
        await world.root.post(`/projects/${project.id}/deploy_keys`, { title: branch, key, can_push: true }),
        201,
      ),
    )
    const address = sshAddress(world, project.path_with_namespace)
    await under({ commit_message_regex: '^T-', file_name_regex: '\\.exe$', max_file_size: 1 }, async () => {
      for (const [at, login] of [user, deployKey].entries()) {
        const over = (target: string) =>
          copies.try(copy, ['push', address, `HEAD:refs/heads/${target}`], { GIT_SSH_COMMAND: login })
        await git(copy, 'reset', '--quiet', '--hard', 'origin/main')
        const refused = async (files: Record<string, string>, message: string, words: string) => {
          await copies.commit(copy, files, message)
          const told = await over(branch)
          expect(told.code).not.toBe(0)
          expect(told.stderr).toContain(`remote: Guildhall: ${words}`)
          expect(told.stderr).toContain('(pre-receive hook declined)')
          await git(copy, 'reset', '--quiet', '--hard', 'origin/main')
        }
        await refused({ a: 'a' }, 'No ticket', "Commit message does not follow the pattern '^T-'")
        await refused({ 'a.exe': 'a' }, 'T-1', 'File name a.exe was prohibited by the pattern')
        const large = Buffer.alloc(1024 * 1024 + 1, 'a').toString()
        await refused({ large }, 'T-1', 'File large is larger than the allowed size of 1 MiB.')
        await copies.commit(copy, `fine-${at}`, 'T-1 Fine')
        expect((await over(`${branch}-${at}`)).code).toBe(0)
      }
    })
  })

  test('for commits of the API: each action, moves too, and nothing is done by half', async () => {
    const commits = `/projects/${project.id}/repository/commits`
    const commit = (actions: Json[], fields: Json = {}): Promise<Reply> =>
      maintainer.post(commits, { branch, start_branch: 'main', commit_message: 'T-1', actions, ...fields })
    const create = (file_path: string, content = 'x'): Json => ({ action: 'create', file_path, content })
    const rule = { commit_message_regex: '^T-', branch_name_regex: '^branch', prevent_secrets: true }
    await under({ ...rule, file_name_regex: '\\.exe$', max_file_size: 1 }, async () => {
      const refused = async (reply: Promise<Reply>, message: string) =>
        expect(await reply).toMatchObject({ status: 400, body: { message } })
      await refused(
        commit([create('a')], { commit_message: 'No ticket' }),
        "Commit message does not follow the pattern '^T-'",
      )
      await refused(
        commit([create('a')], { branch: `other-${branch}` }),
        `Branch name 'other-${branch}' does not follow the pattern '^branch'`,
      )
      const noPrograms = (name: string) => `File name ${name} was prohibited by the pattern "\\.exe$".`
      await refused(commit([create('a'), create('b.exe')]), noPrograms('b.exe'))
      await refused(
        commit([{ action: 'move', previous_path: 'README.md', file_path: 'README.exe' }]),
        noPrograms('README.exe'),
      )
      const large = 'a'.repeat(1024 * 1024 + 1)
      await refused(
        commit([create('large', large)]),
        'File large is larger than the allowed size of 1 MiB. Use Git LFS to manage this file.',
      )
      await refused(
        commit([{ action: 'update', file_path: 'README.md', content: large }]),
        'File README.md is larger than the allowed size of 1 MiB. Use Git LFS to manage this file.',
      )
      expect((await commit([create('.ssh/id_rsa')])).body).toMatchObject({
        message: expect.stringContaining('File name .ssh/id_rsa was prohibited') as string,
      })
      expect((await maintainer.get(`${commits}/${branch}`)).status).toBe(404)
      expect((await commit([create('a')])).status).toBe(201)
      // A revert and a cherry-pick bring messages of their own.
      const head = bodyOf(await maintainer.get(`${commits}/${branch}`))['id'] as string
      await refused(
        maintainer.post(`${commits}/${head}/revert`, { branch }),
        "Commit message does not follow the pattern '^T-'",
      )
    })
  })

  test('for names of branches, whoever makes them', async () => {
    await under({ branch_name_regex: '^fix/' }, async () => {
      const message = `Branch name '${branch}' does not follow the pattern '^fix/'`
      expect((await push(branch)).stderr).toContain(message)
      const branches = `/projects/${project.id}/repository/branches`
      expect(await maintainer.post(branches, { branch, ref: 'main' })).toMatchObject({
        status: 400,
        body: { message },
      })
      expect((await maintainer.post(branches, { branch: `fix/${branch}`, ref: 'main' })).status).toBe(201)
      await copies.commit(copy, { 'README.md': branch })
      expect((await push('HEAD:main')).code).toBe(0)
      await git(copy, 'fetch', '--quiet', 'origin')
    })
  })

  test('for files: secrets, names and sizes, of commits that are gone again too', async () => {
    await under({ prevent_secrets: true, file_name_regex: '\\.exe$', max_file_size: 1 }, async () => {
      await copies.commit(copy, { 'deep/id_rsa': 'secret' })
      await git(copy, 'rm', '--quiet', 'deep/id_rsa')
      await copies.commit(copy, 'more')
      expect((await push(branch)).stderr).toContain('File name deep/id_rsa was prohibited')
      expect((await commitFile('tool.exe')).body).toMatchObject({
        message: 'File name tool.exe was prohibited by the pattern "\\.exe$".',
      })
      const content = Buffer.alloc(1024 * 1024 + 1, 'a').toString()
      expect((await commitFile('large', { content })).body).toMatchObject({
        message: 'File large is larger than the allowed size of 1 MiB. Use Git LFS to manage this file.',
      })
      expect((await commitFile('small')).status).toBe(201)
    })
  })

  test('for people', async () => {
    const email = bodyOf(await maintainer.get('/user'))['email'] as string
    await under({ commit_committer_check: true, member_check: true }, async () => {
      await copies.commit(copy, 'by-nobody')
      expect((await push(branch)).stderr).toContain('You cannot push commits for')
      const mine = { GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email }
      await copies.try(copy, ['commit', '--amend', '--reset-author', '--no-edit'], mine)
      expect((await push(branch)).code).toBe(0)
      expect((await commitFile('c', { start_branch: undefined })).status).toBe(201)
      expect(
        (await commitFile('d', { start_branch: undefined, author_email: 'nobody@nowhere.test' })).body,
      ).toMatchObject({ message: "Author 'nobody@nowhere.test' is not a member of team" })
    })
  })

  test('commit_email_hostname: private addresses stand for their users, in commits made here and in pushes', async () => {
    const shown = async () => bodyOf(await maintainer.get('/user'))['commit_email'] as string
    const mine = (host: string) => `${maintainer.id}-${maintainer.username}@${host}`
    const addresses = async () => {
      const head = bodyOf(await maintainer.get(`/projects/${project.id}/repository/commits/${branch}`))
      return [head['author_email'], head['committer_email']]
    }
    expect((await maintainer.put('/user', { commit_email: '_private' })).status).toBe(200)
    const usual = mine(`users.noreply.${new URL(world.url).hostname}`)
    expect(await shown()).toBe(usual)
    await under({ commit_committer_check: true, member_check: true }, async () => {
      await during(world, { commit_email_hostname: 'private.example' }, async () => {
        expect(await shown()).toBe(mine('private.example'))
        expect((await commitFile('privately')).status).toBe(201)
        expect(await addresses()).toEqual([mine('private.example'), mine('private.example')])
        const as = (email: string) => ({ GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email })
        await copies.try(copy, ['commit', '--allow-empty', '-m', 'x'], as(mine('private.example')))
        expect((await push(`HEAD:refs/heads/${branch}-2`)).code).toBe(0)
        for (const other of [usual, '999999999-nobody@private.example']) {
          await copies.try(
            copy,
            ['commit', '--amend', '--allow-empty', '--reset-author', '--no-edit'],
            as(other),
          )
          expect((await push(`HEAD:refs/heads/${branch}-3`)).stderr).toContain('You cannot push commits for')
        }
      })
      expect((await commitFile('as usual', { start_branch: undefined })).status).toBe(201)
      expect(await addresses()).toEqual([usual, usual])
    })
    expect((await maintainer.put('/user', { commit_email: null })).status).toBe(200)
    expect(await shown()).toBe(bodyOf(await maintainer.get('/user'))['email'])
  })

  test('for tags, which only pushes do not delete', async () => {
    await git(copy, 'tag', branch)
    await push(`refs/tags/${branch}`)
    await under({ deny_delete_tag: true, reject_unsigned_commits: true }, async () => {
      expect((await push('--delete', `refs/tags/${branch}`)).stderr).toContain('You cannot delete a tag')
      await copies.commit(copy, 'unsigned')
      const told = await push(`refs/heads/${branch}`)
      expect(told.stderr).toContain('Commit must be signed with a GPG key')
      expect((await commitFile('by-the-service')).status).toBe(201)
      const tag = `/projects/${project.id}/repository/tags/${branch}`
      expect((await maintainer.delete(tag)).status).toBe(204)
    })
  })

  test('only for what is new', async () => {
    await copies.commit(copy, 'old', 'Old message')
    expect((await push(branch)).code).toBe(0)
    await under({ commit_message_regex: '^new' }, async () => {
      expect((await push(`${branch}:refs/heads/${branch}-again`)).code).toBe(0)
      await git(copy, 'commit', '--quiet', '--allow-empty', '-m', 'new one')
      expect((await push(branch)).code).toBe(0)
    })
  })
})
