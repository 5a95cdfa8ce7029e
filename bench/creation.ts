import { pushConfiguration } from './ci.ts'
import type { GitClient } from './git-client.ts'
import { percentile } from './http-load.ts'
import type { Bench } from './measure.ts'
import { callerToken, special } from './world.ts'

/** What it takes to create a pipeline of many jobs over the API, one after the other. */
export interface Creation {
  readonly jobs: number
  readonly pipelines: number
  /** SQL statements a request, those that open and end transactions too. */
  readonly statements: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

const jobs = 200
const warmups = 3

const configuration = Array.from(
  { length: jobs },
  (_, number) =>
    `job ${number}:\n  stage: ${['build', 'test', 'deploy'][number % 3]!}\n  script: [make ${number}, make check]\n` +
    `  image: node:24\n  variables: { NUMBER: '${number}' }\n  rules: [{ if: $CI_COMMIT_BRANCH }]\n` +
    (number >= 100 ? `  needs: [job ${number - 99}]\n  when: always\n` : ''),
).join('')

export async function creating(bench: Bench, git: GitClient, pipelines: number): Promise<Creation> {
  const { service } = bench
  const project = special.creationProject
  await pushConfiguration(git, bench, [project], configuration)
  const create = async (): Promise<number> => {
    const begin = performance.now()
    const reply = await fetch(`${service.url}/api/v4/projects/${project}/pipeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'private-token': callerToken(1) },
      body: '{"ref":"main"}',
    })
    const text = await reply.text()
    if (reply.status !== 201) throw new Error(`a pipeline was refused: ${text.slice(0, 200)}`)
    return performance.now() - begin
  }
  for (let number = 0; number < warmups; number += 1) await create()
  const before = await service.counts()
  const times: number[] = []
  for (let number = 0; number < pipelines; number += 1) times.push(await create())
  const after = await service.counts()
  times.sort((one, other) => one - other)
  return {
    jobs,
    pipelines,
    statements: (after.statements - before.statements) / pipelines,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  }
}
