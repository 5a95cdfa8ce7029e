import type { Transfer } from './git.ts'
import type { LoadResult } from './http-load.ts'
import type { Measured } from './measure.ts'
import type { Results } from './results.ts'

/** A goal against what was found. */
export interface Judged {
  readonly operation: string
  readonly must: string
  readonly figure: string
  /** Undefined: not measured. */
  readonly holds: boolean | undefined
}

interface Finding {
  readonly figure: string
  readonly holds: boolean
}

interface Goal {
  readonly operation: string
  readonly must: string
  /** Undefined when there is nothing to judge. */
  readonly find: (results: Results) => Finding | undefined
}

type Whole = Measured & { readonly result: LoadResult; readonly ceiling: number }

const digits = (value: number, places = 0): string =>
  value.toLocaleString('en', { minimumFractionDigits: places, maximumFractionDigits: places })

function rows(results: Results, fits: (name: string) => boolean): Whole[] {
  return results.endpoints.filter((row): row is Whole => row.result !== undefined && fits(row.name))
}

function row(results: Results, name: string): Whole | undefined {
  return rows(results, (found) => found === name)[0]
}

const ratioOf = ({ result, ceiling }: Whole): number => result.rate / ceiling
const isWhole = ({ result }: Whole): boolean => Object.keys(result.errors).length === 0

/** The lowest ratio of these rows, none of which had an error. */
function ratio(least: number, names: (name: string) => boolean) {
  return (results: Results): Finding | undefined => {
    const found = rows(results, names)
    if (found.length === 0) return undefined
    const lowest = Math.min(...found.map(ratioOf))
    return { figure: digits(lowest, 3), holds: lowest >= least && found.every(isWhole) }
  }
}

/** How many times as long as with bare git, for the history whose size is told so. */
function transfer(what: Transfer['what'], size: string, operation: string, most: number): Goal {
  return {
    operation,
    must: String(most),
    find({ transfers }) {
      const found = transfers.find((one) => one.what === what && one.size.endsWith(size))
      if (found === undefined) return undefined
      const times = found.service / (found.http ?? found.file)
      return { figure: digits(times, 2), holds: times <= most }
    },
  }
}

function p99(most: number, name: string) {
  return (results: Results): Finding | undefined => {
    const found = row(results, name)
    return (
      found && {
        figure: `${digits(found.result.p99, 1)} ms`,
        holds: found.result.p99 <= most && isWhole(found),
      }
    )
  }
}

function syncFigure(ldap: Results['ldap'], what: string, most: number): Finding | undefined {
  const found = ldap?.find((one) => one.what === what)
  return found && { figure: `${digits(found.seconds, 1)} s`, holds: found.seconds <= most }
}

const isNewList = (name: string): boolean => name.startsWith('pipelines-') && name.endsWith('-new')
const isList = (name: string): boolean =>
  (name === 'pipelines' || name.startsWith('pipelines-')) && !isNewList(name)
const notYet = (): undefined => undefined

const goals: readonly Goal[] = [
  {
    operation: 'get one variable, one pipeline',
    must: 'ratio 0.18, one statement',
    find(results) {
      const names = (name: string): boolean => name === 'variable' || name === 'pipeline'
      const found = ratio(0.18, names)(results)
      const most = Math.max(...rows(results, names).map(({ statements }) => statements ?? NaN))
      return found && { figure: `${found.figure}, ${digits(most, 2)}`, holds: found.holds && most <= 1.01 }
    },
  },
  { operation: 'list 20 pipelines, any page or single filter', must: 'ratio 0.20', find: ratio(0.2, isList) },
  { operation: 'the same, asked for the first time', must: 'ratio 0.20', find: ratio(0.2, isNewList) },
  {
    operation: 'list 20 pipelines, any page or single filter',
    must: 'p99 15 ms at 64 connections',
    find(results) {
      const found = rows(results, isList).filter(({ connections }) => connections === 64)
      if (found.length === 0) return undefined
      const worst = Math.max(...found.map(({ result }) => result.p99))
      return { figure: `${digits(worst, 1)} ms`, holds: worst <= 15 && found.every(isWhole) }
    },
  },
  {
    operation: 'list 20 pipelines, of all against of 1,000',
    must: '1.3 times as long',
    find(results) {
      const found = rows(results, isList).flatMap(({ timeRatio }) => timeRatio ?? [])
      if (found.length === 0) return undefined
      return { figure: digits(Math.max(...found), 2), holds: Math.max(...found) <= 1.3 }
    },
  },
  {
    operation: 'create a variable, durable',
    must: '3,000/s, p99 25 ms',
    find(results) {
      const found = row(results, 'create-variable')
      if (found === undefined) return undefined
      const { rate, p99: worst } = found.result
      return {
        figure: `${digits(rate)}/s, ${digits(worst, 1)} ms`,
        holds: rate >= 3000 && worst <= 25 && isWhole(found),
      }
    },
  },
  { operation: 'discussions page of 5,000 notes', must: 'p99 40 ms', find: p99(40, 'discussions') },
  {
    operation: 'discussions page of 5,000 notes against one of 50',
    must: '2 times as long, 3 statements',
    find(results) {
      const found = row(results, 'discussions')
      if (found?.timeRatio === undefined) return undefined
      const { timeRatio, statements = NaN } = found
      return {
        figure: `${digits(timeRatio, 2)}, ${digits(statements, 2)}`,
        holds: timeRatio <= 2 && statements <= 3,
      }
    },
  },
  { operation: 'members/all of 50,000', must: 'p99 30 ms a page', find: p99(30, 'members-all') },
  {
    operation: 'wiki list of 10,000 pages',
    must: 'p99 60 ms',
    find({ wikis }) {
      const found = wikis?.find(({ what }) => what === 'list of 10000 pages')
      return found && { figure: `${digits(found.p99, 1)} ms`, holds: found.p99 <= 60 }
    },
  },
  {
    operation: 'LDAP: first sync of 10,000 users in 500 groups',
    must: '30 s',
    find: ({ ldap }) => syncFigure(ldap, 'first sync of 10,000 users in 500 groups', 30),
  },
  {
    operation: 'LDAP: the same with nothing to do',
    must: '3 s',
    find({ ldap }) {
      const whole = ldap?.some(({ what }) => what === 'first sync of 10,000 users in 500 groups')
      return whole === true ? syncFigure(ldap, 'sync with nothing to do', 3) : undefined
    },
  },
  { operation: 'settings: read, at 1,000/s', must: 'p99 5 ms', find: p99(5, 'settings-steady') },
  { operation: 'settings: read, as often as can be', must: 'p99 5 ms', find: p99(5, 'settings') },
  {
    operation: 'create a pipeline of 20 jobs, at 20/s',
    must: 'p99 120 ms',
    find: p99(120, 'create-pipeline-steady'),
  },
  {
    operation: 'create a pipeline of 20 jobs, as often as can be',
    must: 'p99 120 ms',
    find: p99(120, 'create-pipeline'),
  },
  {
    operation: 'compile a configuration of 2,000 jobs',
    must: '150 ms',
    find: ({ compiling }) =>
      compiling && { figure: `${digits(compiling.median)} ms`, holds: compiling.median <= 150 },
  },
  {
    operation: 'create a pipeline of 200 jobs',
    must: '10 statements',
    find: ({ creation }) =>
      creation && {
        figure: `${digits(creation.statements, 1)}, p50 ${digits(creation.p50)} ms`,
        holds: creation.statements <= 10,
      },
  },
  {
    operation: 'push accepted to job claimed, 1,000 idle runners',
    must: 'p50 150 ms, p99 1 s',
    find({ latencies }) {
      const { p50, p99: worst, lost, runners } = latencies.findLast((one) => one.p50 !== undefined) ?? {}
      if (p50 === undefined || worst === undefined) return undefined
      return {
        figure: `${digits(p50)} ms, ${digits(worst)} ms (${digits(runners ?? 0)} runners)`,
        holds: p50 <= 150 && worst <= 1000 && lost === 0,
      }
    },
  },
  {
    operation: 'rows written for idle runners',
    must: 'none',
    find({ idle }) {
      const found = idle.at(-1)
      if (found === undefined) return undefined
      const rows = found.tables.reduce((sum, table) => sum + table.rows, 0)
      return {
        figure: `${rows} in ${found.seconds} s (${digits(found.runners)} runners)`,
        holds: rows === 0,
      }
    },
  },
  {
    operation: 'git ref advertisement',
    must: '500/s, p90 12 ms',
    find(results) {
      const found = rows(results, (name) => name.startsWith('git-'))
      const [steady, busy] = [true, false].map((is) =>
        found.filter(({ name }) => name.endsWith('-steady') === is),
      )
      if (steady!.length === 0 || busy!.length === 0) return undefined
      const rate = Math.min(...busy!.map(({ result }) => result.rate))
      const slowest = Math.max(...steady!.map(({ result }) => result.p90))
      return {
        figure: `${digits(rate)}/s, ${digits(slowest, 1)} ms`,
        holds: rate >= 500 && slowest <= 12 && found.every(isWhole),
      }
    },
  },
  ...(['push', 'clone'] as const).flatMap((what) => [
    transfer(what, 'commits', `${what}, time against bare git over HTTP`, 1.3),
    transfer(what, '200 MB', `${what} of 200 MB, time against bare git over HTTP`, 1.1),
  ]),
  { operation: 'registry manifest and blob', must: '1,500/s; 0.8 of file streaming', find: notYet },
  {
    operation: 'memory idle, all processes',
    must: '250 MB',
    find({ starts }) {
      if (starts?.memoryIdle === undefined) return undefined
      return { figure: `${digits(starts.memoryIdle / 1e6)} MB`, holds: starts.memoryIdle <= 250e6 }
    },
  },
  {
    operation: 'first start, with a new database',
    must: '5 s',
    find: ({ starts }) =>
      starts && { figure: `${digits(starts.first / 1000, 2)} s`, holds: starts.first <= 5000 },
  },
  {
    operation: 'start again on existing data',
    must: '2 s',
    find: ({ starts }) =>
      starts && { figure: `${digits(starts.again / 1000, 2)} s`, holds: starts.again <= 2000 },
  },
  { operation: 'soak of 8 hours', must: 'no 5xx, flat memory', find: notYet },
]

/** Every goal there is; those that this run did not measure are told as such. */
export function judge(results: Results): Judged[] {
  return goals.map(({ operation, must, find }) => {
    const found = find(results)
    return { operation, must, figure: found?.figure ?? 'not measured', holds: found?.holds }
  })
}
