// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOf, rowsOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

/* Who makes, moves and deletes tags of protected names, over HTTP, over SSH and by the API. */

const people = ['developer', 'maintainer', 'administrator', 'named', 'insider'] as const
const keys = ['listedKey', 'otherKey'] as const
type Name = (typeof people)[number] | (typeof keys)[number]

/** Rules for tags that begin with their name, and whom they let in. */
const rules: Readonly<Record<string, { fields: () => Json; admits: readonly Name[] }>> = {
  'nobody-*': { fields: () => ({ create_access_level: 0 }), admits: [] },
  'developers-*': {
    fields: () => ({ create_access_level: 30 }),
    admits: ['developer', 'maintainer', 'administrator', 'named', 'insider'],
  },
  'maintainers-*': { fields: () => ({}), admits: ['maintainer', 'administrator'] },
  'administrators-*': { fields: () => ({ create_access_level: 60 }), admits: ['administrator'] },
  'user-*': { fields: () => ({ allowed_to_create: [{ user_id: actors.named.id }] }), admits: ['named'] },
  'group-*': { fields: () => ({ allowed_to_create: [{ group_id: group.id }] }), admits: ['insider'] },
  'key-*': { fields: () => ({ allowed_to_create: [{ deploy_key_id: keyId }] }), admits: ['listedKey'] },
  // Falls under three rules, of which each lets somebody in; an exact name overrides no wildcard.
  '*-several': { fields: () => ({ create_access_level: 0 }), admits: [] },
}
const prefixes = Object.keys(rules).filter((name) => name.endsWith('-*'))
const prefixOf = (tag: string) => `${tag.slice(0, tag.indexOf('-'))}-*`

const words = {
  create: 'You are not allowed to create this tag as it is protected.',
  update: 'Protected tags cannot be updated.',
  delete:
    'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.',
  web: 'You can only delete protected tags using the web interface.',
}

let world: World
let copies: Copies
let project: Made
let group: Made
let copy: string
let keyId: number
const actors = {} as Record<(typeof people)[number], Person>
const ssh = {} as Record<Name, string>
let path: string
let tags: string

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate', SSH_PORT: '0' })
  copies = await Copies.open(world)
  project = await world.project()
  path = `/projects/${project.id}/protected_tags`
  tags = `/projects/${project.id}/repository/tags`
  group = await world.group({}, await world.user())
  await world.root.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: 30 })
  actors.developer = await world.member({ project }, 'developer')
  actors.maintainer = await world.member({ project }, 'maintainer')
  actors.administrator = world.root
  actors.named = await world.member({ project }, 'developer')
  actors.insider = await world.member({ group }, 'developer')
  for (const name of people) {
    ssh[name] = await sshLogin(world, copies, async (key) =>
      expectStatus(await actors[name].post('/user/keys', { title: name, key }), 201),
    )
  }
  for (const name of keys) {
    ssh[name] = await sshLogin(world, copies, async (key) => {
      const fields = { title: name, key, can_push: true }
      const made = expectStatus(await world.root.post(`/projects/${project.id}/deploy_keys`, fields), 201)
      if (name === 'listedKey') keyId = made['id'] as number
    })
  }
  copy = await copies.filled(project)
  for (const [name, { fields }] of Object.entries(rules)) {
    expectStatus(await actors.maintainer.post(path, { name, ...fields() }), 201)
  }
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

type Way = 'http' | 'ssh'

/** Runs a push of somebody's, and tells it line by line. */
async function push(name: Name, way: Way, specs: readonly string[]): Promise<{ code: number; told: string }> {
  const url =
    way === 'http'
      ? copies.url(project, actors[name as keyof typeof actors])
      : sshAddress(world, project.path_with_namespace)
  const { code, stdout, stderr } = await copies.try(copy, ['push', '--porcelain', url, ...specs], {
    GIT_SSH_COMMAND: ssh[name],
  })
  return { code, told: `${stdout}\n${stderr}` }
}

const admitted = (name: Name, tag: string) =>
  [prefixOf(tag), ...(tag.endsWith('-several') ? ['*-several'] : [])].some((rule) =>
    rules[rule]!.admits.includes(name),
  )

describe('creating', () => {
  const cases: [Way, Name][] = [
    ...people.map((name): [Way, Name] => ['http', name]),
    ...[...people, ...keys].map((name): [Way, Name] => ['ssh', name]),
  ]

  test.each(cases)('over %s, by %s', async (way, name) => {
    const wanted = prefixes.map((rule) => rule.replace('*', `${way}-${name}`))
    const spec = (tag: string) => `HEAD:refs/tags/${tag}`
    // A push with one refusal moves nothing: so first what is to be refused, then the rest.
    const refused = wanted.filter((tag) => !admitted(name, tag))
    const { code, told } = await push(name, way, refused.map(spec))
    expect(code).not.toBe(0)
    expect(told).toContain(`remote: Guildhall: ${words.create}`)
    for (const tag of refused) {
      expect(told).toMatch(
        new RegExp(`^!\\tHEAD:refs/tags/${tag}\\t\\[remote rejected\\] \\(pre-receive`, 'm'),
      )
    }
    const rest = wanted.filter((tag) => admitted(name, tag))
    if (rest.length > 0) expect(await push(name, way, rest.map(spec))).toMatchObject({ code: 0 })
    const there = await git(copy, 'ls-remote', '--tags', copies.url(project, world.root))
    for (const tag of wanted)
      expect(there.includes(`refs/tags/${tag}\n`) || there.endsWith(tag)).toBe(rest.includes(tag))
  })

  test.each(people)('by the API, by %s', async (name) => {
    const make = async (tag_name: string): Promise<[string, number, unknown]> => {
      const { status, body } = await actors[name].post(tags, { tag_name, ref: 'main' })
      return [tag_name, status, status === 201 ? (body as Json)['protected'] : (body as Json)['message']]
    }
    const wanted = prefixes.map((rule) => rule.replace('*', `api-${name}`))
    expect(await Promise.all(wanted.map(make))).toEqual(
      wanted.map((tag) => (admitted(name, tag) ? [tag, 201, true] : [tag, 400, words.create])),
    )
  })

  test('by several rules: whom one of them lets in is let in', async () => {
    const made = async (name: (typeof people)[number], tag_name: string) =>
      (await actors[name].post(tags, { tag_name, ref: 'main' })).status
    expect(await made('developer', 'user-several')).toBe(400)
    expect(await made('named', 'user-several')).toBe(201)
    expect(await made('administrator', 'unknown-several')).toBe(400)
    // Nothing but the star is special, in a name's letter case too.
    expect(await made('developer', 'User-x')).toBe(201)
    expect(await made('developer', 'before-user-x')).toBe(201)
  })

  test('with a release, and by a protected name that is annotated', async () => {
    const release = (by: Person, tag_name: string): Promise<Reply> =>
      by.post(`/projects/${project.id}/releases`, { tag_name, ref: 'main', name: tag_name })
    expect((await release(actors.developer, 'maintainers-release')).status).toBe(403)
    expect((await release(actors.maintainer, 'maintainers-release')).status).toBe(201)
    const annotated = { tag_name: 'maintainers-annotated', ref: 'main', message: 'One' }
    expect(await actors.developer.post(tags, annotated)).toMatchObject({
      status: 400,
      body: { message: words.create },
    })
    expect((await actors.maintainer.post(tags, annotated)).status).toBe(201)
  })

  test('as long as the named user, the group and the key are what they were', async () => {
    const share = `/projects/${project.id}/share`
    // A member by another way too, so that pushing as such is not what he loses.
    await world.root.post(`/projects/${project.id}/members`, { user_id: actors.insider.id, access_level: 30 })
    expect((await world.root.delete(`${share}/${group.id}`)).status).toBe(204)
    expect((await actors.insider.post(tags, { tag_name: 'group-late', ref: 'main' })).status).toBe(400)
    expect((await world.root.post(share, { group_id: group.id, group_access: 30 })).status).toBe(201)
    expect((await actors.insider.post(tags, { tag_name: 'group-late', ref: 'main' })).status).toBe(201)

    const key = `/projects/${project.id}/deploy_keys/${keyId}`
    expectStatus(await world.root.put(key, { can_push: false }), 200)
    expect((await push('listedKey', 'ssh', ['HEAD:refs/tags/key-late'])).told).toContain(
      'This deploy key does not have write access to this project.',
    )
    expectStatus(await world.root.put(key, { can_push: true }), 200)
    expect(await push('listedKey', 'ssh', ['HEAD:refs/tags/key-late'])).toMatchObject({ code: 0 })

    const member = `/projects/${project.id}/members/${actors.named.id}`
    expectStatus(await world.root.put(member, { access_level: 20 }), 200)
    expect((await actors.named.post(tags, { tag_name: 'user-late', ref: 'main' })).status).toBe(403)
    expectStatus(await world.root.put(member, { access_level: 30 }), 200)
    expect((await actors.named.post(tags, { tag_name: 'user-late', ref: 'main' })).status).toBe(201)
  })
})

describe('a tag that is there', () => {
  const ways = [['http'], ['ssh']] as const

  test.each(ways)('is moved by nobody, over %s', async (way) => {
    const tag = `developers-moved-${way}`
    expectStatus(await world.root.post(tags, { tag_name: tag, ref: 'main' }), 201)
    const before = await git(copy, 'ls-remote', copies.url(project, world.root), `refs/tags/${tag}`)
    await git(copy, 'commit', '--quiet', '--allow-empty', '-m', tag)
    for (const name of ['developer', 'maintainer', 'administrator'] as const) {
      const { code, told } = await push(name, way, [`+HEAD:refs/tags/${tag}`])
      expect(code).not.toBe(0)
      expect(told).toContain(`remote: Guildhall: ${words.update}`)
    }
    expect(await git(copy, 'ls-remote', copies.url(project, world.root), `refs/tags/${tag}`)).toBe(before)
    expect(await world.root.post(tags, { tag_name: tag, ref: 'main' })).toMatchObject({
      status: 400,
      body: { message: `Tag ${tag} already exists` },
    })
  })

  test.each(ways)('is not deleted over %s', async (way) => {
    const tag = `developers-kept-${way}`
    expectStatus(await world.root.post(tags, { tag_name: tag, ref: 'main' }), 201)
    const told = async (name: Name) => (await push(name, way, [`:refs/tags/${tag}`])).told
    expect(await told('developer')).toContain(`remote: Guildhall: ${words.delete}`)
    for (const name of ['maintainer', 'administrator'] as const) {
      expect(await told(name)).toContain(`remote: Guildhall: ${words.web}`)
    }
    expect((await world.root.get(`${tags}/${tag}`)).status).toBe(200)
  })

  test('is deleted by maintainers over the API, whoever may make it', async () => {
    expectStatus(await world.root.post(tags, { tag_name: 'plain', ref: 'main' }), 201)
    const { status, body } = await answerOf(
      actors.maintainer.post(path, { name: 'plain', create_access_level: 0 }),
    )
    expect(status).toBe(201)
    expect(body['create_access_levels']).toMatchObject([
      { access_level: 0, access_level_description: 'No one' },
    ])
    expect((await actors.developer.get(`${tags}/plain`)).body).toMatchObject({ protected: true })
    expect(await actors.developer.delete(`${tags}/plain`)).toMatchObject({
      status: 400,
      body: { message: words.delete },
    })
    expect((await actors.maintainer.delete(`${tags}/plain`)).status).toBe(204)
    expect(await actors.maintainer.delete(`${tags}/plain`)).toMatchObject({
      status: 404,
      body: { message: 'No such tag' },
    })
    expect((await actors.maintainer.delete(`${path}/plain`)).status).toBe(204)
  })

  test('is free again once the rule is lifted', async () => {
    expectStatus(await actors.maintainer.post(path, { name: 'rel/*' }), 201)
    expect((await push('developer', 'http', ['HEAD:refs/tags/rel/1'])).told).toContain(words.create)
    expect((await actors.developer.delete(`${path}/rel%2F*`)).status).toBe(403)
    expect((await actors.maintainer.delete(`${path}/rel%2F%2A`)).status).toBe(204)
    expect(await push('developer', 'http', ['HEAD:refs/tags/rel/1'])).toMatchObject({ code: 0 })
    await git(copy, 'commit', '--quiet', '--allow-empty', '-m', 'Later')
    expect(await push('developer', 'http', ['+HEAD:refs/tags/rel/1'])).toMatchObject({ code: 0 })
    expect(await push('developer', 'http', [':refs/tags/rel/1'])).toMatchObject({ code: 0 })
  })
})

describe('the rules', () => {
  test('are listed and got by their own text, with whom they name', async () => {
    const list = rowsOf(await actors.maintainer.get(path))
    expect(list.map(({ name }) => name as string)).toEqual(Object.keys(rules))
    const got = async (name: string) =>
      (await answerOf(actors.maintainer.get(`${path}/${encodeURIComponent(name)}`))).body
    expect(await got('maintainers-*')).toEqual({
      name: 'maintainers-*',
      create_access_levels: [
        {
          id: expect.any(Number) as number,
          ...{ access_level: 40, access_level_description: 'Maintainers', user_id: null, group_id: null },
        },
      ],
    })
    const entry = async (name: string) => (await got(name))['create_access_levels'] as unknown
    expect(await entry('user-*')).toMatchObject([
      {
        access_level: null,
        access_level_description: `Name of ${actors.named.username}`,
        user_id: actors.named.id,
      },
    ])
    expect(await entry('group-*')).toMatchObject([
      { access_level: null, access_level_description: group.name, group_id: group.id },
    ])
    expect(await entry('key-*')).toMatchObject([
      { access_level_description: 'listedKey', deploy_key_id: keyId, user_id: null, group_id: null },
    ])
    // A tag that only falls under a rule is none.
    expect(await actors.maintainer.get(`${path}/user-x`)).toMatchObject({ status: 404 })
  })

  test('levels and lists are put together', async () => {
    const { body } = await answerOf(
      actors.maintainer.post(path, {
        ...{ name: 'both', create_access_level: 0, allowed_to_create: [{ user_id: actors.named.id }] },
      }),
    )
    expect(body['create_access_levels']).toMatchObject([{ access_level: 0 }, { user_id: actors.named.id }])
    expect((await actors.maintainer.post(tags, { tag_name: 'both', ref: 'main' })).status).toBe(400)
    expect((await actors.named.post(tags, { tag_name: 'both', ref: 'main' })).status).toBe(201)
  })

  test.each<[Json, number, Json]>([
    [{ name: 'user-*' }, 422, { message: ['Name has already been taken'] }],
    [{ name: '' }, 400, { error: 'name is empty' }],
    [{}, 400, { error: 'name is missing' }],
    [{ create_access_level: 20 }, 400, { error: 'create_access_level does not have a valid value' }],
    [{ allowed_to_create: 'x' }, 400, { error: 'allowed_to_create is invalid' }],
    [
      { allowed_to_create: [{ access_level: 10 }] },
      400,
      { error: 'allowed_to_create[0][access_level] does not have a valid value' },
    ],
    [
      { allowed_to_create: [{ user_id: 999_999_999 }] },
      422,
      { message: ["Create access levels user can't be blank"] },
    ],
    [
      { allowed_to_create: [{ group_id: 999_999_999 }] },
      422,
      { message: ["Create access levels group can't be blank"] },
    ],
    [
      { allowed_to_create: [{ deploy_key_id: 999_999_999 }] },
      422,
      { message: ['Create access levels deploy key is not enabled for this project'] },
    ],
    [
      { create_access_level: 40, allowed_to_create: [{ access_level: 40 }] },
      422,
      { message: ['Create access levels access level has already been taken'] },
    ],
  ])('%j: %d', async (fields, status, body) => {
    const named = Object.keys(fields).length === 0 || 'name' in fields ? {} : { name: world.unique('tag') }
    expect(await actors.maintainer.post(path, { ...named, ...fields })).toMatchObject({ status, body })
  })

  test('name only whom the project knows', async () => {
    const refusal = async (entry: Json) =>
      (await actors.maintainer.post(path, { name: world.unique('tag'), allowed_to_create: [entry] })).body
    const stranger = await world.user()
    expect(await refusal({ user_id: stranger.id })).toEqual({
      message: ['Create access levels user is not a member of the project'],
    })
    const foreign = await world.group()
    expect(await refusal({ group_id: foreign.id })).toEqual({
      message: ['Create access levels group does not have access to the project'],
    })
  })

  test('know levels only without the paid plan', async () => {
    const free = await world.sibling({ PLAN: 'free' })
    const made = await answerOf(
      actors.maintainer.post(`${free.address}/api/v4${path}`, {
        ...{ name: 'free-*', create_access_level: 30, allowed_to_create: [{ user_id: actors.named.id }] },
      }),
    )
    expect(made).toMatchObject({ status: 201, body: { create_access_levels: [{ access_level: 30 }] } })
    expect(made.body['create_access_levels']).toHaveLength(1)
  })
})
