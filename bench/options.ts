import { parseArgs } from 'node:util'

/** How much data there is. */
export interface Scale {
  /** Users with a token, who call. */
  readonly callers: number
  /** Levels of the group tree. */
  readonly depth: number
  /** Memberships in the uppermost group of the tree; each is a user's. */
  readonly members: number
  readonly projects: number
  /** CI/CD variables in one project. */
  readonly variables: number
  /** Pipelines in one project. */
  readonly pipelines: number
}

export interface Options {
  readonly scale: Scale
  /** Seconds of each measured window. */
  readonly duration: number
  /** Windows of a row, of which the middle one counts. */
  readonly rounds: number
  /** Connections of the load where a row does not say otherwise. */
  readonly connections: number
  /** Parts of names of rows; empty: all. */
  readonly only: readonly string[]
  readonly quick: boolean
  readonly write: boolean
  /** Seconds after which nothing new is begun. */
  readonly budget: number
}

const scales: Readonly<Record<string, Scale>> = {
  small: { callers: 500, depth: 6, members: 5_000, projects: 200, variables: 500, pipelines: 50_000 },
  full: {
    callers: 5_000,
    depth: 6,
    members: 50_000,
    projects: 1_000,
    variables: 2_000,
    pipelines: 1_000_000,
  },
}

export const usage = `Measures a service of its own with data of its own.

  npm run bench -- [options]

  --scale small|full    size of the data (full)
  --callers, --depth, --members, --projects, --variables, --pipelines <n>
                        one of the sizes
  --duration <s>        seconds of each of five windows (1.2; quick: one of 0.6)
  --connections <n>     connections of the load (64)
  --only <names>        only rows whose name has one of these parts, separated by commas
  --quick               a small and short run: under 90 s
  --write               writes the result into BENCHMARKS.md
`

/** A wrong command line; the message is for people. */
export class WrongUsage extends Error {}

/** Undefined when only help was asked for. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parse(args)
  if (values.help === true) return undefined
  const quick = values.quick === true
  const name = values.scale ?? (quick ? 'small' : 'full')
  const scale = scales[name]
  if (scale === undefined) throw new WrongUsage(`--scale is ${Object.keys(scales).join(' or ')}`)
  const count = (key: keyof Scale, least: number): number => atLeast(least, key, values[key], scale[key])
  const chosen: Scale = {
    callers: count('callers', 10),
    depth: count('depth', 1),
    members: count('members', 10),
    projects: count('projects', 50),
    variables: count('variables', 1),
    pipelines: count('pipelines', 2_000),
  }
  if (chosen.callers > chosen.members) throw new WrongUsage('--callers: every caller is one of the --members')
  return {
    scale: chosen,
    duration: atLeast(0.2, 'duration', values.duration, quick ? 0.6 : 1.2),
    rounds: quick ? 1 : 5,
    connections: atLeast(1, 'connections', values.connections, 64),
    only: (values.only ?? '')
      .split(',')
      .flatMap((part) => (part.trim() === '' ? [] : [part.trim().toLowerCase()])),
    quick,
    write: values.write === true,
    budget: quick ? 80 : 1500,
  }
}

function parse(args: readonly string[]) {
  const number = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...{
          callers: number,
          depth: number,
          members: number,
          projects: number,
          variables: number,
          pipelines: number,
        },
        ...{ scale: number, duration: number, connections: number, only: number },
        ...{ quick: flag, write: flag, help: flag },
      },
    })
  } catch (error) {
    throw new WrongUsage((error as Error).message)
  }
}

function atLeast(least: number, name: string, text: string | undefined, usual: number): number {
  const value = text === undefined ? usual : Number(text)
  if (!(value >= least) || (least >= 1 && !Number.isInteger(value))) {
    throw new WrongUsage(`--${name} is a number from ${least} on`)
  }
  return value
}
