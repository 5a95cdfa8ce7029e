import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { authorization, repositoryPath, repositoryUrl } from './git.ts'
import type { GitClient } from './git-client.ts'
import { percentile } from './http-load.ts'
import type { Bench } from './measure.ts'
import type { PushOrder } from './runners.ts'
import { runnerToken, special } from './world.ts'

/** Milliseconds from a push's answer until a runner has its job. */
export interface Latency {
  readonly runners: number
  readonly pushes: number
  /** Why there is nothing more. */
  readonly missing?: string
  readonly p50?: number
  readonly p99?: number
  /** Pushes whose job no runner got in time. */
  readonly lost?: number
}

/** What the database wrote while so many runners waited. */
export interface Idle {
  readonly runners: number
  readonly seconds: number
  /** The tables in which rows were written, and how many. */
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  /** Of the write-ahead log, which the database also writes for itself. */
  readonly bytes: number
}

const oneJob = 'build:\n  script: echo hello\n'

export const twentyJobs = Array.from(
  { length: 20 },
  (_, number) =>
    `job ${number}:\n  stage: ${['build', 'test', 'deploy'][number % 3]!}\n  script: echo ${number}\n`,
).join('')

/** Puts a configuration into projects. */
export async function pushConfiguration(
  git: GitClient,
  bench: Bench,
  projects: readonly number[],
  configuration: string,
): Promise<string> {
  const folder = await git.bare(`configured-${projects[0]!}.git`)
  await git.fill(folder, 1, { '.gitlab-ci.yml': configuration })
  for (const project of projects) {
    const url = repositoryUrl(bench.service, project, bench.options.scale)
    await git.run(['-C', folder, 'push', '--quiet', url, 'main'])
  }
  return folder
}

/** Milliseconds in which statistics come in. */
const settling = 11_000
const minute = 60_000

/**
 * Milliseconds to wait before so long a look at an idle service. Each minute it tidies up what the pushes before have
 * left, which is not for runners that are idle: that is over, or does not come yet.
 */
function untilQuiet(now: number, look: number): number {
  const start = now + settling
  const tick = Math.ceil(now / minute) * minute
  return (tick < start + look ? tick + settling : start) - now
}

/** The time to a job with some runners waiting, and what it costs that they wait. */
export class Ci {
  readonly #bench: Bench
  readonly #git: GitClient
  readonly #client: pg.Client
  readonly #folder: string

  private constructor(bench: Bench, git: GitClient, client: pg.Client, folder: string) {
    this.#bench = bench
    this.#git = git
    this.#client = client
    this.#folder = folder
  }

  static async prepare(bench: Bench, git: GitClient, client: pg.Client): Promise<Ci> {
    return new Ci(bench, git, client, await pushConfiguration(git, bench, [special.latencyProject], oneJob))
  }

  /** False when runners are not served. */
  async wait(runners: number): Promise<boolean> {
    const { service, load } = this.#bench
    const probe = await fetch(`${service.url}/api/v4/jobs/request`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: 'nobody' }),
    })
    await probe.text()
    if (probe.status === 404 || probe.status === 405) return false
    const tokens = Array.from({ length: runners }, (_, index) => runnerToken(index + 1))
    await load.call('runners', { port: service.port, tokens })
    return true
  }

  async latency(runners: number, pushes: number): Promise<Latency> {
    const found = { runners, pushes }
    const claims: number[] = []
    let lost = 0
    // The first one is not counted: it makes what is made once.
    const orders = await this.#orders(pushes + 1)
    for (const [index, order] of orders.entries()) {
      const { claim, refused } = await this.#bench.load.call('push', order)
      if (refused !== undefined) return { ...found, missing: `a push was refused: ${refused}` }
      if (claim === undefined) lost += 1
      else if (index > 0) claims.push(claim)
      if (claims.length === 0 && lost >= 2) return { ...found, missing: 'no job reached a runner' }
      await sleep(50 + (index % 7) * 20)
    }
    const sorted = claims.toSorted((one, other) => one - other)
    return { ...found, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), lost }
  }

  /** After a pause in which the statistics of what went before have come in. */
  async idle(runners: number, seconds: number): Promise<Idle> {
    await sleep(untilQuiet(Date.now(), seconds * 1000), undefined, { signal: this.#bench.signal })
    const before = await this.#written()
    await sleep(seconds * 1000, undefined, { signal: this.#bench.signal })
    const after = await this.#written()
    const bytes = after.bytes - before.bytes
    // Whoever writes a row writes to the log. Statistics can come later still than we have waited.
    if (bytes === 0) return { runners, seconds, tables: [], bytes }
    const tables = [...after.tables].flatMap(([name, written]) => {
      const rows = written - (before.tables.get(name) ?? 0)
      return rows === 0 ? [] : [{ name, rows }]
    })
    return { runners, seconds, tables, bytes }
  }

  async leave(): Promise<void> {
    await this.#bench.load.call('stopRunners', null)
  }

  /** Of our own tables: the database keeps its catalogues by itself, and the clock of periodic tasks ticks, whoever waits. */
  async #written(): Promise<{ tables: Map<string, number>; bytes: number }> {
    const tables = await this.#client.query<{ name: string; written: string }>(
      `select s.relname as name, s.n_tup_ins + s.n_tup_upd + s.n_tup_del as written from pg_stat_user_tables s
       where s.schemaname <> 'graphile_worker'`,
    )
    const log = await this.#client.query<{ bytes: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`,
    )
    return {
      tables: new Map(tables.rows.map(({ name, written }) => [name, Number(written)])),
      bytes: Number(log.rows[0]!.bytes),
    }
  }

  /** Pushes of one commit each, every one on top of the one before. */
  async #orders(count: number): Promise<PushOrder[]> {
    const inside = ['-C', this.#folder]
    const tree = await this.#git.line([...inside, 'rev-parse', 'main^{tree}'])
    let head = await this.#git.line([...inside, 'rev-parse', 'main'])
    const orders: PushOrder[] = []
    for (let number = 1; number <= count; number += 1) {
      const sha = await this.#git.line([
        ...inside,
        'commit-tree',
        tree,
        '-p',
        head,
        '-m',
        `Push ${number} ${head}`,
      ])
      const pack = await this.#git.run(
        [...inside, 'pack-objects', '--quiet', '--stdout', '--revs'],
        [`${sha}\n^${head}\n`],
      )
      const command = `${head} ${sha} refs/heads/main\0report-status agent=bench`
      const line = (command.length + 4).toString(16).padStart(4, '0') + command
      orders.push({
        path: `${repositoryPath(special.latencyProject, this.#bench.options.scale)}/git-receive-pack`,
        authorization,
        sha,
        body: Buffer.concat([Buffer.from(`${line}0000`), pack]),
        patience: 4000,
      })
      head = sha
    }
    await this.#git.run([...inside, 'update-ref', 'refs/heads/main', head])
    return orders
  }
}
