import type { Idle, Latency } from './ci.ts'
import type { Compiling } from './compile.ts'
import type { Creation } from './creation.ts'
import type { Figure } from './figures.ts'
import type { FanOut } from './discussions.ts'
import type { Transfer } from './git.ts'
import type { Machine } from './machine.ts'
import type { Measured } from './measure.ts'
import type { LdapFigure } from './ldap.ts'

/** Times in milliseconds, memory in bytes; undefined: not measured. */
export interface Starts {
  readonly first: number
  readonly again: number
  readonly stop: number
  readonly memoryIdle: number | undefined
  memoryAfter?: number | undefined
}

/** All that a run found out; what was not asked for is empty. */
export interface Results {
  readonly command: string
  readonly date: string
  readonly data: string
  readonly machine: Machine
  postgres: string
  starts?: Starts
  seededIn?: number
  readonly endpoints: Measured[]
  readonly transfers: Transfer[]
  readonly latencies: Latency[]
  readonly idle: Idle[]
  compiling?: Compiling
  creation?: Creation
  fanOut?: FanOut
  wikis?: readonly Figure[]
  merges?: readonly Figure[]
  ldap?: readonly LdapFigure[]
  /** What went wrong or was left out, in words. */
  readonly remarks: string[]
  /** Seconds of the whole run. */
  took: number
}
