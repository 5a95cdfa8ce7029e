import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Child } from './child.ts'
import { GitClient } from './git-client.ts'
import { percentile, type LoadRequest } from './http-load.ts'
import { liftLimits } from './limits.ts'
import type { LoadHandlers } from './load.ts'
import { memoryOf } from './machine.ts'
import { freePort, Service } from './service.ts'
import { Dice } from './world.ts'

/*
 * What people do for hours, told window by window, so that whatever grows is seen: questions and changes by the API,
 * pages, pulls and pushes of the real git. Each push makes a pipeline.
 *   npm run bench:soak -- [--hours 8] [--windows 8] [--api 200] [--web 20] [--pull 20] [--push 4]   (these a second)
 */
const { values } = parseArgs({
  options: Object.fromEntries(
    ['hours', 'windows', 'api', 'web', 'pull', 'push'].map((name) => [name, { type: 'string' }]),
  ) as Record<'hours' | 'windows' | 'api' | 'web' | 'pull' | 'push', { type: 'string' }>,
})
const windows = Number(values.windows ?? 8)
const seconds = (Number(values.hours ?? 8) * 3600) / windows
const rates = {
  api: Number(values.api ?? 200),
  web: Number(values.web ?? 20),
  pull: Number(values.pull ?? 20),
  push: Number(values.push ?? 4),
}

/** How many times those of the first window they may be in any later one. */
const most = { p99: 1.5, memory: 1.2 }

const projectCount = 20
const peopleCount = 10
const issuesPerProject = 20
/** Clones that are pulled, and those that are pushed from: at most so many at once. */
const clones = { pull: 20, push: 8 }

const rootToken = 'root-token-of-the-soak'
const dice = new Dice(11)

interface Told {
  readonly p99: number
  readonly p50: number
  readonly answers: number
  readonly errors: Readonly<Record<string, number>>
}

type Kind = keyof typeof rates
type Window = Readonly<Record<Kind, Told>> & { readonly memory: number }

/** What was made to be asked about. */
interface Made {
  readonly projects: readonly { readonly id: number; readonly fullPath: string }[]
  readonly tokens: readonly string[]
}

async function prepare({ url }: Service): Promise<Made> {
  const post = async (address: string, body: object): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${url}/api/v4${address}`, {
      method: 'POST',
      headers: { 'private-token': rootToken, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await reply.json()) as Record<string, unknown>
    if (reply.status !== 201) throw new Error(`POST ${address}: ${JSON.stringify(answer)}`)
    return answer
  }
  const group = await post('/groups', { name: 'soak', path: 'soak' })
  const tokens: string[] = []
  for (let number = 1; number <= peopleCount; number += 1) {
    const username = `person-${number}`
    const email = `${username}@example.com`
    const { id } = await post('/users', {
      ...{ username, name: username, email },
      ...{ force_random_password: true, skip_confirmation: true },
    })
    await post(`/groups/${group['id'] as number}/members`, { user_id: id, access_level: 40 })
    const made = await post(`/users/${id as number}/personal_access_tokens`, {
      name: 'soak',
      scopes: ['api'],
    })
    tokens.push(made['token'] as string)
  }
  const projects: Made['projects'][number][] = []
  for (let number = 1; number <= projectCount; number += 1) {
    const project = await post('/projects', { name: `app-${number}`, namespace_id: group['id'] })
    const id = project['id'] as number
    await post(`/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Begin',
      actions: [
        { action: 'create', file_path: 'README.md', content: '# App\n' },
        // Nobody is here to run it: what counts is that the pipeline is made.
        { action: 'create', file_path: '.gitlab-ci.yml', content: 'test: { script: ls, when: manual }\n' },
      ],
    })
    await post(`/projects/${id}/variables`, { key: 'KEY', value: 'value' })
    for (let issue = 1; issue <= issuesPerProject; issue += 1) {
      await post(`/projects/${id}/issues`, { title: `Issue ${issue}` })
    }
    projects.push({ id, fullPath: project['path_with_namespace'] as string })
  }
  return { projects, tokens }
}

/** Nine questions of ten, and a change. */
function apiRequests({ projects, tokens }: Made): LoadRequest[] {
  const questions = [
    '',
    '/repository/tree',
    '/repository/commits',
    '/repository/branches',
    '/repository/files/README.md?ref=main',
    '/pipelines',
    '/pipelines/latest',
    '/issues',
    '/issues/1/notes',
    '/merge_requests',
    '/variables',
    '/members/all',
  ]
  const changes: [string, string, object][] = [
    ['POST', '/issues/{issue}/notes', { body: 'Note {n}' }],
    ['PUT', '/variables/KEY', { value: 'value {n}' }],
    ['PUT', '/issues/{issue}', { title: 'Issue {n}' }],
  ]
  return Array.from({ length: 2_000 }, (_, index) => {
    const project = `/api/v4/projects/${dice.of(projects).id}`
    const headers = { 'private-token': dice.of(tokens), 'content-type': 'application/json' }
    if (index % 10 === 0) {
      const [method, address, body] = dice.of(changes)
      const place = address.replace('{issue}', String(1 + dice.below(issuesPerProject)))
      return { method, path: project + place, headers, body: JSON.stringify(body) }
    }
    const elsewhere = ['/api/v4/user', '/api/v4/projects?membership=true', '/api/v4/groups/soak/projects']
    const path = dice.below(8) === 0 ? dice.of(elsewhere) : project + dice.of(questions)
    return { method: 'GET', path, headers }
  })
}

const webRequests: LoadRequest[] = ['/', '/users/sign_in', '/-/api', '/-/health'].map((page) => ({
  method: 'GET',
  path: page,
  headers: {},
}))

/** So often a second, by no more than so many at once; what comes late is late from its time on. */
async function steadily(rate: number, atOnce: number, act: (worker: number) => Promise<void>): Promise<Told> {
  const times: number[] = []
  const errors: Record<string, number> = {}
  const begin = performance.now()
  let turns = 0
  const work = async (_: unknown, worker: number): Promise<void> => {
    for (;;) {
      const due = begin + (turns++ * 1000) / rate
      if (due >= begin + seconds * 1000) return
      if (due > performance.now()) await sleep(due - performance.now())
      try {
        await act(worker)
        times.push(performance.now() - due)
      } catch (error) {
        const { message } = error as Error
        errors[message] = (errors[message] ?? 0) + 1
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const sorted = Float64Array.from(times).sort()
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), answers: times.length, errors }
}

/** One pulls what others push: clones of the same projects, by the real git. */
class Gits {
  readonly #git: GitClient
  #pushes = 0

  constructor(git: GitClient) {
    this.#git = git
  }

  async clone({ url }: Service, { projects, tokens }: Made): Promise<void> {
    for (const [kind, count] of Object.entries(clones)) {
      for (let number = 0; number < count; number += 1) {
        const address = new URL(`${url}/${projects[number % projects.length]!.fullPath}.git`)
        address.username = 'git'
        address.password = tokens[number % tokens.length]!
        await this.#git.run(['clone', '--quiet', address.href, this.#git.folder(`${kind}-${number}`)])
      }
    }
  }

  readonly pull = async (number: number): Promise<void> => {
    await this.#git.run(['-C', this.#git.folder(`pull-${number}`), 'pull', '--quiet', '--ff-only'])
  }

  readonly push = async (number: number): Promise<void> => {
    const inside = ['-C', this.#git.folder(`push-${number}`)]
    await this.#git.run([
      ...inside,
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      `Push ${(this.#pushes += 1)}`,
    ])
    await this.#git.run([...inside, 'push', '--quiet', 'origin', 'main'])
  }
}

const text = (value: number): string => value.toFixed(1).padStart(8)

function tell(number: number, window: Window): void {
  const kinds = (Object.keys(rates) as Kind[]).map((kind) => {
    const { answers, p50, p99 } = window[kind]
    return `  ${kind} ${String(answers).padStart(8)}${text(p50)}${text(p99)}`
  })
  console.log(`${String(number).padStart(3)}${kinds.join('')}  memory ${text(window.memory / 1e6)} MB`)
  for (const kind of Object.keys(rates) as Kind[]) {
    for (const [what, times] of Object.entries(window[kind].errors))
      console.log(`    ${kind}: ${times} times ${what}`)
  }
}

/** What is not as it is to be, a line each. */
function complaints(told: readonly Window[]): string[] {
  const [first] = told
  return told.flatMap((window, index) =>
    (Object.keys(rates) as Kind[])
      .flatMap((kind) => {
        const failed = Object.values(window[kind].errors).reduce((sum, times) => sum + times, 0)
        const times = window[kind].p99 / first![kind].p99
        return [
          ...(failed > 0 ? [`window ${index + 1}: ${failed} of ${kind} failed`] : []),
          ...(times > most.p99
            ? [`window ${index + 1}: p99 of ${kind} is ${times.toFixed(2)} times the first`]
            : []),
        ]
      })
      .concat(
        window.memory > most.memory * first!.memory
          ? [`window ${index + 1}: memory is ${(window.memory / first!.memory).toFixed(2)} times the first`]
          : [],
      ),
  )
}

const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-soak-'))
try {
  await chmod(directory, 0o711)
  const environment = {
    ROOT_TOKEN: rootToken,
    SECRET_KEY: 'the secret key of the benchmark, not of anything else',
    ROLES: 'web,tasks',
  }
  await using service = new Service(await freePort(), { directory, environment })
  await service.ready()
  await liftLimits(service, rootToken)
  const made = await prepare(service)
  const gits = new Gits(new GitClient(directory, new AbortController().signal))
  await gits.clone(service, made)
  await using load = new Child<LoadHandlers>(new URL('load.ts', import.meta.url))
  const http = (rate: number, requests: readonly LoadRequest[]): Promise<Told> =>
    load.call('http', { port: service.port, connections: 16, seconds, requests, rate })
  const requests = apiRequests(made)
  console.log(`${windows} windows of ${seconds} s; of each kind how many were done, p50 and p99 in ms`)
  const told: Window[] = []
  while (told.length < windows) {
    const [api, web, pull, push] = await Promise.all([
      http(rates.api, requests),
      http(rates.web, webRequests),
      steadily(rates.pull, clones.pull, gits.pull),
      steadily(rates.push, clones.push, gits.push),
    ])
    const window = { api, web, pull, push, memory: (await memoryOf(service.pid)) ?? Number.NaN }
    told.push(window)
    tell(told.length, window)
  }
  const wrong = complaints(told)
  for (const line of wrong) console.log(line)
  if (wrong.length > 0) process.exitCode = 1
  else console.log('no error, and neither times nor memory grew')
} finally {
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
}
