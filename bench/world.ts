import { createHash } from 'node:crypto'

/*
 * The data set as a reckoning: what lies under which id, so that whoever makes requests need not ask. `seed.ts` makes it.
 */

/** Ids of users, projects and pipelines begin above it: number 1 has this and one. */
export const firstId = 1_000

export const rootToken = 'root-token-of-the-benchmark'
export const secretKey = 'the secret key of the benchmark, not of anything else'
export const runnerCount = 1_000

/** The token of the caller of this number, from 1. */
export const callerToken = (number: number | string): string => `glpat-bench-caller-${number}`
export const runnerToken = (number: number | string): string => `glrt-bench-runner-${number}`

/** Projects with a part to play; all of them lie in the tree. */
export const special = {
  bigProject: firstId + 1,
  smallProject: firstId + 2,
  variablesProject: firstId + 3,
  /** With a hundred branches. */
  branchesProject: firstId + 5,
  /** The one whose pushes are waited for. */
  latencyProject: firstId + 6,
  /** With a configuration of twenty jobs. */
  pipelineProjects: [7, 9, 10, 11, 13, 14, 15, 17].map((number) => firstId + number),
  /** With a configuration of two hundred jobs. */
  creationProject: firstId + 29,
  /** Each taken by one push. */
  pushProjects: [firstId + 18, firstId + 19, firstId + 21, firstId + 22, firstId + 30],
  /** Whose jobs runners take out of a long queue. */
  queueProjects: [23, 25, 26, 27].map((number) => firstId + number),
} as const

export interface PlacedGroup {
  readonly id: number
  readonly line: readonly number[]
  readonly path: string
}

const siblings = 5

const groupId = (level: number, place: number): number => 500_000 + level * 100 + place

function groups(depth: number): PlacedGroup[] {
  const found: PlacedGroup[] = []
  let line: number[] = []
  let path = ''
  for (let level = 0; level < depth; level += 1) {
    for (let place = 0; place < (level === 0 ? 1 : siblings); place += 1) {
      const id = groupId(level, place)
      found.push({ id, line: [...line, id], path: `${path}level-${level}-${place}` })
    }
    line = [...line, groupId(level, 0)]
    path += `level-${level}-0/`
  }
  return found
}

const atMost = (most: number, wanted: number): number => Math.max(1, Math.min(most, Math.floor(wanted)))

/** The numbers behind the data. Functions ending in `Sql` give the SQL of what their twins reckon. */
export const shape = {
  groupId,
  groups,
  smallProjectPipelines: 1_000,
  /** Different values among so many pipelines: few enough for a full page of each. */
  pipelineUsers: (pipelines: number, callers: number): number =>
    atMost(Math.min(500, callers), pipelines / 40),
  refs: (pipelines: number): number => atMost(1_000, pipelines / 40),
  names: (pipelines: number): number => atMost(200, pipelines / 250),
  /** Every fourth project is a user's own. */
  isPersonal: (project: number): boolean => (project - firstId) % 4 === 0,
  isPersonalSql: (number: string): string => `${number} % 4 = 0`,
  /** The caller who owns a personal project. */
  ownerOf: (project: number, callers: number): number => 1 + ((project - firstId) % callers),
  /** Three pipelines in a row are of one commit. */
  sha: (iid: number): string => {
    const md5 = createHash('md5')
      .update(String(Math.floor(iid / 3)))
      .digest('hex')
    return md5 + md5.slice(0, 8)
  },
  shaSql: (iid: string): string => `md5((${iid} / 3)::text) || left(md5((${iid} / 3)::text), 8)`,
  projectPath(project: number, depth: number, callers: number): string {
    const number = project - firstId
    const all = groups(depth)
    const home = shape.isPersonal(project)
      ? `user${shape.ownerOf(project, callers)}`
      : all[number % all.length]!.path
    return `${home}/project-${number}`
  },
} as const

/** Numbers that are the same in every run (mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0, below `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }
}
