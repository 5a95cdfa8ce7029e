import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { pushConfiguration } from './ci.ts'
import type { GitClient } from './git-client.ts'
import type { LoadRequest } from './http-load.ts'
import { effortOf } from './machine.ts'
import { perAnswer, type Bench, type Measured } from './measure.ts'
import { firstId, special } from './world.ts'

const tag = 'bench-queue'
const runners = 100
const writers = 50
const piece = 16 * 1024

const tokenOf = (number: number): string => `glrt-bench-queue-${number}`
const configuration = `build:\n  script: echo hello\n  tags: [${tag}]\n`

/** Runners at work: how jobs are given out of a long queue, and how logs grow. */
export class JobLoad {
  readonly #bench: Bench
  readonly #queued: number

  private constructor(bench: Bench, queued: number) {
    this.#bench = bench
    this.#queued = queued
  }

  /** One tenth of the queue is for the runners; the rest, in all projects, has to be passed over. */
  static async prepare(bench: Bench, git: GitClient, client: pg.Client, queued: number): Promise<JobLoad> {
    const projects = special.queueProjects
    await pushConfiguration(git, bench, projects, configuration)
    const waiting = `select count(*)::integer as jobs from ci_jobs where status = 'pending' and tag_list = '{${tag}}'`
    for (let tries = 0; ; tries += 1) {
      const { rows } = await client.query<{ jobs: number }>(waiting)
      if (rows[0]!.jobs >= projects.length) break
      if (tries > 100) throw new Error('the pushes made no jobs')
      await sleep(100, undefined, { signal: bench.signal })
    }
    await fill(client, queued, bench.options.scale.projects)
    return new JobLoad(bench, queued)
  }

  async requests(): Promise<Measured> {
    const { service, load, options } = this.#bench
    const requests = Array.from({ length: runners }, (_, index) => ask(tokenOf(index + 1)))
    const before = await service.counts()
    const effortBefore = await effortOf(service.pid)
    const order = {
      port: service.port,
      connections: runners,
      seconds: options.duration * options.rounds,
      requests,
    }
    const result = await load.call('http', order)
    const effort = await effortOf(service.pid)
    const after = await service.counts()
    return {
      name: 'job-request',
      title: `${runners} runners ask, ${this.#queued.toLocaleString('en')} jobs wait`,
      connections: runners,
      result,
      statements: (after.statements - before.statements) / (after.requests - before.requests),
      ...(effort && effortBefore && { effort: perAnswer(effortBefore, effort, result.answers) }),
    }
  }

  async appends(): Promise<Measured> {
    const { service, load, options } = this.#bench
    const jobs = await Promise.all(Array.from({ length: writers }, (_, index) => this.#take(index + 1)))
    const before = await service.counts()
    const effortBefore = await effortOf(service.pid)
    const result = await load.call('appends', {
      port: service.port,
      seconds: options.duration * options.rounds,
      jobs,
      piece,
    })
    const effort = await effortOf(service.pid)
    const after = await service.counts()
    return {
      name: 'trace-append',
      title: `append ${piece / 1024} KiB to a log, ${writers} jobs`,
      connections: writers,
      result,
      statements: (after.statements - before.statements) / (after.requests - before.requests),
      ...(effort && effortBefore && { effort: perAnswer(effortBefore, effort, result.answers) }),
    }
  }

  async #take(number: number): Promise<{ id: number; token: string }> {
    const { method, path, headers, body } = ask(tokenOf(number))
    const answer = await fetch(this.#bench.service.url + path, { method, headers, body: body! })
    if (answer.status !== 201) throw new Error(`a runner got ${answer.status} instead of a job`)
    return (await answer.json()) as { id: number; token: string }
  }
}

function ask(token: string): LoadRequest {
  return {
    method: 'POST',
    path: '/api/v4/jobs/request',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, system_id: 's_bench', info: { name: 'bench', version: '18.0.0' } }),
  }
}

/** Pipelines of twenty jobs, each like the one that a push made. */
async function fill(client: pg.Client, queued: number, projects: number): Promise<void> {
  const pipelines = Math.ceil(queued / 20)
  const ours = special.queueProjects
  const digest = `translate(encode(sha256(convert_to('${tokenOf(0).slice(0, -1)}' || i, 'utf8')), 'base64'), '+/=', '-_')`
  const statements = [
    `insert into ci_runners (runner_type, token_digest, token_hint, description, tag_list, run_untagged)
     select 'instance_type', ${digest}, 'bench', 'queue ' || i, '{${tag}}', false from generate_series(1, ${runners}) i`,
    `create temporary table queue_source as
     select distinct on (j.project_id) j.project_id, p.user_id, p.sha, j.definition, j.stage
     from ci_jobs j join ci_pipelines p on p.id = j.pipeline_id
     where j.project_id in (${ours.join(', ')}) and j.tag_list = '{${tag}}'`,
    `create temporary table queue_pipelines as
     select i, case when i % 10 = 0 then (array[${ours.join(', ')}]::bigint[])[1 + i / 10 % ${ours.length}]
       else ${firstId} + 1 + i % ${projects} end as project_id
     from generate_series(1, ${pipelines}) i`,
    `insert into ci_pipelines (project_id, iid, user_id, status, source, ref, sha)
     select q.project_id, 100000000 + q.i, s.user_id, 'pending', 'api', 'main', s.sha
     from queue_pipelines q join queue_source s on s.project_id =
       case when q.i % 10 = 0 then q.project_id else ${ours[0]} end`,
    `insert into ci_jobs (project_id, pipeline_id, name, stage, stage_index, status, definition, tag_list, ref, user_id,
       queued_at)
     select p.project_id, p.id, 'job ' || n, s.stage, 0, 'pending', s.definition,
       case when q.i % 10 = 0 then '{${tag}}'::text[] else '{}' end, 'main', p.user_id, now()
     from queue_pipelines q join ci_pipelines p on p.project_id = q.project_id and p.iid = 100000000 + q.i
       cross join generate_series(1, 20) n
       join queue_source s on s.project_id = case when q.i % 10 = 0 then q.project_id else ${ours[0]} end`,
    'drop table queue_source, queue_pipelines',
    'analyze ci_jobs',
  ]
  for (const statement of statements) await client.query(statement)
}
