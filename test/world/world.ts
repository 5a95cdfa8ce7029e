import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino, type Logger } from 'pino'
import { inject } from 'vitest'
import { limitSettings } from '../../src/settings/catalogue/limits.ts'
import { startService, type Service } from '../../src/app/service.ts'
import { readConfig } from '../../src/kernel/config/index.ts'
import { Client, Person, type Reply } from './client.ts'
import { copyDatabase, type ServerConnection } from './databases.ts'

export const rootToken = 'root-token-of-the-tests'

export const roles = {
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const
export type RoleName = keyof typeof roles

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- projects and groups as the API answers them
export type Json = Record<string, any>

/** A project or group, with what tests ask for most. */
export interface Made extends Json {
  id: number
  name: string
  path: string
  visibility: string
  web_url: string
  /** Of a group. */
  full_path: string
  /** Of a project. */
  path_with_namespace: string
}

/** A running service of a suite's own, and what makes people and things in it through the public doors. */
export class World implements AsyncDisposable {
  readonly url: string
  readonly directory: string
  readonly databaseUrl: string
  /** The administrator. */
  readonly root: Person
  readonly anonymous: Client
  readonly #stack: AsyncDisposableStack
  readonly #failures: string[]
  /** Let go with the world: a suite that is over is kept by its worker, and a service is 20 MB. */
  #service: Service | undefined
  #next = 0

  constructor(
    service: Service,
    places: { directory: string; databaseUrl: string },
    failures: string[],
    stack: AsyncDisposableStack,
  ) {
    this.#service = service
    this.url = service.address
    this.directory = places.directory
    this.databaseUrl = places.databaseUrl
    this.#failures = failures
    this.root = new Person(this.url, { id: 1, username: 'root', token: rootToken })
    this.anonymous = new Client(this.url)
    this.#stack = stack
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('this world has ended')
    return this.#service
  }

  /** A name that nothing in this world has yet. */
  unique(prefix: string): string {
    this.#next += 1
    return `${prefix}-${this.#next}`
  }

  /** A new user with a token of these scopes. */
  async user(fields: Json = {}, scopes: readonly string[] = ['api']): Promise<Person> {
    const username = (fields['username'] as string | undefined) ?? this.unique('user')
    const user = expectStatus(
      await this.root.post('/users', {
        username,
        name: `Name of ${username}`,
        email: `${username}@example.com`,
        force_random_password: true,
        skip_confirmation: true,
        ...fields,
      }),
      201,
    )
    const id = user['id'] as number
    return new Person(this.url, { id, username, token: await this.token(id, scopes) })
  }

  /** A further token of a user. */
  async token(userId: number, scopes: readonly string[], fields: Json = {}): Promise<string> {
    const answer = await this.root.post(`/users/${userId}/personal_access_tokens`, {
      name: this.unique('token'),
      scopes,
      ...fields,
    })
    return expectStatus(answer, 201)['token'] as string
  }

  async group(fields: Json = {}, creator: Person = this.root): Promise<Made> {
    const name = this.unique('group')
    return expectStatus(await creator.post('/groups', { name, path: name, ...fields }), 201) as Made
  }

  /** A project; in a group of its own unless a namespace is given, so that roles are what they are said to be. */
  async project(fields: Json = {}, creator: Person = this.root): Promise<Made> {
    const name = this.unique('project')
    const namespace_id: unknown =
      fields['namespace_id'] ??
      (await this.group({ visibility: (fields['visibility'] as unknown) ?? 'private' })).id
    return expectStatus(
      await creator.post('/projects', { name, path: name, namespace_id, ...fields }),
      201,
    ) as Made
  }

  /** A new user with this role in a project or group. */
  async member(of: { project: Json } | { group: Json }, role: RoleName): Promise<Person> {
    const person = await this.user()
    const [kind, place] = 'project' in of ? ['projects', of.project] : ['groups', of.group]
    const fields = { user_id: person.id, access_level: roles[role] }
    expectStatus(await this.root.post(`/${kind}/${place['id'] as number}/members`, fields), 201)
    return person
  }

  /** Deletes a project or group for good: it is marked, and then ended. */
  async end(of: { project: Json } | { group: Json }): Promise<void> {
    const [place, fullPath] =
      'project' in of
        ? [`/projects/${of.project['id'] as number}`, of.project['path_with_namespace'] as string]
        : [`/groups/${of.group['id'] as number}`, of.group['full_path'] as string]
    expectStatus(await this.root.delete(place), 202)
    if (fullPath.includes('/')) {
      expectStatus(await this.root.delete(place, { permanently_remove: true, full_path: fullPath }), 202)
    } else await this.#passDaysOf(fullPath)
  }

  /** A group at the top is not ended before its days are over: they pass. */
  async #passDaysOf(group: string): Promise<void> {
    const { writer } = this.service.services.db
    await sql`
      update namespaces set marked_for_deletion_at = now() - interval '100 days'
      where full_path = ${group}`.execute(writer)
    await sql`select graphile_worker.add_job('groups:end-marked', '{}'::json)`.execute(writer)
    await this.settled()
  }

  /** Waits until all tasks that are due are done: who was to be told of something has been told. */
  async settled(): Promise<void> {
    const { reader } = this.service.services.db
    for (;;) {
      const { rows } = await sql`select from graphile_worker.jobs j where j.run_at <= now() limit 1`.execute(
        reader,
      )
      if (rows.length === 0) return
      await sleep(20)
    }
  }

  /** A further service on the same data, which ends with this world. */
  async sibling(environment: Readonly<Record<string, string>>): Promise<Service> {
    const config = readConfig({
      PORT: '0',
      DATA_DIR: this.directory,
      DATABASE_URL: this.databaseUrl,
      DATABASE_POOL: '2',
      ROOT_TOKEN: rootToken,
      ROLES: 'web',
      SHUTDOWN_TIMEOUT: '5',
      ...environment,
    })
    return this.#stack.use(await startService(config, failureLog(this.#failures)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
    this.#service = undefined
    if (this.#failures.length > 0)
      throw new Error(`the service failed on requests:\n${this.#failures.join('\n')}`)
  }
}

export function expectStatus(reply: Reply, status: number): Json {
  if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status}: ${reply.text}`)
  return reply.body as Json
}

/** Everything logged as an error is a defect: a 5xx, a failed task. */
function failureLog(failures: string[]): Logger {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      failures.push(chunk.toString())
      done()
    },
  })
  return pino({ level: 'error' }, sink)
}

/** The limits of single endpoints, lifted. */
const withoutLimits = Object.fromEntries(
  Object.entries(limitSettings)
    .filter(([, { fallback }]) => typeof fallback === 'number')
    .map(([name]) => [name, 0]),
)

/** Starts a service on a database and a folder of its own. `environment` as in the configuration. */
export async function startWorld(
  environment: Readonly<Record<string, string>> = {},
  server: ServerConnection = inject('postgres'),
): Promise<World> {
  const stack = new AsyncDisposableStack()
  try {
    const database = stack.use(await copyDatabase(server))
    const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-world-'))
    // Jobs of the built-in runner run as other users, who have to pass through.
    await chmod(directory, 0o711)
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }))
    const config = readConfig({
      PORT: '0',
      DATA_DIR: directory,
      DATABASE_URL: database.url,
      DATABASE_POOL: '4',
      ROOT_TOKEN: rootToken,
      ROLES: 'web,tasks',
      SHUTDOWN_TIMEOUT: '5',
      ...environment,
    })
    const failures: string[] = []
    const service = stack.use(await startService(config, failureLog(failures)))
    // Suites ask more often than people do.
    await service.services.settings.change(withoutLimits)
    return new World(service, { directory, databaseUrl: database.url }, failures, stack)
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
