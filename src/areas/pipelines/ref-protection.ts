import type { Actor, ProjectSubject } from '../../access/index.ts'
import type { Reader } from '../../kernel/db/index.ts'

/** A branch or tag, by its short name. */
export interface PipelineRef {
  readonly name: string
  readonly tag: boolean
}

/** What pipelines ask of the rules for branches; the area that keeps these answers, plugged in by `app/`. */
export interface RefProtection {
  isProtected(db: Reader, projectId: number, ref: PipelineRef): Promise<boolean>
  /** Both answers at once. */
  judge(
    db: Reader,
    actor: Actor,
    project: ProjectSubject,
    ref: PipelineRef,
  ): Promise<{ readonly isProtected: boolean; readonly mayRun: boolean }>
  /** Whether somebody who may run pipelines may do so on this ref: when it is protected, who may push or merge to it. */
  mayRun(db: Reader, actor: Actor, project: ProjectSubject, ref: PipelineRef): Promise<boolean>
}
