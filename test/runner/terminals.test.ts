// @module-tag long
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Person } from '../world/client.ts'
import { SessionServer } from '../world/session-server.ts'
import { base64, binary, OpenTerminal } from '../world/terminal.ts'
import { expectStatus, roles, startWorld, type Json, type World } from '../world/world.ts'
import { CiProjects, until, type CiProject } from './ci-project.ts'
import { RawJob, RawRunner } from './raw-runner.ts'

let world: World
let projects: CiProjects
let server: SessionServer
let ci: CiProject
let runner: RawRunner
let developer: Person
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
  server = await SessionServer.start()
  await settings({ allow_local_requests_from_web_hooks_and_services: true })
  ci = await projects.make({ shell: { script: ['make'] } })
  await ci.push({ 'README.md': 'On a branch.\n' }, { to: 'work', options: ['ci.skip'] })
  runner = await RawRunner.forProject(world, ci.project)
  developer = await world.member({ project: ci.project }, 'developer')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})
beforeEach(() => {
  server.speaks = [binary]
  server.refusal = undefined
})

async function settings(values: Json): Promise<void> {
  expectStatus(await world.root.put('/application/settings', values), 200)
}

/** A job that somebody started, in the hands of a runner that announced this. */
async function running(
  person: Person = developer,
  announced: Json = server.announced,
  ref = 'work',
): Promise<RawJob> {
  await ci.run(person, { ref })
  const reply = await runner.ask(announced)
  expect(reply.status, reply.text).toBe(201)
  return new RawJob(world.anonymous, reply.body as Json)
}

const pathOf = ({ id }: { id: number }): string =>
  `/${ci.project['path_with_namespace']}/-/jobs/${id}/terminal.ws`

function open(job: { id: number }, as: Person = developer, protocols?: string[]): Promise<OpenTerminal> {
  return OpenTerminal.open(world.url + pathOf(job), as.headers, protocols)
}

/** The refusal that somebody gets. */
async function refusal(job: { id: number }, headers: Readonly<Record<string, string>>): Promise<string> {
  return OpenTerminal.open(world.url + pathOf(job), headers).then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  )
}

/** Nobody is left at the runner. */
async function noneOpen(): Promise<void> {
  await until(
    async () => server.open.length,
    (left) => left === 0,
  )
}

test('whoever started a job types into it, and sees what it says', async () => {
  const job = await running()
  const terminal = await open(job)
  await terminal.sees('ready$ ')
  terminal.type('échó 1\n')
  await terminal.sees('you said: échó 1\n')
  expect(server.open).toHaveLength(1)
  terminal.socket.close()
  await noneOpen()
  await job.end('success')
})

test.each([
  [base64, binary],
  [binary, base64],
  [base64, base64],
])('a user who speaks %s and a runner that speaks %s understand each other', async (ours, theirs) => {
  server.speaks = [theirs]
  const job = await running()
  const terminal = await open(job, developer, ['other.example.com', ours])
  expect(terminal.socket.protocol).toBe(ours)
  await terminal.sees('ready$ ')
  terminal.type('\u0003 ü\n')
  await terminal.sees('you said: \u0003 ü\n')
  expect(server.open[0]!.socket.protocol).toBe(theirs)
  terminal.socket.close()
  await job.end('success')
})

test('the job says whether it has a terminal, and to whoever may use it where', async () => {
  const shown = async (job: { id: number }, person: Person): Promise<Json> => {
    const { has_terminal, terminal_path } = expectStatus(
      await person.get(`/projects/${ci.id}/jobs/${job.id}`),
      200,
    )
    return { has_terminal, terminal_path }
  }
  const plain = await running(developer, {})
  expect(await shown(plain, developer)).toEqual({})
  await plain.end('success')
  const job = await running()
  expect(job.payload['runner_info']).toMatchObject({ runner_session_url: server.session.url })
  expect(await shown(job, developer)).toEqual({ has_terminal: true, terminal_path: pathOf(job) })
  expect(await shown(job, world.root)).toEqual({ has_terminal: true })
  await job.end('success')
  expect(await shown(job, developer)).toEqual({})
})

test('what a runner announces is kept encrypted, for as long as the job runs', async () => {
  const kept = async (id: number): Promise<string[]> => {
    const { reader } = world.service.services.db
    const { rows } = await sql<{ secret: string }>`
      select s.secret from ci_job_sessions s where s.job_id = ${id}`.execute(reader)
    return rows.map(({ secret }) => secret)
  }
  const endings: ((job: RawJob) => Promise<unknown>)[] = [
    (job) => job.end('success'),
    (job) => job.end('failed'),
    async ({ id }) =>
      expectStatus(await world.root.delete(`/projects/${ci.id}/pipelines/${await pipelineOf(id)}`), 204),
  ]
  for (const end of endings) {
    const job = await running()
    const [secret = ''] = await kept(job.id)
    expect(secret.length).toBeGreaterThan(100)
    for (const part of Object.values(server.session)) {
      expect(Buffer.from(secret, 'base64').toString('latin1')).not.toContain(part)
    }
    await end(job)
    expect(await kept(job.id)).toEqual([])
  }
})

async function pipelineOf(job: number): Promise<number> {
  return expectStatus(await world.root.get(`/projects/${ci.id}/jobs/${job}`), 200)['pipeline'].id as number
}

test('nobody else gets in, whatever his role', async () => {
  const job = await running()
  const others = await Promise.all(
    (['owner', 'reporter'] as const).map((role) => world.member({ project: ci.project }, role)),
  )
  for (const { headers } of [world.root, ...others]) expect(await refusal(job, headers)).toMatch(/^403 /)
  expect(await refusal(job, {})).toMatch(/^401 /)
  expect(await refusal(job, { 'private-token': 'glpat-nobody' })).toMatch(/^401 /)
  expect(await refusal(job, (await world.user()).headers)).toMatch(/^404 .*Project Not Found/)
  expect(await refusal(job, { 'job-token': job.token })).toMatch(/^403 /)
  const readOnly = await world.token(developer.id, ['read_api'])
  expect(await refusal(job, { 'private-token': readOnly })).toMatch(/^403 .*insufficient_scope/)
  expect(await refusal({ id: job.id + 1_000_000 }, developer.headers)).toMatch(/^404 /)
  await noneOpen()
  await job.end('success')
  expect(await refusal(job, developer.headers)).toMatch(/^404 .*Terminal Not Found/)
})

test('a job on a protected branch is for those who may run it there', async () => {
  const person = await world.member({ project: ci.project }, 'maintainer')
  const job = await running(person, server.announced, 'main')
  await (await open(job, person)).sees('ready$ ')
  const member = `/projects/${ci.id}/members/${person.id}`
  expectStatus(await world.root.put(member, { access_level: roles.developer }), 200)
  expect(await refusal(job, person.headers)).toMatch(/^403 /)
  await job.end('success')
})

test('the session of a browser counts on pages of the service only', async () => {
  const password = 'correct horse battery staple'
  const person = await world.user({ force_random_password: undefined, password })
  expectStatus(
    await world.root.post(`/projects/${ci.id}/members`, {
      user_id: person.id,
      access_level: roles.developer,
    }),
    201,
  )
  const answer = await fetch(`${world.url}/users/sign_in`, {
    method: 'POST',
    body: new URLSearchParams({ 'user[login]': person.username, 'user[password]': password }),
  })
  const cookie = answer.headers.get('set-cookie')!.split(';', 1)[0]!
  await answer.text()
  const job = await running(person)
  const address = world.url + pathOf(job)
  expect(await refusal(job, { cookie })).toMatch(/^403 /)
  expect(await refusal(job, { cookie, origin: 'https://evil.example.com' })).toMatch(/^403 /)
  expect(await refusal(job, { cookie, origin: world.url, 'sec-fetch-site': 'same-site' })).toMatch(/^403 /)
  const terminal = await OpenTerminal.open(address, { cookie, origin: world.url })
  await terminal.sees('ready$ ')
  terminal.socket.close()
  await job.end('success')
})

test('what is no WebSocket, or speaks something else, is a bad request', async () => {
  const job = await running()
  const plain = await fetch(world.url + pathOf(job), { headers: developer.headers })
  expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining('WebSocket')])
  await expect(open(job, developer, ['other.example.com'])).rejects.toThrow(/^400 /)
  await expect(open(job, developer, [])).rejects.toThrow(/^400 /)
  // Addresses that have none answer as they do without it.
  await expect(OpenTerminal.open(`${world.url}/api/v4/version`, developer.headers, [binary])).rejects.toThrow(
    /^200 .*version/,
  )
  await job.end('success')
})

test('an offer of another protocol is not taken up', async () => {
  const sent = request(`${world.url}/api/v4/version`, {
    headers: {
      ...developer.headers,
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': '',
    },
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers.connection, await text(response)]).toEqual([
    200,
    'keep-alive',
    expect.stringContaining('version'),
  ])
})

test('runners that cannot be reached, or are others than they said, give no terminal', async () => {
  await using other = await SessionServer.start('localhost')
  const { session } = server
  const wrong: [Json, RegExp][] = [
    [{ ...session, authorization: 'another' }, /^503 /],
    [{ ...session, certificate: other.session.certificate }, /^503 /],
    [{ ...session, certificate: undefined }, /^503 /],
    // The certificate is for another name.
    [{ ...other.session }, /^503 /],
    [{ ...session, url: 'https://127.0.0.1:1/session/x' }, /^503 /],
  ]
  for (const [changed, expected] of wrong) {
    const job = await running(developer, { session: changed })
    expect(await refusal(job, developer.headers), JSON.stringify(changed)).toMatch(expected)
    await job.end('success')
  }
  const job = await running()
  server.refusal = '423 Locked'
  expect(await refusal(job, developer.headers)).toMatch(/^409 .*Another terminal/)
  server.refusal = undefined
  await settings({ allow_local_requests_from_web_hooks_and_services: false })
  expect(await refusal(job, developer.headers)).toMatch(/^422 .*localhost are not allowed/)
  await settings({ allow_local_requests_from_web_hooks_and_services: true })
  await job.end('success')
  await noneOpen()
})

test('who goes away while the runner makes him wait leaves nothing behind', async () => {
  const job = await running()
  server.holds = true
  const socket = new WebSocket(world.url.replace('http', 'ws') + pathOf(job), [binary], {
    headers: developer.headers,
  })
  socket.on('error', () => undefined)
  await until(
    async () => server.waiting.length,
    (waiting) => waiting === 1,
  )
  socket.terminate()
  const [atRunner] = server.waiting
  // To hear of the end it has to be read to there.
  atRunner!.resume().on('error', () => undefined)
  if (!atRunner!.closed) await once(atRunner!, 'close')
  server.holds = false
  await (await open(job)).sees('ready$ ')
  await job.end('success')
  // Left alone, the service would wait for the runner for longer than this.
}, 60_000)

test('what a runner cannot mean by a session is a bad request, and takes no job', async () => {
  await ci.run(developer, { ref: 'work' })
  const { session } = server
  for (const wrong of [
    'text',
    7,
    [session],
    { ...session, url: 'http://127.0.0.1/session/x' },
    { ...session, url: 'nowhere' },
    { ...session, url: 7 },
    { ...session, certificate: 'none' },
    { ...session, certificate: { a: 1 } },
    { ...session, authorization: 'two\r\nlines: 1' },
  ]) {
    expect((await runner.ask({ session: wrong })).status, JSON.stringify(wrong)).toBe(400)
  }
  const reply = await runner.ask({ session: { url: '', certificate: '', authorization: '' } })
  expect(reply.status, reply.text).toBe(201)
  await new RawJob(world.anonymous, reply.body as Json).end('success')
})

test('a terminal ends with its job', async () => {
  for (const end of ['success', 'failed'] as const) {
    const job = await running()
    const terminal = await open(job)
    await terminal.sees('ready$ ')
    await job.end(end)
    expect(await terminal.closed).toEqual({ code: 1000, reason: 'The job has ended' })
  }
  await noneOpen()
})

test('a terminal ends when its user loses access', async () => {
  const person = await world.member({ project: ci.project }, 'developer')
  const job = await running(person)
  const kept = await open(await running())
  const terminal = await open(job, person)
  await terminal.sees('ready$ ')
  expectStatus(await world.root.delete(`/projects/${ci.id}/members/${person.id}`), 204)
  expect(await terminal.closed).toEqual({ code: 1008, reason: 'Access was lost' })
  kept.type('still here')
  await kept.sees('you said: still here')
  kept.socket.close()
  await job.end('success')
})

test('a terminal ends when the runner ends it', async () => {
  const job = await running()
  const terminal = await open(job)
  await terminal.sees('ready$ ')
  server.open[0]!.socket.close(1000)
  expect(await terminal.closed).toEqual({ code: 1000, reason: 'The terminal has ended' })
  await job.end('success')
})

test('a terminal is open for as long as the instance allows', async () => {
  const job = await running()
  const free = await open(job)
  await free.sees('ready$ ')
  const from = performance.now()
  await settings({ terminal_max_session_time: 1 })
  const other = await running()
  const limited = await open(other)
  await limited.sees('ready$ ')
  const over = { code: 1000, reason: 'The longest time of a terminal is over' }
  expect(await limited.closed).toEqual(over)
  // One that was open before is measured by it, too.
  expect(await free.closed).toEqual(over)
  expect(performance.now() - from).toBeGreaterThan(990)
  await settings({ terminal_max_session_time: 0 })
  const again = await open(other)
  const opened = performance.now()
  await until(
    async () => performance.now() - opened,
    (since) => since > 1500,
  )
  again.type('still here')
  await again.sees('you said: still here')
  again.socket.close()
  await job.end('success')
  await other.end('success')
})

test('who reads slowly makes the other side wait, and misses nothing', async () => {
  const piece = Buffer.alloc(256 * 1024, 'x')
  const pieces = 256
  const job = await running()
  const terminal = await open(job)
  await terminal.sees('ready$ ')
  terminal.socket.pause()
  const { socket } = server.open[0]!
  let left = 0
  for (let sent = 0; sent < pieces; sent += 1) socket.send(piece, () => (left += 1))
  let before = -1
  // Until nothing more is taken.
  while (before !== left) {
    before = left
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  expect(left).toBeLessThan(pieces / 2)
  terminal.socket.resume()
  await until(
    async () => terminal.shown.length,
    (length) => length === 'ready$ '.length + pieces * piece.length,
    60_000,
  )
  terminal.socket.close()
  await job.end('success')
})

test('a service that stops ends its terminals', async () => {
  const other = await world.sibling({})
  const job = await running()
  const terminal = await OpenTerminal.open(other.address + pathOf(job), developer.headers)
  await terminal.sees('ready$ ')
  await other[Symbol.asyncDispose]()
  expect(await terminal.closed).toEqual({ code: 1001, reason: 'The service stops' })
  const here = await open(job)
  await here.sees('ready$ ')
  here.socket.close()
  await job.end('success')
})
