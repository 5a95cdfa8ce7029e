// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { oneJob, Triggers } from '../world/triggers.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let triggers: Triggers
beforeAll(async () => {
  world = await startWorld()
  triggers = await Triggers.open(world)
})
afterAll(async () => {
  await triggers[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const answer = ({ status, body }: Reply): unknown[] => [status, body]
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

async function variablesOf(ci: CiProject, pipeline: Json): Promise<Json[]> {
  return rowsOf(await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/variables`))
}

async function payloadOf(ci: CiProject, pipeline: Json): Promise<unknown> {
  const all = await variablesOf(ci, pipeline)
  return JSON.parse(all.find(({ key }) => key === 'TRIGGER_PAYLOAD')!['value'] as string)
}

describe('firing', () => {
  test("answers the pipeline, which is the owner's", async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const pipeline = expectStatus(await triggers.fire(ci, { token, ref: 'main' }), 201)
    expect(pipeline).toMatchObject({
      project_id: ci.id,
      sha: ci.sha,
      ref: 'main',
      tag: false,
      status: 'pending',
      source: 'trigger',
      user: { id: maintainer.id },
      yaml_errors: null,
    })
    const { name, ...shown } = bodyOf(
      await maintainer.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}`),
    )
    expect([shown, name]).toEqual([pipeline, null])
  })

  test.each<[string, (token: string) => [string, unknown]]>([
    ['JSON', (token) => ['', { token, ref: 'main', variables: { A: 'x', B: '' } }]],
    [
      'a form',
      (token) => ['', new URLSearchParams({ token, ref: 'main', 'variables[A]': 'x', 'variables[B]': '' })],
    ],
    [
      'a multipart form',
      (token) => {
        const form = new FormData()
        for (const [key, value] of [
          ['token', token],
          ['ref', 'main'],
          ['variables[A]', 'x'],
          ['variables[B]', ''],
        ])
          form.append(key!, value!)
        return ['', form]
      },
    ],
    ['the query', (token) => [`?token=${token}&ref=main&variables[A]=x&variables[B]=`, undefined]],
  ])('takes the parameters from %s', async (_, request) => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const [query, body] = request(token)
    const reply = await world.anonymous.post(`/projects/${ci.id}/trigger/pipeline${query}`, body)
    const pipeline = expectStatus(reply, 201)
    expect(await variablesOf(ci, pipeline)).toEqual([
      { variable_type: 'env_var', key: 'A', value: 'x', raw: false },
      { variable_type: 'env_var', key: 'B', value: '', raw: false },
      {
        variable_type: 'file',
        key: 'TRIGGER_PAYLOAD',
        value: JSON.stringify({ ref: 'main', id: String(ci.id), variables: { A: 'x', B: '' } }),
        raw: true,
      },
    ])
  })

  test('takes the ref of the path, and the path of the project', async () => {
    const { ci, path, maintainer } = await triggers.place()
    await ci.push({ 'more.txt': 'x' }, { to: 'feature/1', options: ['ci.skip'] })
    const { token } = await triggers.make(maintainer, path)
    const full = encodeURIComponent(ci.project['path_with_namespace'] as string)
    const reply = await world.anonymous.post(
      `/projects/${full}/ref/feature%2F1/trigger/pipeline?token=${token}`,
      { ref: 'main', object_kind: 'push' },
    )
    const pipeline = expectStatus(reply, 201)
    expect(pipeline['ref']).toBe('feature/1')
    expect(await payloadOf(ci, pipeline)).toEqual({
      ref: 'feature/1',
      object_kind: 'push',
      id: ci.project['path_with_namespace'] as string,
      variables: {},
    })
  })

  test('hands on what it was sent, but no credentials', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const hook = { object_kind: 'issue', changes: [{ a: 1, b: null }], private_token: 'x', job_token: 'y' }
    const pipeline = expectStatus(await triggers.fire(ci, { token, ref: 'main', ...hook }), 201)
    expect(await payloadOf(ci, pipeline)).toEqual({
      ref: 'main',
      object_kind: 'issue',
      changes: [{ a: 1, b: null }],
      id: String(ci.id),
      variables: {},
    })
  })

  test('asks for no other credentials, nor looks at any', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const headers = { 'private-token': 'glpat-nobody-has-this-one' }
    expect((await triggers.fire(ci, { token, ref: 'main' }, world.anonymous, headers)).status).toBe(201)
  })

  test('gives jobs their variables', async () => {
    const { ci, path, maintainer } = await triggers.place({
      test: { script: ['x'], rules: [{ if: '$CI_PIPELINE_TRIGGERED && $CI_PIPELINE_SOURCE == "trigger"' }] },
      given: { script: ['x'], rules: [{ if: '$FLAVOUR == "sweet"' }] },
    })
    const { token } = await triggers.make(maintainer, path)
    expectStatus(await triggers.fire(ci, { token, ref: 'main', variables: { FLAVOUR: 'sweet' } }), 201)
    const runner = await RawRunner.forProject(world, ci.project)
    const jobs: RawJob[] = [await runner.take(), await runner.take()]
    for (const job of jobs) {
      expect(
        [
          'FLAVOUR',
          'CI_PIPELINE_SOURCE',
          'CI_PIPELINE_TRIGGERED',
          'CI_TRIGGER_SHORT_TOKEN',
          'GITLAB_USER_LOGIN',
        ].map((key) => job.variable(key)),
      ).toEqual(['sweet', 'trigger', 'true', token.slice(6, 10), maintainer.username])
      const payload = (job.payload['variables'] as Json[]).find(({ key }) => key === 'TRIGGER_PAYLOAD')
      expect(payload).toMatchObject({ file: true, raw: true })
      expect(JSON.parse(payload!['value'] as string)).toEqual({
        ref: 'main',
        id: String(ci.id),
        variables: { FLAVOUR: 'sweet' },
      })
    }
  })

  test('heeds no skip marker', async () => {
    const { ci, path, maintainer } = await triggers.place()
    await ci.push({ 'more.txt': 'x' }, { message: 'More [ci skip]', options: ['ci.skip'] })
    const { token } = await triggers.make(maintainer, path)
    expect(expectStatus(await triggers.fire(ci, { token, ref: 'main' }), 201)['status']).toBe('pending')
  })
})

describe('firing is refused', () => {
  const missing = [404, { message: '404 Not Found' }]

  test.each<[string, (token: string) => unknown, number, Json]>([
    ['without a token', () => ({ ref: 'main' }), 400, { error: 'token is missing' }],
    ['without a ref', (token) => ({ token }), 400, { error: 'ref is missing' }],
    ['without both', () => ({}), 400, { error: 'ref is missing, token is missing' }],
    ['with a blank ref', (token) => ({ token, ref: ' ' }), 400, { error: 'ref is empty' }],
    [
      'with variables that are no hash',
      (token) => ({ token, ref: 'main', variables: 'x' }),
      400,
      { error: 'variables is invalid' },
    ],
    ...[1, null, true, { b: 'c' }, ['c']].map((value): [string, (token: string) => unknown, number, Json] => [
      `with the variable ${JSON.stringify(value)}`,
      (token) => ({ token, ref: 'main', variables: { A: value } }),
      400,
      { message: 'variables needs to be a map of key-valued strings' },
    ]),
    [
      'on a ref that is not there',
      (token) => ({ token, ref: 'nowhere' }),
      400,
      { message: { base: ['Reference not found'] } },
    ],
    [
      'with a variable of a wrong name',
      (token) => ({ token, ref: 'main', variables: { 'A-B': 'x' } }),
      400,
      { message: { base: ["Variable key can contain only letters, digits and '_'."] } },
    ],
    [
      'with a payload that is not ours',
      (token) => ({ token, ref: 'main', variables: { TRIGGER_PAYLOAD: 'x' } }),
      400,
      { message: { base: ['Duplicate variable name: TRIGGER_PAYLOAD'] } },
    ],
  ])('%s', async (_, body, status, refusal) => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    expect(answer(await triggers.fire(ci, body(token)))).toEqual([status, refusal])
    expect((await maintainer.get(`/projects/${ci.id}/pipelines?source=trigger`)).body).toEqual([])
  })

  test('alike for all that is not there or not to be known', async () => {
    const [first, second] = [await triggers.place(), await triggers.place()]
    const { token } = await triggers.make(first.maintainer, first.path)
    const body = { token, ref: 'main' }
    expect(answer(await triggers.fire(second.ci, body))).toEqual(missing)
    expect(answer(await triggers.fire(first.ci, { ...body, token: 'glptt-nobody-has-this' }))).toEqual(
      missing,
    )
    expect(answer(await triggers.fire(first.ci, { ...body, token: token.slice(6) }))).toEqual(missing)
    expect(answer(await triggers.fire(first.ci, { ...body, token: '' }))).toEqual(missing)
    expect(answer(await world.anonymous.post('/projects/999999999/trigger/pipeline', body))).toEqual(missing)
    expect(answer(await world.anonymous.post('/projects/no%2Fwhere/trigger/pipeline', body))).toEqual(missing)
    // Somebody's own token is none of these.
    expect(answer(await triggers.fire(first.ci, { ...body, token: first.maintainer.token }))).toEqual(missing)
  })

  test('once the token has ended', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { id, token } = await triggers.make(maintainer, path, { expires_at: day(1) })
    expect((await triggers.fire(ci, { token, ref: 'main' })).status).toBe(201)
    await sql`update ci_triggers set expires_at = now() where id = ${id}`.execute(
      world.service.services.db.writer,
    )
    expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual(missing)
  })

  test('and once it ended a month ago it is gone', async () => {
    const { path, maintainer } = await triggers.place()
    const ids = [(await triggers.make(maintainer, path)).id, (await triggers.make(maintainer, path)).id]
    const { db } = world.service.services
    await sql`
      update ci_triggers set expires_at = now() - case id when ${ids[0]} then interval '29 days' else interval '31 days' end
      where id = any (${ids}::bigint[])`.execute(db.writer)
    await sql`select graphile_worker.add_job('triggers:remove-ended')`.execute(db.writer)
    const left = await until(
      async () => rowsOf(await maintainer.get(path)),
      ({ length }) => length < 2,
    )
    expect(left).toMatchObject([{ id: ids[0] }])
  })

  test('once the owner is blocked, left a private project, or is gone', async () => {
    const { ci, path } = await triggers.place()
    const people = await Promise.all([0, 1, 2].map(() => world.member({ project: ci.project }, 'maintainer')))
    const tokens: string[] = []
    for (const person of people) tokens.push((await triggers.make(person, path)).token)
    const [blocked, left, gone] = people as [Person, Person, Person]
    expectStatus(await world.root.post(`/users/${blocked.id}/block`), 201)
    expect((await world.root.delete(`/projects/${ci.id}/members/${left.id}`)).status).toBe(204)
    expect((await world.root.delete(`/users/${gone.id}`)).status).toBe(204)
    await sql`delete from users where id = ${gone.id}`.execute(world.service.services.db.writer)
    for (const token of tokens)
      expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual(missing)
    const shown = rowsOf(await world.root.get(path))
    expect(shown.map(({ owner }) => (owner as Json | null)?.['username'] as string | undefined)).toEqual([
      blocked.username,
      left.username,
      undefined,
    ])
  })

  test('with less than the rights that the run needs', async () => {
    const { ci, path } = await triggers.place(oneJob, { visibility: 'public' })
    const person = await world.member({ project: ci.project }, 'maintainer')
    const { token } = await triggers.make(person, path)
    const member = `/projects/${ci.id}/members/${person.id}`
    const refusal = (text: string) => [400, { message: { base: [text] } }]
    expectStatus(await world.root.put(member, { access_level: 30 }), 200)
    expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual(
      refusal(
        "You do not have sufficient permission to run a pipeline on 'main'. " +
          'Please select a different branch or contact your administrator for assistance.',
      ),
    )
    expectStatus(await world.root.put(member, { access_level: 20 }), 200)
    expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual(
      refusal('Insufficient permissions to create a new pipeline'),
    )
    expectStatus(await world.root.put(`/projects/${ci.id}`, { builds_access_level: 'disabled' }), 200)
    expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual(
      refusal('Pipelines are disabled!'),
    )
  })

  test('where the project is being made of an archive, or waits for its end', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const texts = [
      [sql`import_status = 'started'`, 'You cannot run pipelines before project import is complete.'],
      [sql`import_status = 'none', marked_for_deletion_at = now()`, 'Project is deleted!'],
    ] as const
    for (const [state, text] of texts) {
      await sql`update projects set ${state} where id = ${ci.id}`.execute(world.service.services.db.writer)
      expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual([
        400,
        { message: { base: [text] } },
      ])
    }
  })

  test('variables, where nobody may give them; but not the payload', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const setting = { ci_pipeline_variables_minimum_override_role: 'no_one_allowed' }
    expectStatus(await world.root.put(`/projects/${ci.id}`, setting), 200)
    expect(answer(await triggers.fire(ci, { token, ref: 'main', variables: { A: 'x' } }))).toEqual([
      400,
      { message: { base: ['Insufficient permissions to set pipeline variables'] } },
    ])
    const pipeline = expectStatus(await triggers.fire(ci, { token, ref: 'main' }), 201)
    expect((await variablesOf(ci, pipeline)).map(({ key }) => key as string)).toEqual(['TRIGGER_PAYLOAD'])
  })

  test.each([
    ['workflow: {rules: [{when: never}]}\njob: {script: x}\n', /^The pipeline did not run\./],
    ['job: {script: x, rules: [{when: never}]}\n', /^The resulting pipeline would have been empty\./],
  ])('where %j leaves nothing to run; nothing is stored', async (config, text) => {
    const { ci, path, maintainer } = await triggers.place(config)
    const { token } = await triggers.make(maintainer, path)
    const reply = await triggers.fire(ci, { token, ref: 'main' })
    expect(answer(reply)).toEqual([400, { message: { base: [expect.stringMatching(text)] } }])
    expect((await maintainer.get(`/projects/${ci.id}/pipelines?source=trigger`)).body).toEqual([])
  })

  test('where there is no configuration', async () => {
    const { ci, path, maintainer } = await triggers.place()
    expectStatus(await world.root.put(`/projects/${ci.id}`, { ci_config_path: 'none.yml' }), 200)
    const { token } = await triggers.make(maintainer, path)
    expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual([
      400,
      { message: { base: ['Missing CI config file'] } },
    ])
  })

  test('where the configuration is wrong; a failed pipeline tells why', async () => {
    const { ci, path, maintainer } = await triggers.place('job:\n  stage: nowhere\n  script: x\n')
    const made = await triggers.make(maintainer, path)
    const text =
      'job job: chosen stage nowhere does not exist; available stages are .pre, build, test, deploy, .post'
    expect(answer(await triggers.fire(ci, { token: made.token, ref: 'main' }))).toEqual([
      422,
      { message: { base: [text] } },
    ])
    const [pipeline] = rowsOf(await maintainer.get(`/projects/${ci.id}/pipelines?source=trigger`))
    expect(pipeline).toMatchObject({ status: 'failed', source: 'trigger' })
    const shown = bodyOf(await maintainer.get(`/projects/${ci.id}/pipelines/${pipeline!['id'] as number}`))
    expect([shown['yaml_errors'], shown['user']]).toMatchObject([text, { id: maintainer.id }])
  })

  test('by our own hook about pipelines, whatever the token', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const hook = (event: string) => ({ 'x-gitlab-event': event })
    for (const value of [token, 'other']) {
      const reply = await triggers.fire(
        ci,
        { token: value, ref: 'main' },
        world.anonymous,
        hook('Pipeline Hook'),
      )
      expect(answer(reply)).toEqual([403, { message: '403 Forbidden' }])
    }
    expect((await triggers.fire(ci, { ref: 'main' }, world.anonymous, hook('Pipeline Hook'))).status).toBe(
      400,
    )
    expect((await triggers.fire(ci, { token, ref: 'main' }, world.anonymous, hook('Push Hook'))).status).toBe(
      201,
    )
  })

  test('where the project has moved, once the token is known to be its own', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const old = encodeURIComponent(ci.project['path_with_namespace'] as string)
    expectStatus(await world.root.put(`/projects/${ci.id}`, { path: world.unique('moved') }), 200)
    const body = { token, ref: 'main' }
    expect(answer(await world.anonymous.post(`/projects/${old}/trigger/pipeline`, body))).toEqual([
      405,
      { message: 'Non GET methods are not allowed for moved projects' },
    ])
    const unknown = { ...body, token: 'x' }
    expect(answer(await world.anonymous.post(`/projects/${old}/trigger/pipeline`, unknown))).toEqual(missing)
  })
})

describe('with the token of a job', () => {
  async function letIn(project: CiProject, { id }: CiProject): Promise<void> {
    const path = `/projects/${project.id}/job_token_scope/allowlist`
    expectStatus(await world.root.post(path, { target_project_id: id }), 201)
  }

  /** A running job of somebody's pipeline. */
  async function running(by: Person, ci: CiProject): Promise<RawJob> {
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(by)
    return runner.take()
  }

  test('a pipeline of the same project starts, in the name of who started the job', async () => {
    const { ci, maintainer } = await triggers.place()
    const job = await running(maintainer, ci)
    const pipeline = expectStatus(
      await triggers.fire(ci, { token: job.token, ref: 'main', variables: { A: 'x' } }),
      201,
    )
    expect(pipeline).toMatchObject({ source: 'pipeline', user: { id: maintainer.id } })
    expect((await variablesOf(ci, pipeline)).map(({ key }) => key as string)).toEqual([
      'A',
      'TRIGGER_PAYLOAD',
    ])
  })

  test('one of another project, which lets the job in, is linked to the job', async () => {
    const upstream = await triggers.place()
    const downstream = await triggers.place(
      {
        test: { script: ['x'], rules: [{ if: '$CI_UPSTREAM_PIPELINE_ID' }] },
        triggered: { script: ['x'], rules: [{ if: '$CI_PIPELINE_TRIGGERED' }] },
      },
      { visibility: 'private' },
    )
    await letIn(downstream.ci, upstream.ci)
    const { maintainer } = upstream
    const fields = { user_id: maintainer.id, access_level: 40 }
    expectStatus(await world.root.post(`/projects/${downstream.ci.id}/members`, fields), 201)
    const job = await running(maintainer, upstream.ci)
    expectStatus(await triggers.fire(downstream.ci, { token: job.token, ref: 'main' }), 201)
    const taken = await (await RawRunner.forProject(world, downstream.ci.project)).take()
    expect(
      [
        'CI_JOB_NAME',
        'CI_PIPELINE_SOURCE',
        'CI_UPSTREAM_JOB_ID',
        'CI_UPSTREAM_PIPELINE_ID',
        'CI_UPSTREAM_PROJECT_ID',
        'CI_TRIGGER_SHORT_TOKEN',
      ].map((key) => taken.variable(key)),
    ).toEqual([
      'test',
      'pipeline',
      String(job.id),
      job.variable('CI_PIPELINE_ID'),
      String(upstream.ci.id),
      undefined,
    ])
  })

  test('one that does not let the job in is not to be found where it is private, and refuses else', async () => {
    const { ci, maintainer } = await triggers.place()
    const [shut, open] = [await triggers.place(), await triggers.place(oneJob, { visibility: 'public' })]
    for (const { ci: other } of [shut, open]) {
      const fields = { user_id: maintainer.id, access_level: 40 }
      expectStatus(await world.root.post(`/projects/${other.id}/members`, fields), 201)
    }
    const job = await running(maintainer, ci)
    const body = { token: job.token, ref: 'main' }
    expect(answer(await triggers.fire(shut.ci, body))).toEqual([404, { message: '404 Not Found' }])
    expect(answer(await triggers.fire(open.ci, body))).toEqual([403, { message: '403 Forbidden' }])
    const path = `/projects/${open.ci.id}/job_token_scope`
    expectStatus(await world.root.patch(path, { enabled: false }), 204)
    expectStatus(await triggers.fire(open.ci, body), 201)
  })

  test('the job does no more than its user may', async () => {
    const { ci, maintainer } = await triggers.place()
    const other = await triggers.place(oneJob, { visibility: 'public' })
    await letIn(other.ci, ci)
    const job = await running(maintainer, ci)
    expect(answer(await triggers.fire(other.ci, { token: job.token, ref: 'main' }))).toEqual([
      400,
      { message: { base: ['Insufficient permissions to create a new pipeline'] } },
    ])
  })

  test('which carries a trigger token, nothing is linked', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const job = await running(maintainer, ci)
    const reply = await triggers.fire(ci, { token, ref: 'main' }, world.anonymous, { 'job-token': job.token })
    const pipeline = expectStatus(reply, 201)
    const { rows } = await sql<{ source: string; source_job_id: number | null }>`
      select p.source, p.source_job_id from ci_pipelines p where p.id = ${pipeline['id'] as number}`.execute(
      world.service.services.db.reader,
    )
    expect(rows).toEqual([{ source: 'trigger', source_job_id: null }])
  })

  test('the job has to be running', async () => {
    const { ci, maintainer } = await triggers.place()
    const job = await running(maintainer, ci)
    const body = { token: job.token, ref: 'main' }
    await job.end('success')
    expect(answer(await triggers.fire(ci, body))).toEqual([401, { message: 'Job is not running' }])
    expectStatus(await maintainer.post(`/projects/${ci.id}/jobs/${job.id}/erase`), 201)
    expect(answer(await triggers.fire(ci, body))).toEqual([401, { message: 'Job has been erased!' }])
  })
})
