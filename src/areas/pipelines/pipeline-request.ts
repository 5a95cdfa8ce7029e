import type { Actor, ProjectSubject } from '../../access/index.ts'
import type { PipelineSource } from '../../ci/index.ts'
import type { Oid } from '../../git/index.ts'
import type { ChildConfig } from './load-config.ts'
import type { MergeRequestFacts } from './merge-request.ts'
import type { Upstream } from './predefined.ts'

export interface GivenVariable {
  readonly key: string
  readonly value: string
  readonly variable_type: 'env_var' | 'file'
  readonly raw?: boolean
}

export interface PipelineRequest {
  readonly project: ProjectSubject
  readonly actor: Actor
  readonly source: PipelineSource
  readonly ref: string
  readonly tag: boolean
  readonly sha: Oid
  /** Left out: forty zeros. */
  readonly beforeSha?: string
  readonly variables?: readonly GivenVariable[]
  /** What a trigger was sent, as a file of its own that needs no permission. */
  readonly payload?: string
  /** Values for what the configuration takes; looked at where the feature is on. */
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  /** A trigger job starts it: the inputs are those of its configuration. */
  readonly fromBridge?: boolean
  /** Of a child pipeline, in place of the project's configuration. */
  readonly child?: ChildConfig
  /** That it is for: then `ref` is that of the merge request, and `sha` what is to be built of it. */
  readonly mergeRequest?: MergeRequestFacts
  /** The trigger whose token asked for it, or the job whose token did. */
  readonly triggerId?: number
  readonly schedule?: { readonly id: number; readonly description: string }
  /** Whoever wrote the variables down was allowed to. */
  readonly vettedVariables?: boolean
  readonly upstream?: Upstream
  /** Of the event that causes it: asked for again, nothing more is made. */
  readonly eventKey?: string
  /** Of all jobs only this one is wanted, which then waits for none. */
  readonly onlyJob?: string
  /** Somebody asked for no jobs. */
  readonly skip?: boolean
  /** Whether the message of the commit may ask for that. */
  readonly honoursSkip?: boolean
  /** A wrong configuration makes a failed pipeline that says so, instead of a refusal. */
  readonly storesErrors?: boolean
}

/** A request for the head of a branch or tag, which is named in full or short. */
export type RefRequest = Omit<PipelineRequest, 'tag' | 'sha'>

/**
 * `refused` says why in the words of the API; null: an earlier call with this `eventKey` did it. `broken`: the pipeline
 * is stored, but failed before it had a job.
 */
export type PipelineOutcome =
  | { readonly id: number; readonly iid: number; readonly broken?: string }
  | {
      readonly refused: string | null
      /** There is nothing wrong: the configuration has no jobs for it. */
      readonly nothing?: boolean
    }
