import { parseArgs } from 'node:util'
import { Child } from './child.ts'
import { FreshService } from './fresh-service.ts'
import { GitClient } from './git-client.ts'
import { percentile, type LoadRequest, type LoadResult } from './http-load.ts'
import type { LoadHandlers } from './load.ts'
import { memoryOf } from './machine.ts'
import { pace } from './pace.ts'
import { clones, Gits } from './soak-git.ts'
import { apiRequests, prepare, webRequests } from './soak-work.ts'

/*
 * What people do for hours, told window by window, so that whatever grows is seen: questions and changes by the API,
 * pages, pulls and pushes. Each push makes a pipeline, and at the end of a window the real git looks at what was pushed.
 *   npm run bench:soak -- [--hours 8] [--windows 8] [--api 200] [--web 20] [--pull 20] [--push 4]   (these a second)
 */
const { values } = parseArgs({
  options: Object.fromEntries(
    ['hours', 'windows', 'api', 'web', 'pull', 'push'].map((name) => [name, { type: 'string' }]),
  ) as Record<'hours' | 'windows' | 'api' | 'web' | 'pull' | 'push', { type: 'string' }>,
})
const windows = Number(values.windows ?? 8)
const seconds = Math.round((Number(values.hours ?? 8) * 3600) / windows)
const rates = {
  api: Number(values.api ?? 200),
  web: Number(values.web ?? 20),
  pull: Number(values.pull ?? 20),
  push: Number(values.push ?? 4),
}

/** How many times those of the first window they may be in any later one. */
const most = { p99: 1.5, memory: 1.2 }

type Told = Pick<LoadResult, 'answers' | 'p50' | 'p99' | 'errors'>
type Kind = keyof typeof rates
type Window = Readonly<Record<Kind, Told>> & { readonly memory: number }

/** So often a second, by no more than so many at once. */
async function steadily(rate: number, atOnce: number, act: (worker: number) => Promise<void>): Promise<Told> {
  const times: number[] = []
  const errors: Record<string, number> = {}
  const turn = pace(rate)
  const end = performance.now() + seconds * 1000
  const work = async (_: unknown, worker: number): Promise<void> => {
    while (performance.now() < end) {
      const due = await turn()
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

await using service = await FreshService.start({ ROLES: 'web,tasks' })
const world = await prepare(service)
const git = new GitClient(service.directory, new AbortController().signal)
const gits = await Gits.clone(service, world, git)
await using load = new Child<LoadHandlers>(new URL('load.ts', import.meta.url))
const http = (rate: number, requests: readonly LoadRequest[]): Promise<Told> =>
  load.call('http', { port: service.port, connections: 16, seconds, requests, rate })
const requests = apiRequests(world)
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
  await gits.check(git, told.length)
  told.push(window)
  tell(told.length, window)
}
const wrong = complaints(told)
for (const line of wrong) console.log(line)
if (wrong.length > 0) process.exitCode = 1
else console.log('no error, and neither times nor memory grew')
