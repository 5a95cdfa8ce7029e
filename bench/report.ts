import { format, resolveConfig } from 'prettier'
import type { Figure } from './figures.ts'
import { judge } from './goals.ts'
import type { LoadResult } from './http-load.ts'
import type { Measured } from './measure.ts'
import type { Results } from './results.ts'

type Cells = readonly (string | number | undefined)[]

const digits = (value: number | undefined, places = 0): string =>
  value === undefined || Number.isNaN(value)
    ? '-'
    : value.toLocaleString('en', { minimumFractionDigits: places, maximumFractionDigits: places })

/** A table in Markdown; the first columns to the left, the others to the right. */
function table(head: readonly string[], lines: readonly Cells[], left = 1): string {
  const rule = head.map((_, index) => (index < left ? '---' : '---:'))
  return [head, rule, ...lines]
    .map((cells) => `| ${cells.map((cell) => cell ?? '-').join(' | ')} |`)
    .join('\n')
}

function errorsOf({ errors, answers }: LoadResult): string {
  const kinds = Object.entries(errors)
  if (kinds.length === 0) return '0'
  const all = kinds.reduce((sum, [, count]) => sum + count, 0)
  return `${digits(all)} of ${digits(all + answers)}: ${kinds.map(([kind]) => kind).join(', ')}`
}

function endpointCells({
  title,
  missing,
  connections,
  result,
  statements,
  ceiling,
  timeRatio,
  effort,
}: Measured): Cells {
  if (result === undefined) return [title, missing, ...Array<string>(10).fill('')]
  return [
    title,
    digits(result.rate),
    digits(result.p50, 1),
    digits(result.p95, 1),
    digits(result.p99, 1),
    errorsOf(result),
    digits(statements, 2),
    effort === undefined ? '-' : `${digits(effort.own)} + ${digits(effort.others)}`,
    connections,
    digits(ceiling),
    ceiling === undefined ? '-' : digits(result.rate / ceiling, 3),
    timeRatio === undefined ? '' : digits(timeRatio, 2),
  ]
}

const endpointHead = [
  ...['', 'req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'errors', 'SQL', 'CPU µs'],
  ...['connections', 'bare req/s', 'ratio', 'time to 1,000'],
]

function startCells({ starts, seededIn }: Results): Cells[] {
  if (starts === undefined) return []
  const megabytes = (bytes: number | undefined): string =>
    bytes === undefined ? 'not told here' : `${digits(bytes / 1e6)} MB`
  return [
    ['first start, database made', `${digits(starts.first)} ms`],
    ['start on existing data', `${digits(starts.again)} ms`],
    ['stop', `${digits(starts.stop)} ms`],
    ['memory of all processes, idle', megabytes(starts.memoryIdle)],
    ['memory of all processes, after the load', megabytes(starts.memoryAfter)],
    ['filling the database', `${digits((seededIn ?? NaN) / 1000, 1)} s`],
  ]
}

function figureCells(figures: readonly Figure[] = []): Cells[] {
  return figures.map(({ what, p50, p99, times }) => [what, digits(p50, 1), digits(p99, 1), times])
}

function fanOutCells({ fanOut }: Results): Cells[] {
  if (fanOut === undefined) return []
  const { followers, times, p50, p99, statements } = fanOut
  return [
    [
      `from a note to the last of ${digits(followers)} who follow`,
      `p50 ${digits(p50)} ms, p99 ${digits(p99)} ms of ${times}; ${digits(statements, 1)} statements a note`,
    ],
  ]
}

function ciCells({ latencies, idle, compiling, creation }: Results): Cells[] {
  return [
    ...(compiling === undefined
      ? []
      : [
          [
            `compile a configuration of ${digits(compiling.jobs)} jobs`,
            `median ${digits(compiling.median)} ms, worst ${digits(compiling.worst)} ms`,
          ],
        ]),
    ...(creation === undefined
      ? []
      : [
          [
            `create a pipeline of ${creation.jobs} jobs`,
            `p50 ${digits(creation.p50)} ms, p99 ${digits(creation.p99)} ms of ${creation.pipelines}; ` +
              `${digits(creation.statements, 1)} statements`,
          ],
        ]),
    ...latencies.map(({ runners, pushes, missing, p50, p99, lost }) => [
      `push accepted to job claimed, ${digits(runners)} idle runner${runners === 1 ? '' : 's'}`,
      missing ?? `p50 ${digits(p50, 1)} ms, p99 ${digits(p99, 1)} ms of ${pushes}; ${lost ?? 0} lost`,
    ]),
    ...idle.map(({ runners, seconds, tables, bytes }) => [
      `written in ${seconds} s with ${digits(runners)} idle runners`,
      `${tables.map(({ name, rows }) => `${name}: ${digits(rows)} rows`).join(', ') || 'no row'}; ${digits(bytes)} bytes of log`,
    ]),
  ]
}

/** The whole result as a page in Markdown. */
export async function page(results: Results): Promise<string> {
  const { machine, endpoints, transfers, remarks } = results
  const goals = judge(results).map(({ operation, must, figure, holds }) => [
    operation,
    must,
    figure,
    holds === undefined ? '' : holds ? 'yes' : '**no**',
  ])
  const git = transfers.map(({ what, size, service, file, http }) => [
    `${what}, ${size}`,
    digits(service, 2),
    digits(http, 2),
    digits(file, 2),
    digits(http && service / http, 2),
    digits(service / file, 2),
  ])
  const starts = startCells(results)
  const ci = ciCells(results)
  const wiki = figureCells(results.wikis)
  const merges = figureCells(results.merges)
  const streams = fanOutCells(results)
  const ldap: Cells[] = (results.ldap ?? []).map(({ what, seconds }) => [what, digits(seconds, 1)])
  const text = `# Benchmarks

The service with data of its own, and the load on it, all on one machine.

- **ratio**: against a bare Fastify that writes the same JSON and headers, measured right before and after. Ratios
  differ less between machines than times do. Of five rounds the middle one is told
- **SQL**: statements a request
- **CPU**: processor time of a request, in the service and in the database
- **time to 1,000**: how many times longer an answer takes than on a project with 1,000 pipelines

This run:

- \`${results.command}\`
- ${results.date}; the run took ${digits(results.took)} s
- ${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, ${machine.system}
- Node ${machine.node}, PostgreSQL ${results.postgres}, git ${machine.git}
- load average before the run: ${digits(machine.loadBefore, 1)}
- ${results.data}

## Goals

${table(['operation', 'must', 'figure', 'holds'], goals, 3)}

${starts.length === 0 ? '' : `## Start and memory\n\n${table(['', 'figure'], starts)}`}

${endpoints.length === 0 ? '' : `## Endpoints\n\n${table(endpointHead, endpoints.map(endpointCells))}`}

${git.length === 0 ? '' : `## Git transfers\n\nSeconds, the best of all tries.\n\n${table(['', 'service', 'bare git, HTTP', 'bare git, folder', 'ratio to HTTP', 'ratio to folder'], git)}`}

${ci.length === 0 ? '' : `## CI\n\n${table(['', 'figure'], ci, 2)}`}

${wiki.length === 0 ? '' : `## Wikis\n\nMilliseconds, one caller after the other.\n\n${table(['', 'p50', 'p99', 'times'], wiki)}`}

${merges.length === 0 ? '' : `## Merge requests\n\nMilliseconds, one caller after the other.\n\n${table(['', 'p50', 'p99', 'times'], merges)}`}

${streams.length === 0 ? '' : `## Streams\n\n${table(['', 'figure'], streams, 2)}`}

${ldap.length === 0 ? '' : `## LDAP\n\nSeconds, with a real OpenLDAP.\n\n${table(['', 'seconds'], ldap)}`}

${remarks.length === 0 ? '' : `## Remarks\n\n${remarks.map((remark) => `- ${remark}`).join('\n')}`}
`
  const file = new URL('../BENCHMARKS.md', import.meta.url)
  return format(text, { ...(await resolveConfig(file)), parser: 'markdown' })
}
