import type { Variable, When } from '../types.ts'

/** Why a pipeline has the jobs that it has, told while it is compiled. Plain data. */
export interface Explanation {
  /** The workflow's rules; null when there are none. */
  workflow: RuleTrace[] | null
  /** Every job of the file in its order, whether it is part of the pipeline or not. */
  jobs: JobTrace[]
  /** False: there was more to tell than is told. */
  complete: boolean
  /** What the file gives to the job that was asked for, low to high; null where the compiler did not come to it. */
  variables: JobVariables | null
}

export interface JobVariables {
  /** The name of its environment, expanded. */
  environment: string | null
  predefined: Variable[]
  ofFile: { source: FileSource; variable: Variable }[]
}

/** Where in the file a variable stands. */
export type FileSource = 'global' | 'workflow_rule' | 'job' | 'matrix' | 'rule'

export interface JobTrace {
  name: string
  stage: string
  included: boolean
  reason: Reason
  /** Position of the rule that decided. */
  rule: number | null
  rules: RuleTrace[] | null
  only: ClauseTrace[] | null
  except: ClauseTrace[] | null
}

/** `always`: nothing asks for anything. */
export type Reason =
  'always' | 'rule_matched' | 'rule_never' | 'no_rule_matched' | 'only' | 'except' | 'filters'

export interface RuleTrace {
  index: number
  when: When | 'never' | null
  /** Null: an earlier rule matched, this one was not looked at. */
  matched: boolean | null
  /** Up to the first that does not hold. */
  clauses: ClauseTrace[]
}

/** What one clause looked at, as written, and what it found. */
export type ClauseTrace =
  | { clause: 'if'; holds: boolean; expression: string; values: TracedValue[] }
  | { clause: 'variables'; holds: boolean; expressions: { expression: string; values: TracedValue[] }[] }
  | { clause: 'refs'; holds: boolean; refs: string[]; found: string | null }
  | { clause: 'kubernetes'; holds: boolean }
  | {
      clause: 'changes'
      holds: boolean
      paths: string[]
      compareTo: string | null
      /** False: there is nothing to compare with, and everything counts as changed. */
      comparable: boolean
      found: PathMatch | null
    }
  | {
      clause: 'exists'
      holds: boolean
      paths: string[]
      project: string | null
      ref: string | null
      found: PathMatch | null
    }

export interface TracedValue {
  key: string
  /** Null where there is no such variable, and where its value may not be told. */
  value: string | null
  defined: boolean
  concealed: boolean
}

/** The first path that was found, and the pattern it fits; both null when there was too much to look through. */
export interface PathMatch {
  pattern: string | null
  path: string | null
}

/** A clause that was looked at. What it saw is put into words only when somebody wants to know. */
export interface Judged {
  holds: boolean
  tell: () => ClauseTrace
}

/** Whether all clauses hold; stops at the first that does not. */
export function allHold(clauses: readonly (() => Judged)[], traces: ClauseTrace[] | null): boolean {
  return clauses.every((judge) => told(judge(), traces))
}

/** Whether any clause holds; stops at the first that does. */
export function anyHolds(clauses: readonly (() => Judged)[], traces: ClauseTrace[] | null): boolean {
  return clauses.some((judge) => told(judge(), traces))
}

function told({ holds, tell }: Judged, traces: ClauseTrace[] | null): boolean {
  traces?.push(tell())
  return holds
}

/** Characters that an explanation may take. */
const mostCharacters = 4 * 1024 * 1024

/** Collects what is told while compiling, up to a limit. */
export class Explaining {
  /** Name of the job whose variables are wanted as well. */
  readonly variablesOf: string | null
  readonly explanation: Explanation = { workflow: null, jobs: [], complete: true, variables: null }
  #left = mostCharacters

  constructor(variablesOf: string | null) {
    this.variablesOf = variablesOf
  }

  /** A list to tell traces to; null when enough was told. */
  traces<T>(): T[] | null {
    return this.#left > 0 ? [] : null
  }

  workflow(rules: RuleTrace[] | null): void {
    this.explanation.workflow = rules
  }

  job(trace: JobTrace): void {
    const told = trace.rules !== null || trace.only !== null || trace.except !== null
    if (told) this.#left -= JSON.stringify(trace).length
    if (this.#left <= 0) this.explanation.complete = false
    this.explanation.jobs.push(trace)
  }
}
