/**
 * The nouns of the CI core. Everything here is plain data that survives `JSON.stringify`, so that a compiled job can
 * be stored as it is.
 */

import type { Explanation } from './compile/explanation.ts'
import type { Release } from './entries/release.ts'
import type { InputSpec } from './spec/input-spec.ts'

export type { Explanation, InputSpec, Release }

export type PipelineSource =
  | 'unknown'
  | 'push'
  | 'web'
  | 'trigger'
  | 'schedule'
  | 'api'
  | 'external'
  | 'pipeline'
  | 'chat'
  | 'webide'
  | 'merge_request_event'
  | 'external_pull_request_event'
  | 'parent_pipeline'
  | 'ondemand_dast_scan'
  | 'ondemand_dast_validation'
  | 'security_orchestration_policy'
  | 'container_registry_push'
  | 'duo_workflow'
  | 'pipeline_execution_policy_schedule'

/** What a job can be in. Pipelines use the same words; `canceling` of a pipeline is shown as `running`. */
export type Status =
  | 'created'
  | 'waiting_for_resource'
  | 'waiting_for_callback'
  | 'preparing'
  | 'pending'
  | 'running'
  | 'success'
  | 'failed'
  | 'canceling'
  | 'canceled'
  | 'skipped'
  | 'manual'
  | 'scheduled'

/** When a job runs, looking at what comes before it. `never` exists in rules only. */
export type When = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'

export interface Variable {
  key: string
  value: string
  /** Never expanded, neither here nor where it is referred to. */
  raw?: boolean
  /** The runner writes the value to a file; the variable holds the path. */
  file?: boolean
}

/** A variable as stored: it reaches only jobs whose environment matches the scope (`*` when left out). */
export interface ScopedVariable extends Variable {
  environmentScope?: string
  /** Hidden in texts for people; may not be put into the configuration. */
  masked?: boolean
  /** Whoever asks for an explanation may not see the value. */
  concealed?: boolean
}

/** What a pipeline is compiled for. The shell gathers it; `usesChanges`, `usesExists` and their like in the
 * parsed config say which of the costly parts matter. */
export interface CompileContext {
  source: PipelineSource
  /** Short name, `main` or `v1.0`. */
  ref: string
  refType: 'branch' | 'tag'
  /** Full path of the project, for `only: [main@group/project]`. */
  projectPath?: string
  /** Precedence: predefined, then those of the file, then given. Each list is ordered low to high. */
  variables: {
    /** What is known before the pipeline exists (`CI_COMMIT_BRANCH`, …). Those of a job are added by `compile`. */
    predefined: Variable[]
    /** Instance, group, project and pipeline variables; see `orderBySpecificity` for several scopes of one key. */
    given: ScopedVariable[]
  }
  /** Paths changed by the push or merge request; null when there is nothing to compare (then `changes` is true). */
  changedPaths: string[] | null
  /** For `changes:compare_to`: expanded ref -> changed paths. A ref that is missing here is not a valid ref. */
  changedPathsSince?: Record<string, string[]>
  /** Paths of all files of the commit, for `exists`. */
  treePaths: string[]
  /** For `exists:project`: `otherTreeKey(project, ref)` -> paths; also of the default branch where there is no such ref. */
  otherTrees?: Record<string, string[]>
  kubernetesActive?: boolean
  /** Jobs that one may need; left out: 50. */
  mostNeeds?: number
  /**
   * For cache keys made of files: for every name of `config.keyFiles` the ids of the blobs (`files`) or of the last
   * commits (`filesCommits`) of the files it matches. Left out, such keys stay as they are written.
   */
  keyFiles?: { files: Record<string, string[]>; filesCommits: Record<string, string[]> }
  /** Values of `$[[ inputs.x ]]` in expressions. */
  inputs?: Record<string, string | number | boolean | null>
  /** 0 or left out: unlimited. */
  maximumJobs?: number
}

export interface Need {
  /** Name of one compiled job; `parallel` jobs are already spelled out. */
  name: string
  /** Whether its artifacts are downloaded. */
  artifacts: boolean
  optional: boolean
}

/** A need outside this pipeline: the latest successful job of a ref, or a job of an upstream pipeline. */
export interface CrossNeed {
  project?: string
  ref?: string
  pipeline?: string
  job: string
  artifacts: boolean
}

export interface Image {
  name: string
  entrypoint: string[] | null
  pullPolicy: string[] | null
  executorOpts: {
    docker?: { platform?: string; user?: string }
    kubernetes?: { user?: string | number }
  }
}

export interface Service extends Image {
  alias: string | null
  command: string[] | null
  variables: Variable[]
}

/** One part of the job for the runner. Its timeout is the job's. */
export interface Step {
  name: 'script' | 'release' | 'after_script'
  script: string[]
  when: 'on_success' | 'always'
  allowFailure: boolean
}

/** One thing the runner uploads at the end: the archive, or one report. */
export interface ArtifactUpload {
  name: string | null
  untracked: boolean
  paths: string[]
  exclude: string[]
  when: 'on_success' | 'on_failure' | 'always'
  /** As written (`1 week`, `never`); null: the default of the instance. */
  expireIn: string | null
  artifactType: string
  artifactFormat: 'zip' | 'gzip' | 'raw'
}

export type ArtifactAccess = 'all' | 'developer' | 'maintainer' | 'none'

/** Of files, where the context did not tell their ids. */
export type CacheKey = string | { files?: string[]; filesCommits?: string[]; prefix?: string }

export interface Cache {
  key: CacheKey
  paths: string[]
  untracked: boolean
  /** `pull-push`, `pull`, `push`, or a variable. */
  policy: string
  when: 'on_success' | 'on_failure' | 'always'
  fallbackKeys: string[]
  /** The key is shared between protected and other refs. */
  unprotect: boolean
}

export interface Environment {
  /** As written. */
  name: string
  /** With the variables known now. */
  expandedName: string
  url: string | null
  onStop: string | null
  action: 'start' | 'prepare' | 'stop' | 'verify' | 'access'
  autoStopIn: string | null
  deploymentTier: string | null
  kubernetes: Record<string, unknown> | null
}

export interface Retry {
  max: number
  when: string[]
  exitCodes: number[]
}

/** A job that starts a downstream pipeline, or (with `mirrors`) copies the status of one. Nothing is expanded yet. */
export interface Bridge {
  project: string | null
  branch: string | null
  include: Record<string, unknown>[] | null
  strategy: 'depend' | 'mirror' | null
  forward: { yamlVariables: boolean; pipelineVariables: boolean }
  inputs: Record<string, unknown>
  /** `needs: { pipeline: path }`: the project whose latest status is mirrored. */
  mirrors: string | null
}

export interface CompiledJob {
  name: string
  /** `rspec` for `rspec 1/2` and `rspec: [a, b]`, made by `parallel` or written so. */
  groupName: string
  stage: string
  stageIndex: number
  when: When
  /** Seconds; only with `when: delayed`. */
  startIn: number | null
  manualConfirmation: string | null
  allowFailure: boolean
  /** Only these exit codes are forgiven; then `allowFailure` is false until the job ends. */
  allowFailureExitCodes: number[] | null
  /** What the file gives the job: global, workflow rule, job, matrix, rule; merged, the last one won. */
  variables: Variable[]
  /** null: the job waits for all earlier stages; a list (also an empty one): only for these. */
  needs: Need[] | null
  crossNeeds: CrossNeed[]
  /** Whose artifacts are downloaded; null: of all earlier stages. */
  dependencies: string[] | null
  /** Expanded. */
  tags: string[]
  image: Image | null
  services: Service[]
  steps: Step[]
  /** `run:` as given; then there are no steps. */
  run: unknown[] | null
  hooks: { name: string; script: string[] }[]
  artifacts: ArtifactUpload[]
  artifactAccess: ArtifactAccess
  exposeAs: string | null
  cache: Cache[]
  /** Seconds; null: the project's. */
  timeout: number | null
  retry: Retry | null
  interruptible: boolean
  /** Source text of an RE2 pattern, without the slashes. */
  coverage: string | null
  environment: Environment | null
  /** Expanded. */
  resourceGroup: string | null
  parallel: { index: number; total: number } | null
  idTokens: Record<string, { aud: string | string[] }>
  secrets: Record<string, unknown>
  release: Release | null
  /** True or the given map, expanded, for jobs that publish a site; null for all others. */
  pages: true | Record<string, unknown> | null
  /** What a runner gets unless somebody starts the job with other values. */
  inputs: Record<string, unknown>
  inputSpecs: InputSpec[]
  identity: string | null
  /** As given, for the lint answer. */
  only: unknown
  except: unknown
  /** Not null: this is a trigger job; nothing is run by a runner. */
  bridge: Bridge | null
}

export interface AutoCancel {
  onNewCommit: 'conservative' | 'interruptible' | 'none'
  onJobFailure: 'none' | 'all'
}

/** Why there is no pipeline, in the words of its `failure_reason`. */
export type CompileFailure =
  'config_error' | 'filtered_by_workflow_rules' | 'filtered_by_rules' | 'size_limit_exceeded'

export interface CompiledPipeline {
  /** In the order of the stages, and within one as written. */
  jobs: CompiledJob[]
  /** All stages, also those without jobs; `stageIndex` counts in this list. */
  stages: string[]
  /** `workflow:name` expanded; null when there is none or it came out blank. */
  workflowName: string | null
  autoCancel: AutoCancel
  /** Variables for every job of the pipeline, for downstream use: global with the workflow rule's on top. */
  variables: Variable[]
  warnings: string[]
  explanation?: Explanation
}

/** The explanation only when it was asked for. */
export type CompileResult =
  | CompiledPipeline
  | { errors: string[]; failureReason: CompileFailure; warnings: string[]; explanation?: Explanation }
