// @module-tag long
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { rowsOf } from '../world/bodies.ts'
import { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git, type Login, type Told } from './copies.ts'
import { runningJob } from './jobs.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

let world: World
let copies: Copies
let person: Person
/** Seen by everybody who is signed in. */
let group: Made
let hidden: Made

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  person = await world.user()
  group = await world.group({ visibility: 'internal' })
  hidden = await world.group()
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const projectMissing =
  "The project you were looking for could not be found or you don't have permission to view it."
const namespaceMissing = 'The namespace you were looking for could not be found.'

const namePath = (namespace: string) => `${namespace}/${world.unique('pushed')}`
const projectAt = (fullPath: string) => world.root.get(`/projects/${encodeURIComponent(fullPath)}`)

/** A copy with a first commit, whose `origin` is a path. */
async function begun(
  fullPath: string,
  login?: Login,
  files: Record<string, string> = { 'a.txt': 'a\n' },
): Promise<string> {
  const copy = await copies.fresh({ path_with_namespace: fullPath }, login)
  await copies.commit(copy, files)
  return copy
}

const push = (copy: string, ssh?: string): Promise<Told> =>
  copies.try(copy, ['push', 'origin', 'main'], ssh === undefined ? {} : { GIT_SSH_COMMAND: ssh })

/** Pushes a first commit to a path. */
const pushTo = async (fullPath: string, login: Login) => push(await begun(fullPath, login))

/** What the first request of a push is answered. */
async function verdict(fullPath: string, login: Login, service = 'git-receive-pack') {
  const credentials = Buffer.from(`${login?.username}:${login?.token}`).toString('base64')
  const response = await fetch(`${world.url}/${fullPath}.git/info/refs?service=${service}`, {
    ...(login !== undefined && { headers: { authorization: `Basic ${credentials}` } }),
  })
  return { status: response.status, text: await response.text() }
}

const notices = (fullPath: string, remote: string) =>
  [
    `The private project ${fullPath} was successfully created.`,
    '',
    'To configure the remote, run:',
    `  git remote add origin ${remote}`,
    '',
    'To view the project, visit:',
    `  ${world.url}/${fullPath}`,
  ].map((line) => `remote: ${line}`.trimEnd())

const told = ({ stderr }: Told) => stderr.split('\n').map((line) => line.trimEnd())

async function withKey(add: (key: string) => Promise<{ status: number }>): Promise<string> {
  return sshLogin(world, copies, async (key) => expect((await add(key)).status).toBe(201))
}
const keyOf = (who: Person) => withKey((key) => who.post('/user/keys', { title: 'laptop', key }))

async function begunOverSsh(fullPath: string): Promise<string> {
  const copy = await begun(fullPath)
  await git(copy, 'remote', 'set-url', 'origin', sshAddress(world, fullPath))
  return copy
}

describe('over HTTP', () => {
  test('a push to a free path of the own namespace makes a private project, once', async () => {
    const fullPath = namePath(person.username)
    const copy = await begun(fullPath, person, { '.gitlab-ci.yml': 'work:\n  script: make\n' })
    const first = await push(copy)
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect(told(first)).toEqual(expect.arrayContaining(notices(fullPath, copies.url(fullPath))))

    const project = expectStatus(await projectAt(fullPath), 200)
    expect(project).toMatchObject({
      ...{ name: path.basename(fullPath), visibility: 'private', creator_id: person.id },
      ...{ empty_repo: false, default_branch: 'main', http_url_to_repo: copies.url(fullPath) },
    })
    await world.settled()
    const base = `/projects/${project['id'] as number}`
    expect(rowsOf(await person.get(`${base}/pipelines`))).toMatchObject([{ ref: 'main', source: 'push' }])
    expect(rowsOf(await person.get(`${base}/protected_branches`))).toMatchObject([{ name: 'main' }])
    const events = rowsOf(await person.get(`/users/${person.id}/events`))
    const ofProject = events.filter((event) => event['project_id'] === project['id'])
    expect(ofProject.map((event) => event['action_name'])).toEqual(['pushed new', 'joined', 'created'])

    await copies.commit(copy, 'b.txt')
    const second = await push(copy)
    expect(second.code).toBe(0)
    expect(second.stderr).not.toContain('created')
  })

  test('a project that was made otherwise tells nothing of that, nor one that somebody else fills', async () => {
    const owned = await world.project({ namespace_id: group.id }, world.root)
    expect((await pushTo(owned.path_with_namespace, world.root)).stderr).not.toContain('created')

    const fullPath = namePath(group.full_path)
    expect(await verdict(fullPath, world.root)).toMatchObject({ status: 200 })
    const maintainer = await world.member({ group }, 'maintainer')
    const copy = await begun(fullPath, maintainer)
    const other = await push(copy)
    expect(other.code).toBe(0)
    expect(other.stderr).not.toContain('created')
    await git(copy, 'remote', 'set-url', 'origin', copies.url(fullPath, world.root))
    await copies.commit(copy, 'b.txt')
    expect((await push(copy)).stderr).not.toContain('created')
  })

  test('a first push that is refused leaves the project, and the next one tells of it', async () => {
    const fullPath = namePath(person.username)
    const copy = await begun(fullPath, person)
    const refused = await copies.try(copy, ['push', 'origin', 'main:refs/pipelines/1'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).not.toContain('created')
    expect((await projectAt(fullPath)).status).toBe(200)
    expect(told(await push(copy))).toEqual(expect.arrayContaining(notices(fullPath, copies.url(fullPath))))
  })

  test('an address without .git, a password, and a token for pushing alone do as well', async () => {
    const without = namePath(person.username)
    const copy = await begun(without, person)
    await git(copy, 'remote', 'set-url', 'origin', copies.url(without, person).replace(/\.git$/, ''))
    expect(await push(copy)).toMatchObject({ code: 0 })

    const writing = await world.token(person.id, ['write_repository'])
    expect(await pushTo(namePath(person.username), { username: 'x', token: writing })).toMatchObject({
      code: 0,
    })
    const reading = await world.token(person.id, ['read_repository'])
    expect(await verdict(namePath(person.username), { username: 'x', token: reading })).toEqual({
      ...{ status: 403, text: 'You are not allowed to upload code.' },
    })

    const password = 'correct horse battery staple'
    const who = await world.user({ force_random_password: undefined, password })
    const fullPath = namePath(who.username)
    expect(await pushTo(fullPath, { username: who.username, token: password })).toMatchObject({ code: 0 })
    expect((await projectAt(fullPath)).body).toMatchObject({ creator_id: who.id })
  })

  test('several at once make one project', async () => {
    const fullPath = namePath(person.username)
    const all = await Promise.all(Array.from({ length: 4 }, () => verdict(fullPath, person)))
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await projectAt(fullPath)).status).toBe(200)
  })

  test('only the beginning of a push makes something', async () => {
    const fullPath = namePath(person.username)
    expect(await verdict(fullPath, person, 'git-upload-pack')).toEqual({ status: 404, text: projectMissing })
    expect((await verdict(fullPath, undefined)).status).toBe(401)
    const { code } = await copies.try(copies.folder, ['clone', copies.url(fullPath, person), 'nothing'])
    expect(code).not.toBe(0)
    const credentials = Buffer.from(`x:${person.token}`).toString('base64')
    const headers = { authorization: `Basic ${credentials}` }
    const at = `${world.url}/${fullPath}.git`
    const type = { 'content-type': 'application/x-git-receive-pack-request' }
    const packed = await fetch(`${at}/git-receive-pack`, {
      ...{ method: 'POST', headers: { ...headers, ...type }, body: '0000' },
    })
    expect([packed.status, await packed.text()]).toEqual([404, projectMissing])
    const lfs = { ...headers, 'content-type': 'application/vnd.git-lfs+json' }
    const batch = await fetch(`${at}/info/lfs/objects/batch`, {
      ...{ method: 'POST', headers: lfs, body: JSON.stringify({ operation: 'upload', objects: [] }) },
    })
    expect(batch.status).toBe(404)
    expect((await projectAt(fullPath)).status).toBe(404)
  })
})

describe('who may', () => {
  test.each([
    ['developer', 'developer', true],
    ['maintainer', 'maintainer', true],
    ['maintainer', 'developer', false],
    ['owner', 'maintainer', false],
    ['noone', 'owner', false],
    ['developer', 'reporter', false],
    ['developer', 'guest', false],
  ] as const)('where a group lets in from %s on, a %s: %s', async (level, role, may) => {
    const parent = await world.group()
    const place = await world.group({ parent_id: parent.id, project_creation_level: level })
    const member = await world.member({ group: parent }, role)
    const fullPath = namePath(place.full_path)
    const { status, text } = await verdict(fullPath, member)
    expect(status).toBe(may ? 200 : 404)
    if (!may) expect(text).toBe(projectMissing)
    expect((await projectAt(fullPath)).status).toBe(may ? 200 : 404)
  })

  test('a member whom the default branch is open to begins a project in a group', async () => {
    const maintainer = await world.member({ group }, 'maintainer')
    const fullPath = namePath(group.full_path)
    expect(told(await pushTo(fullPath.toUpperCase(), maintainer))).toEqual(
      expect.arrayContaining(
        notices(
          `${group.full_path}/${path.basename(fullPath).toUpperCase()}`,
          copies.url(`${group.full_path}/${path.basename(fullPath).toUpperCase()}`),
        ),
      ),
    )
  })

  test('nobody learns from a push which namespaces and projects there are', async () => {
    const inside = await world.project({ namespace_id: hidden.id })
    const unknown = await verdict('no-such-namespace/anything', person)
    expect(unknown).toEqual({ status: 404, text: namespaceMissing })
    for (const fullPath of [
      namePath(hidden.full_path),
      inside.path_with_namespace,
      `${inside.path_with_namespace}/inside`,
      `${hidden.full_path}/no/such`,
    ]) {
      expect([fullPath, await verdict(fullPath, person)]).toEqual([fullPath, unknown])
    }

    const closed = await world.project({ namespace_id: group.id, visibility: 'private' })
    const ofOther = expectStatus(
      await world.root.post('/projects', { name: world.unique('own'), visibility: 'private' }),
      201,
    )
    for (const fullPath of [
      namePath(group.full_path),
      closed.path_with_namespace,
      namePath(world.root.username),
      ofOther['path_with_namespace'] as string,
    ]) {
      const refusal = { status: 404, text: projectMissing }
      expect([fullPath, await verdict(fullPath, person)]).toEqual([fullPath, refusal])
    }
    expect((await projectAt(`${hidden.full_path}/no/such`)).status).toBe(404)
  })

  test('a path that a hidden project had before leads to it still', async () => {
    const left = await world.group({ visibility: 'internal' })
    const moved = await world.project({ namespace_id: left.id, visibility: 'private' })
    expectStatus(await world.root.put(`/projects/${moved.id}/transfer`, { namespace: hidden.id }), 200)
    const developer = await world.member({ group: left }, 'developer')
    const answer = await verdict(moved.path_with_namespace, developer)
    expect(answer).toEqual({ status: 404, text: projectMissing })
  })

  test('what a namespace was called before is none', async () => {
    const renamed = await world.group()
    expectStatus(await world.root.put(`/groups/${renamed.id}`, { path: world.unique('renamed') }), 200)
    expect(await verdict(namePath(renamed.full_path), world.root)).toEqual({
      ...{ status: 404, text: namespaceMissing },
    })
  })

  test('somebody external, at the limit, or a guest where these may not: nothing is made', async () => {
    const refusal = { status: 404, text: projectMissing }
    const external = await world.user({ external: true })
    expect(await verdict(namePath(external.username), external)).toEqual(refusal)
    const full = await world.user({ projects_limit: 1 })
    expect((await verdict(namePath(full.username), full)).status).toBe(200)
    expect(await verdict(namePath(full.username), full)).toEqual(refusal)
    await during(world, { allow_project_creation_for_guest_and_below: false }, async () =>
      expect(await verdict(namePath(person.username), await world.user())).toEqual(refusal),
    )
  })

  test('in maintenance nothing is made', async () => {
    const fullPath = namePath(person.username)
    await during(world, { maintenance_mode: true, maintenance_mode_message: 'Back at noon' }, async () =>
      expect(await verdict(fullPath, person)).toEqual({ status: 403, text: 'Back at noon' }),
    )
    expect((await projectAt(fullPath)).status).toBe(404)
  })

  test('addresses that a group does not admit learn nothing of it', async () => {
    const place = await world.group()
    const member = await world.member({ group: place }, 'developer')
    expectStatus(await world.root.put(`/groups/${place.id}`, { ip_restriction_ranges: '192.0.2.0/24' }), 200)
    expect(await verdict(namePath(place.full_path), member)).toEqual({
      ...{ status: 404, text: namespaceMissing },
    })
  })
})

describe('machines', () => {
  test('job tokens and deploy tokens make nothing', async () => {
    const place = await world.group()
    const project = await world.project({ namespace_id: place.id })
    const developer = await world.member({ group: place }, 'developer')
    await copies.filled(project)
    const job = await runningJob(world, copies, project, developer)
    const deploy = expectStatus(
      await world.root.post(`/groups/${place.id}/deploy_tokens`, {
        ...{ name: 'all', scopes: ['read_repository', 'read_package_registry'] },
      }),
      201,
    ) as { username: string; token: string }
    const fullPath = namePath(place.full_path)
    for (const login of [{ username: 'gitlab-ci-token', token: job.token }, deploy]) {
      expect((await verdict(fullPath, login)).status).toBe(404)
      expect((await verdict(namePath(hidden.full_path), login)).text).toBe(projectMissing)
    }
    expect((await projectAt(fullPath)).status).toBe(404)
    await job.end()
  })

  test('the token of a group makes as little as it does at POST /projects', async () => {
    const place = await world.group()
    const expires_at = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
    const fields = { name: 'bot', scopes: ['api'], access_level: 40, expires_at }
    const made = expectStatus(await world.root.post(`/groups/${place.id}/access_tokens`, fields), 201)
    const login = { username: 'bot', token: made['token'] as string }
    const bot = new Person(world.url, { id: 0, ...login })
    const name = world.unique('by-bot')
    expect((await bot.post('/projects', { name, namespace_id: place.id })).status).toBe(403)
    expect((await verdict(namePath(place.full_path), login)).text).toBe(projectMissing)
  })
})

describe('what cannot be', () => {
  test.each([
    ['.git', /^Could not create project: Path can contain only .*'\.git'/],
    ['.atom', /^Could not create project: Path can contain only /],
    ['é', /^Could not create project: Path can contain only /],
  ])('a path that ends in %s', async (end, text) => {
    const fullPath = `${namePath(person.username)}${end}`
    const { status, text: answer } = await verdict(encodeURI(fullPath), person)
    expect([status, answer]).toEqual([422, expect.stringMatching(text)])
    expect((await projectAt(fullPath)).status).toBe(404)
  })

  test('a reserved name, one that is too long, and one that is a group', async () => {
    const reserved = await verdict(`${person.username}/wikis`, person)
    expect(reserved).toMatchObject({ status: 422, text: expect.stringContaining('reserved') as string })
    const long = await verdict(`${person.username}/${'x'.repeat(300)}`, person)
    expect(long).toMatchObject({ status: 422, text: expect.stringContaining('Path is too long') as string })
    const below = await world.group({ parent_id: group.id })
    expect(await verdict(below.full_path, world.root)).toEqual({
      ...{ status: 422, text: 'Could not create project: Path has already been taken' },
    })
  })

  test('git shows why', async () => {
    const { code, stderr } = await pushTo(`${person.username}/wikis`, person)
    expect(code).not.toBe(0)
    expect(stderr).toContain('remote: Could not create project: ')
  })

  test('private projects, where the instance keeps them to administrators', async () => {
    const privateForAdministrators = {
      ...{ default_project_visibility: 'internal', default_group_visibility: 'internal' },
      restricted_visibility_levels: ['private'],
    }
    await during(world, privateForAdministrators, async () => {
      const { status, text } = await verdict(namePath(person.username), person)
      expect([status, text]).toEqual([
        422,
        'Could not create project: Visibility level private has been restricted by your Guildhall administrator',
      ])
    })
  })

  test('a path at the top, wikis and snippets', async () => {
    for (const fullPath of [
      world.unique('top'),
      `${namePath(person.username)}.wiki`,
      `${person.username}.wiki`,
      'snippets/1234567',
      `${person.username}/snippets/7`,
      `${namePath(person.username)}/snippets/7`,
    ]) {
      expect([fullPath, (await verdict(fullPath, person)).status]).toEqual([fullPath, 404])
      expect((await projectAt(fullPath)).status).toBe(404)
    }
  })
})

describe('over SSH', () => {
  test('a push makes a private project and tells its address over SSH; a fetch does not', async () => {
    const ssh = await keyOf(person)
    const fullPath = namePath(person.username)
    const copy = await begunOverSsh(fullPath)
    const fetched = await copies.try(copy, ['fetch', 'origin'], { GIT_SSH_COMMAND: ssh })
    expect(fetched.stderr).toContain(`ERROR: ${projectMissing}`)
    const first = await push(copy, ssh)
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect(told(first)).toEqual(expect.arrayContaining(notices(fullPath, sshAddress(world, fullPath))))
    const project: Json = expectStatus(await projectAt(fullPath), 200)
    expect(project).toMatchObject({
      ...{ visibility: 'private', creator_id: person.id, ssh_url_to_repo: sshAddress(world, fullPath) },
    })
    await copies.commit(copy, 'b.txt')
    const second = await push(copy, ssh)
    expect(second.code).toBe(0)
    expect(second.stderr).not.toContain('created')
  })

  test('the refusals are the same', async () => {
    const ssh = await keyOf(person)
    const inside = await world.project({ namespace_id: hidden.id })
    for (const [fullPath, text] of [
      ['no-such-namespace/anything', namespaceMissing],
      [inside.path_with_namespace, namespaceMissing],
      [namePath(hidden.full_path), namespaceMissing],
      [namePath(group.full_path), projectMissing],
      [`${namePath(person.username)}.git`, 'Could not create project: Path can contain only'],
      [world.unique('top'), projectMissing],
    ] as const) {
      const { code, stderr } = await push(await begunOverSsh(fullPath), ssh)
      expect(code).not.toBe(0)
      expect(stderr).toContain(`ERROR: ${text}`)
      expect((await projectAt(fullPath)).status).toBe(fullPath === inside.path_with_namespace ? 200 : 404)
    }
  })

  test('deploy keys make nothing', async () => {
    const project = await world.project({ namespace_id: group.id })
    const ssh = await withKey((key) =>
      world.root.post(`/projects/${project.id}/deploy_keys`, { title: 'writer', key, can_push: true }),
    )
    for (const namespace of [group.full_path, world.root.username, 'no-such-namespace']) {
      const fullPath = namePath(namespace)
      const { code, stderr } = await push(await begunOverSsh(fullPath), ssh)
      expect(code).not.toBe(0)
      expect(stderr).toContain(`ERROR: ${projectMissing}`)
      expect((await projectAt(fullPath)).status).toBe(404)
    }
  })
})
