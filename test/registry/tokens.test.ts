import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { during } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'
import { claimsOf, codeOf, RegistryClient } from './client.ts'

let world: World
let project: Made
let open: Made
let name: string
let people: Record<'guest' | 'reporter' | 'developer' | 'maintainer', Person>

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
  open = await world.project({ visibility: 'public' })
  name = `${project.path_with_namespace}/web`
  const member = (role: keyof typeof people) => world.member({ project }, role)
  people = {
    guest: await member('guest'),
    reporter: await member('reporter'),
    developer: await member('developer'),
    maintainer: await member('maintainer'),
  }
})
afterAll(() => world[Symbol.asyncDispose]())

const clientOf = (who: Person) => RegistryClient.of(world, who)
const anonymous = () => new RegistryClient(world)

/** What a token gives for one scope. */
async function granted(client: RegistryClient, scope: string): Promise<Json[]> {
  return claimsOf(await client.token(scope)).payload['access'] as Json[]
}

describe('the token service', () => {
  test('signs what was granted, for a few minutes', async () => {
    const token = await clientOf(people.developer).token(`repository:${name}:pull,push`)
    const { header, payload } = claimsOf(token)
    expect(header).toEqual({
      typ: 'JWT',
      alg: 'RS256',
      kid: expect.stringMatching(/^([A-Z2-7]{4}:){11}[A-Z2-7]{4}$/),
    })
    expect(payload).toMatchObject({
      aud: 'container_registry',
      sub: people.developer.username,
      auth_type: 'personal_access_token',
      access: [
        {
          type: 'repository',
          name,
          actions: ['pull', 'push'],
          meta: {
            project_path: project.path_with_namespace,
            project_id: project.id,
            tag_deny_access_patterns: { push: [], delete: [] },
          },
        },
      ],
    })
    const { iat, nbf, exp, jti } = payload as { iat: number; nbf: number; exp: number; jti: string }
    expect([iat - nbf, exp - iat]).toEqual([5, 300])
    expect(jti).toMatch(/^[0-9a-f-]{36}$/)
    // A push makes the repository known.
    const listed = await world.root.get(`/projects/${project.id}/registry/repositories`)
    expect((listed.body as Json[]).map((row) => row['path'])).toContain(name)
  })

  test.each<[keyof typeof people, string[]]>([
    ['guest', []],
    ['reporter', ['pull']],
    ['developer', ['pull', 'push']],
    ['maintainer', ['pull', 'push', 'delete', '*']],
  ])('drops without a word what a %s may not', async (role, actions) => {
    const access = await granted(clientOf(people[role]), `repository:${name}:pull,push,delete,*`)
    expect(access.flatMap((one) => one['actions'] as string[])).toEqual(actions)
  })

  test.each([
    ['read_registry', ['pull']],
    ['write_registry', ['push']],
    ['read_api', ['pull']],
    ['api', ['pull', 'push', 'delete']],
  ])('gives a token of scope %s what it is for', async (scope, actions) => {
    const password = await world.token(people.maintainer.id, [scope])
    const client = new RegistryClient(world, { username: 'whoever', password })
    const access = await granted(client, `repository:${name}:pull,push,delete`)
    expect(access[0]!['actions']).toEqual(actions)
  })

  test('container_registry_token_expire_delay: tokens live so many minutes', async () => {
    const life = async () => {
      const { payload } = claimsOf(await clientOf(people.developer).token(`repository:${name}:pull`))
      return (payload['exp'] as number) - (payload['iat'] as number)
    }
    await during(world, { container_registry_token_expire_delay: 17 }, async () =>
      expect(await life()).toBe(17 * 60),
    )
    expect(await life()).toBe(5 * 60)
  })

  test('refuses a token without a scope for images', async () => {
    const password = await world.token(people.maintainer.id, ['read_repository'])
    const answer = await new RegistryClient(world, { username: 'x', password }).ask(`repository:${name}:pull`)
    expect([answer.status, answer.body]).toEqual([
      403,
      { errors: [{ code: 'DENIED', message: 'access forbidden' }] },
    ])
  })

  test('refuses wrong credentials', async () => {
    const answer = await new RegistryClient(world, { username: 'root', password: 'wrong' }).ask()
    expect([answer.status, codeOf(answer)]).toEqual([401, 'UNAUTHORIZED'])
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  test('is a check of the login without a scope', async () => {
    expect(claimsOf(await clientOf(people.guest).token()).payload['access']).toEqual([])
    const nobody = await anonymous().ask()
    expect([nobody.status, codeOf(nobody)]).toEqual([403, 'DENIED'])
  })

  test('takes the password of a user', async () => {
    const username = world.unique('with-password')
    const password = 'correct horse battery'
    await world.user({ username, password, force_random_password: false })
    const token = await new RegistryClient(world, { username, password }).token()
    expect(claimsOf(token).payload).toMatchObject({ sub: username, auth_type: 'gitlab_or_ldap' })
  })

  test('lets anybody pull what is public, and nothing else', async () => {
    const path = open.path_with_namespace
    expect(await granted(anonymous(), `repository:${path}:pull,push`)).toMatchObject([
      { name: path, actions: ['pull'] },
    ])
    expect(await granted(anonymous(), `repository:${name}:pull`)).toEqual([])
    await world.root.put(`/projects/${open.id}`, { container_registry_access_level: 'private' })
    expect(await granted(anonymous(), `repository:${path}:pull`)).toEqual([])
    await world.root.put(`/projects/${open.id}`, { container_registry_access_level: 'disabled' })
    expect(await granted(clientOf(world.root), `repository:${path}:pull`)).toEqual([])
    await world.root.put(`/projects/${open.id}`, { container_registry_access_level: 'enabled' })
  })

  test('finds the project of an image up to two names below it', async () => {
    const at = async (below: string) =>
      (await granted(clientOf(people.reporter), `repository:${project.path_with_namespace}${below}:pull`))
        .length
    expect([await at(''), await at('/a'), await at('/a/b'), await at('/a/b/c')]).toEqual([1, 1, 1, 0])
  })

  test('takes several scopes, in one parameter or in more', async () => {
    const other = `${project.path_with_namespace}/other`
    const scopes = [`repository:${name}:pull`, `repository:${other}:pull`]
    for (const asked of [scopes, [scopes.join(' ')]]) {
      const access = claimsOf(await clientOf(people.reporter).token(...asked)).payload['access'] as Json[]
      expect(access.map((one) => one['name'])).toEqual([name, other])
    }
    expect(await granted(clientOf(people.reporter), 'nonsense')).toEqual([])
  })

  test('gives the catalog to administrators', async () => {
    expect(await granted(clientOf(people.maintainer), 'registry:catalog:*')).toEqual([])
    expect(await granted(clientOf(world.root), 'registry:catalog:*')).toEqual([
      { type: 'registry', name: 'catalog', actions: ['*'] },
    ])
    await clientOf(people.developer).token(`repository:${name}:push`)
    const listed = await clientOf(world.root).request('GET', name, '/v2/_catalog', {
      scopes: ['registry:catalog:*'],
    })
    expect(listed.body!['repositories']).toContain(name)
    const refused = await clientOf(people.maintainer).request('GET', name, '/v2/_catalog')
    expect(refused.status).toBe(401)
  })

  test('knows one service, and only GET', async () => {
    const ask = (method: string, query: string) => fetch(`${world.url}/jwt/auth${query}`, { method })
    expect((await ask('GET', '')).status).toBe(404)
    expect((await ask('GET', '?service=other')).status).toBe(404)
    expect((await ask('POST', '?service=container_registry')).status).toBe(404)
  })

  test('refuses who is blocked', async () => {
    const blocked = await world.user()
    await world.root.post(`/users/${blocked.id}/block`)
    const answer = await clientOf(blocked).ask()
    expect([answer.status, codeOf(answer)]).toEqual([403, 'DENIED'])
  })

  test('keeps its key sealed', async () => {
    await clientOf(people.guest).token()
    const { rows } = await sql<{ secret: string }>`select secret from signing_keys`.execute(
      world.service.services.db.writer,
    )
    expect(rows).toHaveLength(1)
    expect(Buffer.from(rows[0]!.secret, 'base64').toString('latin1')).not.toContain('PRIVATE KEY')
  })
})

describe('the registry', () => {
  test('takes no token but its own', async () => {
    const token = await clientOf(people.reporter).token(`repository:${name}:pull`)
    const call = (bearer: string) =>
      fetch(`${world.url}/v2/${name}/tags/list`, { headers: { authorization: `Bearer ${bearer}` } })
    const [head, body, signature] = token.split('.') as [string, string, string]
    const claims = claimsOf(token).payload
    const forged = Buffer.from(JSON.stringify({ ...claims, access: [] })).toString('base64url')
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    for (const bad of [`${head}.${forged}.${signature}`, `${none}.${body}.`, 'x', people.reporter.token]) {
      expect((await call(bad)).status).toBe(401)
    }
  })

  test.each([
    ['GET', 'tags/list', 'pull'],
    ['HEAD', 'manifests/latest', 'pull'],
    ['PUT', 'manifests/latest', 'pull,push'],
    ['DELETE', 'manifests/latest', 'delete'],
    ['POST', 'blobs/uploads/', 'pull,push'],
  ])('tells who has no token which scope %s of %s needs', async (method, path, actions) => {
    const response = await fetch(`${world.url}/v2/${name}/${path}`, { method })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer realm="${world.url}/jwt/auth",service="container_registry",scope="repository:${name}:${actions}"`,
    )
  })

  test('tells which scope a call needs', async () => {
    const { token } = { token: await clientOf(people.reporter).token(`repository:${name}:pull`) }
    const response = await fetch(`${world.url}/v2/${name}/blobs/uploads/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer realm="${world.url}/jwt/auth",service="container_registry",scope="repository:${name}:pull,push",error="insufficient_scope"`,
    )
  })
})

describe('protection rules', () => {
  const protect = (rest: string, fields: Json) =>
    world.root.post(`/projects/${project.id}/registry/protection/repository/rules`, {
      repository_path_pattern: project.path_with_namespace + rest,
      ...fields,
    })

  test('fail a push altogether, and leave pulls alone', async () => {
    await protect('/prod*', { minimum_access_level_for_push: 'maintainer' })
    const path = `${project.path_with_namespace}/prod-eu`
    const refused = await clientOf(people.developer).ask(
      `repository:${name}:pull`,
      `repository:${path}:pull,push`,
    )
    expect([refused.status, refused.body]).toEqual([
      403,
      { errors: [{ code: 'DENIED', message: 'Pushing to protected repository path forbidden' }] },
    ])
    expect(await granted(clientOf(people.developer), `repository:${path}:pull`)).toHaveLength(1)
    expect(
      (await granted(clientOf(people.maintainer), `repository:${path}:pull,push`))[0]!['actions'],
    ).toEqual(['pull', 'push'])
    // Who may not push at all is not told of rules.
    expect((await granted(clientOf(people.reporter), `repository:${path}:pull,push`))[0]!['actions']).toEqual(
      ['pull'],
    )
  })

  test('the strictest of several counts', async () => {
    await protect('/strict*', { minimum_access_level_for_push: 'maintainer' })
    await protect('/strict/*', { minimum_access_level_for_push: 'admin' })
    const path = `${project.path_with_namespace}/strict/web`
    expect((await clientOf(people.maintainer).ask(`repository:${path}:push`)).status).toBe(403)
    expect((await clientOf(world.root).ask(`repository:${path}:push`)).status).toBe(200)
  })

  test('take the right to delete away without a word', async () => {
    await protect('/kept', { minimum_access_level_for_delete: 'owner' })
    const path = `${project.path_with_namespace}/kept`
    const access = await granted(clientOf(people.maintainer), `repository:${path}:pull,delete`)
    expect(access[0]!['actions']).toEqual(['pull'])
  })

  test('for tags go into the token, and are kept to', async () => {
    const place = await world.project()
    const developer = await world.member({ project: place }, 'developer')
    const owner = await world.member({ project: place }, 'owner')
    const tagRules = `/projects/${place.id}/registry/protection/tag/rules`
    await world.root.post(tagRules, {
      tag_name_pattern: '^v\\d+',
      minimum_access_level_for_push: 'maintainer',
      minimum_access_level_for_delete: 'owner',
    })
    await world.root.post(tagRules, { tag_name_pattern: '^fixed$' })
    const path = place.path_with_namespace
    const token = await clientOf(developer).token(`repository:${path}:pull,push`)
    const [access] = claimsOf(token).payload['access'] as Json[]
    expect(access!['meta']).toMatchObject({
      tag_deny_access_patterns: { push: ['^v\\d+'], delete: ['^v\\d+'] },
      tag_immutable_patterns: ['^fixed$'],
    })
    const manifest = await clientOf(developer).pushImage(path, 'free')
    const refused = await clientOf(developer).pushManifest(path, 'v1', manifest)
    expect([refused.status, codeOf(refused)]).toEqual([403, 'DENIED'])
    expect((await clientOf(owner).pushManifest(path, 'v1', manifest)).status).toBe(201)
    expect((await clientOf(owner).pushManifest(path, 'fixed', manifest)).status).toBe(201)
    expect((await clientOf(owner).pushManifest(path, 'fixed', manifest)).status).toBe(201)
    const other = await clientOf(owner).pushImage(path, 'other')
    expect((await clientOf(owner).pushManifest(path, 'fixed', other)).status).toBe(403)
    expect((await clientOf(owner).request('DELETE', path, 'manifests/fixed')).status).toBe(403)
    expect((await clientOf(owner).request('DELETE', path, 'manifests/v1')).status).toBe(202)
  })
})

test('a token that was given ends with what it was given for: the membership, the role, the account', async () => {
  const secret = await world.project()
  const who = await world.member({ project: secret }, 'developer')
  const path = secret.path_with_namespace
  const use = async (token: string): Promise<number> => {
    const answer = await fetch(`${world.url}/v2/${path}/tags/list`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return answer.status
  }
  // What is believed for a moment is not believed longer than a second.
  const soon = () => new Promise((resolve) => setTimeout(resolve, 600))
  const changes: [() => Promise<unknown>, () => Promise<unknown>][] = [
    [
      () => world.root.put(`/projects/${secret.id}/members/${who.id}`, { access_level: 20 }),
      () => world.root.put(`/projects/${secret.id}/members/${who.id}`, { access_level: 30 }),
    ],
    [() => world.root.post(`/users/${who.id}/block`), () => world.root.post(`/users/${who.id}/unblock`)],
    [
      () => world.root.delete(`/projects/${secret.id}/members/${who.id}`),
      () => world.root.post(`/projects/${secret.id}/members`, { user_id: who.id, access_level: 30 }),
    ],
  ]
  for (const [change, back] of changes) {
    const token = await clientOf(who).token(`repository:${path}:pull,push`)
    expect(await use(token)).not.toBe(401)
    await change()
    await soon()
    expect(await use(token)).toBe(401)
    await back()
  }
})
