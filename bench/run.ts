import type pg from 'pg'
import type { CeilingHandlers } from './ceiling.ts'
import { Child } from './child.ts'
import { Ci, pushConfiguration, twentyJobs } from './ci.ts'
import { compiling } from './compile.ts'
import { creating } from './creation.ts'
import { connectTo, databaseOf } from './database.ts'
import { discussions, fanOut } from './discussions.ts'
import { endpoints, type Endpoint } from './endpoints.ts'
import { advertisements, histories, transfers } from './git.ts'
import { GitClient } from './git-client.ts'
import { JobLoad } from './job-load.ts'
import { liftLimits } from './limits.ts'
import type { LoadHandlers } from './load.ts'
import { memoryOf } from './machine.ts'
import { measure, middle, type Bench } from './measure.ts'
import type { Options } from './options.ts'
import type { Results } from './results.ts'
import { seed } from './seed.ts'
import { freePort, Service, type ServiceOptions } from './service.ts'
import { rootToken, secretKey, special } from './world.ts'
import { ldapSyncs } from './ldap.ts'
import { merges } from './merges.ts'
import { wikis } from './wikis.ts'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds without a request before it is called idle: what starting took is given back meanwhile. */
const idleFor = 30_000

/** One run: each part writes what it found into `results`; what is opened goes onto the stack. */
export class Run {
  readonly #options: Options
  readonly #directory: string
  readonly #results: Results
  readonly #stack: AsyncDisposableStack
  /** Aborted when it is to end before its time; the stack is disposed of then. */
  readonly #signal: AbortSignal
  readonly #say: (line: string) => void
  readonly #begun = performance.now()

  constructor(
    options: Options,
    directory: string,
    results: Results,
    stack: AsyncDisposableStack,
    signal: AbortSignal,
    say: (line: string) => void,
  ) {
    this.#options = options
    this.#directory = directory
    this.#results = results
    this.#stack = stack
    this.#signal = signal
    this.#say = say
  }

  async all(): Promise<void> {
    const service = await this.#start()
    const client = await this.#fill()
    const bench = await this.#open(service)
    await mkdir(path.join(this.#directory, 'git'))
    const git = new GitClient(path.join(this.#directory, 'git'), this.#signal)
    await this.#part('git', () => this.#git(bench, git))
    await this.#part('ci', () => this.#ci(bench, git, client))
    if (this.#wants('compile')) {
      await this.#part('compile', async () => {
        this.#results.compiling = compiling()
      })
    }
    if (this.#wants('creation')) {
      await this.#part('creation', async () => {
        this.#results.creation = await creating(bench, git, this.#options.quick ? 10 : 30)
      })
    }
    if (this.#wants('wikis')) {
      await this.#part('wikis', async () => {
        this.#results.wikis = await wikis(service, git, this.#options.quick)
      })
    }
    if (this.#wants('merges')) {
      await this.#part('merges', async () => {
        this.#say('merges: requests, small ones and on large trees')
        this.#results.merges = await merges(service, git, this.#options.quick)
      })
    }
    if (this.#wants('discussions')) {
      await this.#part('discussions', async () => {
        this.#say('discussions: a merge request with 5,000 notes')
        await this.#endpoints(bench, await discussions(service, git, client, this.#options.scale))
      })
    }
    if (this.#wants('streams')) {
      await this.#part('streams', async () => {
        this.#say('streams: a thousand followers')
        this.#results.fanOut = await fanOut(service, this.#options.scale, this.#options.quick)
      })
    }
    if (this.#wants('create-pipeline')) {
      await this.#part('the configuration of 20 jobs', async () => {
        await pushConfiguration(git, bench, special.pipelineProjects, twentyJobs)
      })
    }
    await this.#endpoints(bench, endpoints(this.#options.scale))
    this.#results.starts!.memoryAfter = await memoryOf(service.pid)
    await this.#part('runners', () => this.#jobs(bench, git, client))
    if (this.#wants('ldap')) {
      // Last, since it makes users and groups of its own.
      await this.#part('ldap', async () => {
        const syncs = await ldapSyncs(await databaseOf(this.#directory), this.#options.quick)
        if (syncs === undefined) this.#results.remarks.push('ldap: left out, slapd is not installed')
        else this.#results.ldap = syncs
      })
    }
  }

  #wants(...names: string[]): boolean {
    const { only } = this.#options
    return only.length === 0 || names.some((name) => only.some((part) => name.includes(part)))
  }

  /** A part that fails is told of, and the others go on. */
  async #part(name: string, work: () => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted()
    const seconds = (performance.now() - this.#begun) / 1000
    if (seconds > this.#options.budget) {
      this.#results.remarks.push(`${name}: left out, the time was up`)
      return
    }
    try {
      await work()
    } catch (error) {
      this.#signal.throwIfAborted()
      this.#results.remarks.push(`${name}: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`)
      this.#say(`  ${name} failed: ${(error as Error).message}`)
    }
  }

  /** First it makes its database, then it starts on what is there; at last without what would disturb the load. */
  async #start(): Promise<Service> {
    this.#say('starting the service')
    const options: ServiceOptions = {
      directory: this.#directory,
      environment: { ROOT_TOKEN: rootToken, SECRET_KEY: secretKey },
    }
    let last = await this.#launch(options)
    const first = await last.ready()
    await sleep(this.#options.quick ? 2_000 : idleFor, undefined, { signal: this.#signal })
    const memoryIdle = await memoryOf(last.pid)
    const stop = await last.stop()
    const again: number[] = []
    while (again.length < this.#options.rounds) {
      last = await this.#launch(options)
      again.push(await last.ready())
      await last.stop()
    }
    const service = await this.#launch({
      ...options,
      environment: { ...options.environment, ROLES: 'web,tasks' },
    })
    await service.ready()
    this.#results.starts = { first, stop, again: middle(again, (time) => time)!, memoryIdle }
    await liftLimits(service, rootToken)
    return service
  }

  async #launch(options: ServiceOptions): Promise<Service> {
    const port = await freePort()
    this.#signal.throwIfAborted()
    return this.#stack.use(new Service(port, options))
  }

  async #fill(): Promise<pg.Client> {
    this.#say('filling its database')
    const client = await connectTo(this.#directory)
    this.#signal.throwIfAborted()
    this.#stack.defer(() => client.end().catch(() => undefined))
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    this.#results.postgres = rows[0]!.server_version.split(' ')[0]!
    const begin = performance.now()
    await seed(client, this.#options.scale, secretKey)
    this.#results.seededIn = performance.now() - begin
    return client
  }

  async #open(service: Service): Promise<Bench> {
    this.#signal.throwIfAborted()
    const child = <Offered extends LoadHandlers | CeilingHandlers>(file: string): Child<Offered> =>
      this.#stack.use(new Child<Offered>(new URL(file, import.meta.url)))
    const load = child<LoadHandlers>('load.ts')
    const ceiling = child<CeilingHandlers>('ceiling.ts')
    const ceilingPort = await ceiling.call('listen', null)
    return { service, load, ceiling, ceilingPort, options: this.#options, signal: this.#signal }
  }

  async #endpoints(bench: Bench, list: readonly Endpoint[]): Promise<void> {
    for (const endpoint of list) {
      if (!this.#wants(endpoint.name)) continue
      await this.#part(endpoint.name, async () => {
        const found = await measure(bench, endpoint)
        this.#results.endpoints.push(found)
        const { result, ceiling } = found
        const figure =
          result && ceiling && `${Math.round(result.rate)}/s, ratio ${(result.rate / ceiling).toFixed(3)}`
        this.#say(`  ${endpoint.title}: ${figure ?? found.missing ?? ''}`)
      })
    }
  }

  async #git(bench: Bench, git: GitClient): Promise<void> {
    const { scale, quick } = this.#options
    if (this.#wants('git-refs-v0', 'git-refs-v2', 'git-ls-refs')) {
      this.#say('git: advertisements')
      await this.#endpoints(bench, await advertisements(git, bench.service, scale))
    }
    if (this.#wants('git-transfers')) {
      for (const history of histories(quick)) {
        this.#say(`git: push and clone, ${history.size}`)
        this.#results.transfers.push(...(await transfers(git, bench.service, scale, history)))
      }
    }
  }

  /** Last, since the queue that it makes is in the way of everything else. */
  async #jobs(bench: Bench, git: GitClient, client: pg.Client): Promise<void> {
    if (!this.#wants('job-request', 'trace-append')) return
    this.#say('runners: a long queue, and logs')
    const jobs = await JobLoad.prepare(bench, git, client, this.#options.quick ? 10_000 : 100_000)
    for (const work of [() => jobs.appends(), () => jobs.requests()]) {
      const found = await work()
      this.#results.endpoints.push(found)
      this.#say(
        `  ${found.title}: ${Math.round(found.result!.rate)}/s, p99 ${Math.round(found.result!.p99)} ms`,
      )
    }
  }

  async #ci(bench: Bench, git: GitClient, client: pg.Client): Promise<void> {
    if (!this.#wants('ci')) return
    const { quick } = this.#options
    const { latencies, idle } = this.#results
    this.#say('ci: from push to job')
    const ci = await Ci.prepare(bench, git, client)
    for (const runners of [1, quick ? 200 : 1_000]) {
      const pushes = quick ? 10 : 40
      if (!(await ci.wait(runners))) {
        latencies.push({ runners, pushes, missing: 'not there' })
        continue
      }
      try {
        latencies.push(await ci.latency(runners, pushes))
        if (runners > 1) idle.push(await ci.idle(runners, quick ? 5 : 10))
      } finally {
        await ci.leave()
      }
    }
  }
}
