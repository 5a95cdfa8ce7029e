// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Reply } from '../world/client.ts'
import { Receiver } from '../world/receiver.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const idOf = (thing: Json): number => thing['id'] as number
const flagsOf = (project: Json): string => `/projects/${idOf(project)}/feature_flags`
const listsOf = (project: Json): string => `/projects/${idOf(project)}/feature_flags_user_lists`
const everywhere = { name: 'default', parameters: {}, scopes: [{ environment_scope: '*' }] }
const make = async (project: Json, fields: Json = {}): Promise<Json> =>
  expectStatus(
    await world.root.post(flagsOf(project), {
      name: world.unique('flag'),
      version: 'new_version_flag',
      ...fields,
    }),
    201,
  )

describe('feature flags', () => {
  test('are made, read, listed, changed and deleted', async () => {
    const project = await world.project()
    const rollout = { groupId: 'default', rollout: '25', stickiness: 'userId' }
    const made = await make(project, {
      name: 'awesome_feature',
      description: 'It is',
      strategies: [
        { name: 'default', parameters: {}, scopes: [{ environment_scope: 'production' }] },
        { name: 'flexibleRollout', parameters: rollout, scopes: [{ environment_scope: 'review/*' }] },
      ],
    })
    const id = expect.any(Number) as number
    expect(made).toEqual({
      name: 'awesome_feature',
      description: 'It is',
      active: true,
      version: 'new_version_flag',
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
      scopes: [],
      strategies: [
        {
          id,
          name: 'default',
          parameters: {},
          scopes: [{ id, environment_scope: 'production' }],
          user_list: null,
        },
        {
          id,
          name: 'flexibleRollout',
          parameters: rollout,
          scopes: [{ id, environment_scope: 'review/*' }],
          user_list: null,
        },
      ],
    })
    const off = await make(project, { name: 'off', active: false })
    expect((await world.root.get(flagsOf(project))).body).toEqual([made, off])
    expect((await world.root.get(`${flagsOf(project)}?scope=enabled`)).body).toEqual([made])
    expect((await world.root.get(`${flagsOf(project)}?scope=disabled`)).body).toEqual([off])

    const one = `${flagsOf(project)}/awesome_feature`
    expect((await world.root.get(one)).body).toEqual(made)
    const [first, second] = made['strategies'] as [Json, Json]
    const changed = expectStatus(
      await world.root.put(one, {
        name: 'great_feature',
        active: false,
        strategies: [
          { id: idOf(first), _destroy: true },
          {
            id: idOf(second),
            parameters: { ...rollout, rollout: '50' },
            scopes: [
              { id: idOf((second['scopes'] as Json[])[0]!), environment_scope: 'review/one' },
              { environment_scope: 'staging' },
            ],
          },
          { name: 'userWithId', parameters: { userIds: 'one, two' }, scopes: [{ environment_scope: '*' }] },
        ],
      }),
      200,
    )
    expect(changed).toMatchObject({ name: 'great_feature', description: 'It is', active: false })
    expect(changed['strategies']).toMatchObject([
      {
        id: idOf(second),
        parameters: { rollout: '50' },
        scopes: [
          { id: idOf((second['scopes'] as Json[])[0]!), environment_scope: 'review/one' },
          { environment_scope: 'staging' },
        ],
      },
      { name: 'userWithId', parameters: { userIds: 'one, two' } },
    ])
    expect((await world.root.get(one)).status).toBe(404)
    const renamed = `${flagsOf(project)}/great_feature`
    const staging = ((changed['strategies'] as Json[])[0]!['scopes'] as Json[])[1]!
    const less = { strategies: [{ id: idOf(second), scopes: [{ id: idOf(staging), _destroy: true }] }] }
    const left = expectStatus(await world.root.put(renamed, less), 200)
    expect((left['strategies'] as Json[])[0]!['scopes']).toMatchObject([{ environment_scope: 'review/one' }])
    expectStatus(await world.root.delete(renamed), 200)
    expect((await world.root.get(renamed)).status).toBe(404)
  })

  test.each([
    [{ name: 'Upper' }, 'name'],
    [{ name: 'ends-' }, 'name'],
    [{ name: 'x'.repeat(64) }, 'name'],
    [{ name: 'taken' }, 'name'],
    [{ description: 'x'.repeat(256) }, 'description'],
    [{ strategies: [{ name: 'default', parameters: { a: '1' } }] }, 'strategies.parameters'],
    [
      { strategies: [{ name: 'gradualRolloutUserId', parameters: { groupId: 'a' } }] },
      'strategies.parameters',
    ],
    [
      { strategies: [{ name: 'gradualRolloutUserId', parameters: { groupId: 'a', percentage: '101' } }] },
      'strategies.parameters',
    ],
    [
      { strategies: [{ name: 'gradualRolloutUserId', parameters: { groupId: 'A', percentage: '1' } }] },
      'strategies.parameters',
    ],
    [
      {
        strategies: [
          { name: 'flexibleRollout', parameters: { groupId: 'a', rollout: '1', stickiness: 'luck' } },
        ],
      },
      'strategies.parameters',
    ],
    [{ strategies: [{ name: 'userWithId', parameters: { userIds: 'one,one' } }] }, 'strategies.parameters'],
    [{ strategies: [{ name: 'userWithId', parameters: { userIds: 5 } }] }, 'strategies.parameters'],
    [{ strategies: [{ name: 'gitlabUserList' }] }, 'strategies.user_list'],
    [{ strategies: [{ name: 'gitlabUserList', user_list_id: 1_000_000 }] }, 'strategies.user_list'],
    [{ strategies: [{ name: 'default', user_list_id: 1 }] }, 'strategies.user_list'],
    [
      { strategies: [{ name: 'default', scopes: [{ environment_scope: '' }] }] },
      'strategies.scopes.environment_scope',
    ],
  ])('are refused as %j', async (fields, at) => {
    const project = await world.project()
    await make(project, { name: 'taken' })
    const refused = await world.root.post(flagsOf(project), { name: 'fine', ...fields })
    expect([refused.status, Object.keys(refused.body.message as Json)]).toEqual([400, [at]])
    expect((await world.root.get(flagsOf(project))).body).toHaveLength(1)
  })

  test('that are not there, or of strategies unknown, are refused', async () => {
    const project = await world.project()
    const { name } = await make(project)
    const one = `${flagsOf(project)}/${name as string}`
    expect((await world.root.put(one, { strategies: [{ id: 1_000_000 }] })).status).toBe(404)
    expect((await world.root.post(flagsOf(project), { name: 'x', version: 'legacy_flag' })).status).toBe(400)
    const unknown = { name: 'x', strategies: [{ name: 'remoteAddress' }] }
    expect((await world.root.post(flagsOf(project), unknown)).status).toBe(400)
  })

  test('are at most 200 in a project', async () => {
    const project = await world.project()
    await world.service.services.db.writer
      .insertInto('feature_flags')
      .values(
        Array.from({ length: 200 }, (_, place) => ({
          project_id: idOf(project),
          name: `flag${place}`,
          active: true,
        })),
      )
      .execute()
    const refused = await world.root.post(flagsOf(project), { name: 'one_more' })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { base: ['Maximum number of project feature flags (200) exceeded'] } },
    ])
  })

  test('call webhooks when they are switched on or off, and only then', async () => {
    await using receiver = await Receiver.open()
    const local = { allow_local_requests_from_web_hooks_and_services: true }
    expectStatus(await world.root.put('/application/settings', local), 200)
    const project = await world.project()
    const hook = { url: `${receiver.url}/flags`, push_events: false, feature_flag_events: true }
    expectStatus(await world.root.post(`/projects/${project.id}/hooks`, hook), 201)
    const { name } = await make(project, { description: 'It is' })
    const one = `${flagsOf(project)}/${name as string}`
    expectStatus(await world.root.put(one, { description: 'It was' }), 200)
    expectStatus(await world.root.put(one, { active: false }), 200)
    const { headers, body } = await receiver.next('/flags')
    expect(headers['x-gitlab-event']).toBe('Feature Flag Hook')
    expect(body).toMatchObject({
      object_kind: 'feature_flag',
      project: { id: project.id },
      user: { username: 'root' },
      user_url: `${world.url}/root`,
      object_attributes: { id: expect.any(Number) as number, name, description: 'It was', active: false },
    })
  })
})

describe('user lists', () => {
  test('are made, read, searched, changed and deleted', async () => {
    const project = await world.project()
    const path = listsOf(project)
    const made = expectStatus(await world.root.post(path, { name: 'Testers', user_xids: 'one,two' }), 201)
    expect(made).toEqual({
      id: expect.any(Number) as number,
      iid: 1,
      project_id: project.id,
      name: 'Testers',
      user_xids: 'one,two',
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
    })
    const second = expectStatus(await world.root.post(path, { name: 'Others', user_xids: '' }), 201)
    expect(second['iid']).toBe(2)
    expect((await world.root.get(path)).body).toEqual([made, second])
    expect((await world.root.get(`${path}?search=TEST`)).body).toEqual([made])
    const changed = expectStatus(await world.root.put(`${path}/1`, { user_xids: 'three' }), 200)
    expect(changed).toMatchObject({ name: 'Testers', user_xids: 'three' })
    expect((await world.root.get(`${path}/1`)).body).toEqual(changed)
    for (const fields of [
      { name: 'Testers', user_xids: 'x' },
      { name: '', user_xids: 'x' },
      { name: 'x'.repeat(256), user_xids: 'x' },
      { name: 'Twice', user_xids: 'x,x' },
      { name: 'Holes', user_xids: 'x,,y' },
      { name: 'None' },
    ]) {
      expect([(await world.root.post(path, fields)).status, fields]).toEqual([400, fields])
    }
    expect((await world.root.delete(`${path}/1`)).status).toBe(204)
    expect((await world.root.get(`${path}/1`)).status).toBe(404)
  })

  test('stay as long as a strategy names them', async () => {
    const project = await world.project()
    const path = listsOf(project)
    const list = expectStatus(await world.root.post(path, { name: 'Testers', user_xids: 'one' }), 201)
    const flag = await make(project, {
      strategies: [
        { name: 'gitlabUserList', user_list_id: idOf(list), scopes: [{ environment_scope: '*' }] },
      ],
    })
    expect((flag['strategies'] as Json[])[0]!['user_list']).toEqual({
      id: idOf(list),
      iid: 1,
      name: 'Testers',
      user_xids: 'one',
    })
    const refused = await world.root.delete(`${path}/1`)
    expect([refused.status, refused.body]).toEqual([
      409,
      { message: ['User list is associated with a strategy'] },
    ])
    const elsewhere = await world.project()
    const foreign = { name: 'x', strategies: [{ name: 'gitlabUserList', user_list_id: idOf(list) }] }
    expect((await world.root.post(flagsOf(elsewhere), foreign)).status).toBe(400)
    await world.root.delete(`${flagsOf(project)}/${flag['name'] as string}`)
    expect((await world.root.delete(`${path}/1`)).status).toBe(204)
  })
})

describe('programs', () => {
  interface Program {
    readonly address: string
    readonly token: string
    readonly get: (environment: string, headers?: Record<string, string>) => Promise<Reply>
  }

  async function programOf(project: Made): Promise<Program> {
    const { api_url: address, instance_id: token } = expectStatus(
      await world.root.post(`/projects/${project.id}/feature_flags_client`),
      201,
    ) as { api_url: string; instance_id: string }
    const client = new Client(world.url, { 'unleash-instanceid': token })
    const get: Program['get'] = (environment, headers = {}) =>
      client.get(`${address}/client/features`, { 'unleash-appname': environment, ...headers })
    return { address, token, get }
  }
  const namesIn = ({ body }: Reply): string[] =>
    (body as { features: Json[] }).features.map(({ name }) => name as string)

  test('get the flags of their environment, with the users of lists', async () => {
    const project = await world.project()
    const program = await programOf(project)
    expect(program.token).toMatch(/^glffct-[\w-]{20}$/)
    expect((await world.root.get(`/projects/${project.id}/feature_flags_client`)).body).toEqual({
      api_url: `${world.url}/api/v4/feature_flags/unleash/${project.id}`,
      instance_id: program.token,
    })
    const list = expectStatus(
      await world.root.post(listsOf(project), { name: 'Testers', user_xids: 'one,two' }),
      201,
    )
    await make(project, {
      name: 'listed',
      description: 'It is',
      strategies: [
        { name: 'gitlabUserList', user_list_id: idOf(list), scopes: [{ environment_scope: 'production' }] },
        {
          name: 'gradualRolloutUserId',
          parameters: { groupId: 'default', percentage: '10' },
          scopes: [{ environment_scope: 'staging' }, { environment_scope: 'review/*' }],
        },
      ],
    })
    await make(project, { name: 'off', active: false, strategies: [everywhere] })
    await make(project, { name: 'nowhere' })
    const answer = await program.get('production')
    expect(answer.body).toEqual({
      version: 1,
      features: [
        {
          name: 'listed',
          description: 'It is',
          enabled: true,
          strategies: [{ name: 'userWithId', parameters: { userIds: 'one,two' } }],
        },
        {
          name: 'off',
          description: '',
          enabled: false,
          strategies: [{ name: 'default', parameters: {} }],
        },
      ],
    })
    const review = await program.get('review/one')
    expect((review.body as { features: Json[] }).features[0]!['strategies']).toEqual([
      { name: 'gradualRolloutUserId', parameters: { groupId: 'default', percentage: '10' } },
    ])
    expect(namesIn(await program.get('elsewhere'))).toEqual(['off'])
    const asked = new URLSearchParams({ instance_id: program.token, app_name: 'production' })
    const byQuery = await world.anonymous.get(`${program.address}/features?${asked.toString()}`)
    expect(byQuery.body).toEqual(answer.body)
  })

  test('that ask again are told nothing until something changes', async () => {
    const project = await world.project()
    const program = await programOf(project)
    const { name } = await make(project, { strategies: [everywhere] })
    const first = await program.get('production')
    const etag = first.headers.get('etag')!
    expect((await program.get('production', { 'if-none-match': etag })).status).toBe(304)
    expectStatus(await world.root.put(`${flagsOf(project)}/${name as string}`, { active: false }), 200)
    const next = await program.get('production', { 'if-none-match': etag })
    expect([next.status, (next.body as { features: Json[] }).features[0]!['enabled']]).toEqual([200, false])
  })

  test('tell of themselves', async () => {
    const program = await programOf(await world.project())
    const about = {
      appName: 'production',
      instanceId: program.token,
      strategies: ['default'],
      started: 'now',
    }
    for (const what of ['register', 'metrics']) {
      const path = `${program.address}/client/${what}`
      expect((await world.anonymous.post(path, about)).status).toBe(401)
      const told = await world.anonymous.post(path, about, { 'unleash-instanceid': program.token })
      expect(told.status).toBe(200)
    }
  })

  test('show the token of that project, while it is one', async () => {
    const [one, other] = [await world.project(), await world.project()]
    const [program, foreign] = [await programOf(one), await programOf(other)]
    const ask = async (token: string | undefined): Promise<number> =>
      (
        await world.anonymous.get(
          `${program.address}/client/features`,
          token === undefined ? {} : { 'unleash-instanceid': token },
        )
      ).status
    expect(
      await Promise.all([program.token, foreign.token, world.root.token, '', undefined].map(ask)),
    ).toEqual([200, 401, 401, 401, 401])
    expectStatus(await world.root.put(`/projects/${one.id}`, { feature_flags_access_level: 'disabled' }), 200)
    expect(await ask(program.token)).toBe(401)
    expectStatus(await world.root.put(`/projects/${one.id}`, { feature_flags_access_level: 'private' }), 200)
    expect(await ask(program.token)).toBe(200)
    const renewed = await programOf(one)
    expect([await ask(program.token), await ask(renewed.token)]).toEqual([401, 200])
    const { rows } = await world.service.services.db.writer
      .selectFrom('feature_flag_clients')
      .selectAll()
      .execute()
      .then((rows) => ({ rows }))
    expect(JSON.stringify(rows)).not.toContain(renewed.token.slice('glffct-'.length))
  })
})
