// @module-tag long
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
import { Client } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

async function running(
  config: Json = { test: { script: ['x'] } },
  by = world.root,
): Promise<{ ci: CiProject; job: RawJob }> {
  const ci = await projects.make(config)
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(by)
  return { ci, job: await runner.take() }
}

const getJson = async (path: string): Promise<Json> =>
  (await (await fetch(`${world.url}${path}`)).json()) as Json

describe('identity tokens', () => {
  const idTokens = {
    ID_ONE: { aud: 'https://vault.example.com' },
    ID_TWO: { aud: ['a', '$CI_PROJECT_ID'] },
  }
  const config = {
    test: {
      script: ['x'],
      id_tokens: idTokens,
      timeout: '20 minutes',
      environment: { name: 'production', action: 'verify' },
    },
  }

  test('have a key that is published before the first of them, the same for all who ask', async () => {
    const asked = await Promise.all(Array.from({ length: 4 }, () => getJson('/oauth/discovery/keys')))
    expect((asked[0] as unknown as JSONWebKeySet).keys).toHaveLength(1)
    expect(asked).toEqual(asked.map(() => asked[0]))
  })

  test('are signed with a published key, and say what the job is', async () => {
    const { ci, job } = await running(config)
    const configuration = await getJson('/.well-known/openid-configuration')
    expect(configuration).toMatchObject({
      issuer: world.url,
      jwks_uri: `${world.url}/oauth/discovery/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
    })
    const published = (await getJson('/oauth/discovery/keys')) as unknown as JSONWebKeySet
    expect(published.keys).toHaveLength(1)
    expect(Object.keys(published.keys[0]!).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    const { payload, protectedHeader } = await jwtVerify(
      job.variable('ID_ONE')!,
      createLocalJWKSet(published),
      {
        issuer: world.url,
        audience: 'https://vault.example.com',
      },
    )
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: published.keys[0]!.kid })
    const path = ci.project['path_with_namespace'] as string
    const pipeline = (await world.root.get(`/projects/${ci.id}/jobs/${job.id}`)).body.pipeline as Json
    const namespace = ci.project['namespace'] as Json
    expect(payload).toEqual({
      iss: world.url,
      aud: 'https://vault.example.com',
      sub: `project_path:${path}:ref_type:branch:ref:main`,
      iat: expect.any(Number) as unknown,
      nbf: payload.iat! - 5,
      exp: payload.iat! + 1200,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      namespace_id: String(namespace['id']),
      namespace_path: namespace['full_path'],
      project_id: String(ci.id),
      project_path: path,
      job_project_id: String(ci.id),
      job_project_path: path,
      job_namespace_id: String(namespace['id']),
      job_namespace_path: namespace['full_path'],
      user_id: '1',
      user_login: 'root',
      user_email: expect.stringContaining('@') as unknown,
      user_access_level: 'owner',
      pipeline_id: String(pipeline['id']),
      pipeline_source: 'api',
      job_id: String(job.id),
      job_source: 'api',
      ref: 'main',
      ref_type: 'branch',
      ref_path: 'refs/heads/main',
      ref_protected: 'true',
      environment: 'production',
      environment_protected: 'false',
      deployment_tier: 'production',
      environment_action: 'verify',
      groups_direct: expect.arrayContaining([namespace['full_path']]) as unknown,
      runner_id: expect.any(Number) as unknown,
      runner_environment: 'self-hosted',
      sha: ci.sha,
      project_visibility: 'private',
      ci_config_ref_uri: `${new URL(world.url).host}/${path}//.gitlab-ci.yml@refs/heads/main`,
      ci_config_sha: ci.sha,
    })
    const two = await jwtVerify(job.variable('ID_TWO')!, createLocalJWKSet(published))
    expect(two.payload.aud).toEqual(['a', String(ci.id)])
    const shown = (job.payload['variables'] as Json[]).find(({ key }) => key === 'ID_ONE')
    expect(shown).toMatchObject({ public: false, masked: true })
  })

  test('the private key is kept sealed', async () => {
    const { db } = world.service.services
    const rows = await db.reader.selectFrom('identity_keys').select('secret').execute()
    expect(rows).toHaveLength(1)
    expect(Buffer.from(rows[0]!.secret, 'base64').toString()).not.toContain('PRIVATE KEY')
  })

  test('the subject is composed as the project says', async () => {
    const ci = await projects.make(config)
    const parts = ['ref', 'project_path']
    expectStatus(await world.root.put(`/projects/${ci.id}`, { ci_id_token_sub_claim_components: parts }), 200)
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    const job = await runner.take()
    const claims = JSON.parse(
      Buffer.from(job.variable('ID_ONE')!.split('.')[1]!, 'base64url').toString(),
    ) as Json
    expect(claims['sub']).toBe(`ref:main:project_path:${ci.project['path_with_namespace'] as string}`)
  })
})

describe('who is let in', () => {
  test('jobs of a listed project or group, or all', async () => {
    const { ci, job } = await running()
    const target = await world.project()
    const path = `/projects/${target.id}/job_token_scope`
    const asJob = new Client(world.url, { 'job-token': job.token })
    const reaches = async (): Promise<number> => (await asJob.get(`/projects/${target.id}/pipelines`)).status

    expect((await world.root.get(path)).body).toEqual({ inbound_enabled: true, outbound_enabled: false })
    expect(await reaches()).toBe(404)
    expect((await asJob.get(`/projects/${ci.id}/pipelines`)).status).toBe(200)

    const added = await world.root.post(`${path}/allowlist`, { target_project_id: ci.id })
    expect([added.status, added.body]).toEqual([
      201,
      { source_project_id: target.id, target_project_id: ci.id },
    ])
    expect(await reaches()).toBe(200)
    const again = await world.root.post(`${path}/allowlist`, { target_project_id: ci.id })
    expect([again.status, again.body]).toEqual([
      400,
      { message: '400 Bad request - Target project is already in the job token scope' },
    ])
    const listed = (await world.root.get(`${path}/allowlist`)).body as Json[]
    expect(listed.map(({ id }) => id as number).sort((a, b) => a - b)).toEqual(
      [ci.id, target.id].sort((a, b) => a - b),
    )
    expect((await world.root.delete(`${path}/allowlist/${ci.id}`)).status).toBe(204)
    expect(await reaches()).toBe(404)
    expect((await world.root.delete(`${path}/allowlist/${ci.id}`)).body).toEqual({
      message: '400 Bad request - Target project is not in the job token scope',
    })

    const group = (ci.project['namespace'] as Json)['id'] as number
    const grouped = await world.root.post(`${path}/groups_allowlist`, { target_group_id: group })
    expect([grouped.status, grouped.body]).toEqual([
      201,
      { source_project_id: target.id, target_group_id: group },
    ])
    expect(await reaches()).toBe(200)
    expect((await world.root.get(`${path}/groups_allowlist`)).body).toMatchObject([{ id: group }])
    expect((await world.root.delete(`${path}/groups_allowlist/${group}`)).status).toBe(204)
    expect(await reaches()).toBe(404)

    expect((await world.root.patch(path, { enabled: false })).status).toBe(204)
    expect((await world.root.get(path)).body.inbound_enabled).toBe(false)
    expect(await reaches()).toBe(200)
  })

  test('a job does no more than its user may', async () => {
    const target = await world.project()
    expectStatus(await world.root.patch(`/projects/${target.id}/job_token_scope`, { enabled: false }), 204)
    const ci = await projects.make({ test: { script: ['x'] } })
    const maintainer = await world.member(ci, 'maintainer')
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(maintainer)
    const job = await runner.take()
    const asJob = new Client(world.url, { 'job-token': job.token })
    expect((await asJob.get(`/projects/${target.id}/pipelines`)).status).toBe(404)
  })

  test('what is not there cannot be listed', async () => {
    const target = await world.project()
    const path = `/projects/${target.id}/job_token_scope`
    const project = await world.root.post(`${path}/allowlist`, { target_project_id: 99_999_999 })
    expect([project.status, project.body]).toEqual([
      404,
      { message: '404 target_project_id not found Not Found' },
    ])
    const group = await world.root.post(`${path}/groups_allowlist`, { target_group_id: 99_999_999 })
    expect(group.status).toBe(404)
    expect((await world.root.patch(path, {})).body).toEqual({ error: 'enabled is missing' })
  })
})
