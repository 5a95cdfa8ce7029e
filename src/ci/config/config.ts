import type { JobEntry } from '../entries/job.ts'
import type { RootEntry } from '../entries/root.ts'
import type { Inherit } from '../entries/settings.ts'
import type { GlobalVariable } from '../entries/variables.ts'
import type { CrossNeed, Need, Variable } from '../types.ts'
import type { DataMap } from './data.ts'
import type { IncludeFacts } from '../include/fetch.ts'
import type { InputSpec } from '../spec/input-spec.ts'

/** The file, checked, with everything put together that does not depend on the pipeline. */
export interface ParsedConfig {
  stages: string[]
  variables: GlobalVariable[]
  workflow: RootEntry['workflow']
  jobs: JobConfig[]
  warnings: string[]
  /** All files that were included, in the order in which they were merged. */
  includes: IncludeFacts[]
  /** What the file itself takes when a pipeline is made. */
  inputs: InputSpec[]
  /** The file after includes, `extends` and `!reference`; see `mergedYaml`. */
  merged: DataMap
  /** Some rule looks at changed paths: `context.changedPaths` is needed, else any value will do. */
  usesChanges: boolean
  /** Refs named by `changes:compare_to`, as written: expand them for the keys of `context.changedPathsSince`. */
  compareTo: string[]
  /** Some rule looks for files: `context.treePaths` is needed. */
  usesExists: boolean
  /** Other projects in which `exists` looks, as written: expand them for the keys of `context.otherTrees`. */
  otherTrees: { project: string; ref: string | null }[]
  /** Files that cache keys are made of, for `context.keyFiles`; they may hold `*`. */
  keyFiles: { files: string[]; filesCommits: string[] }
}

/** One job to be made, defaults taken and `parallel` spelled out. */
export interface JobConfig {
  name: string
  groupName: string
  stage: string
  stageIndex: number
  entry: JobEntry
  parallel: { index: number; total: number } | null
  matrix: Variable[]
  /** As given, for people. */
  written: { only: unknown; except: unknown }
  inheritVariables: Inherit
  needs: Need[] | null
  crossNeeds: CrossNeed[]
  dependencies: string[] | null
  /** For every rule its own needs, or null where it leaves them. */
  ruleNeeds: ({ needs: Need[]; crossNeeds: CrossNeed[] } | null)[]
}
