import {
  compositeStatus,
  countsForDuration,
  hasWarnings,
  meanCoverage,
  next,
  runningSeconds,
  whichJobsProceed,
  type Status,
  type When,
} from '../../ci/index.ts'

/** A latest job of a pipeline, as far as the machine looks at it. */
export interface MachineJob {
  readonly id: number
  readonly name: string
  readonly kind: string
  readonly stage_index: number
  readonly needs: readonly string[] | null
  readonly run_when: string
  readonly status: string
  readonly allow_failure: boolean
  readonly start_in: number | null
  readonly resource_group: string | null
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly coverage: number | null
}

/** The same while its status is being worked out. */
interface Moving {
  readonly row: MachineJob
  readonly name: string
  readonly stageIndex: number
  readonly needs: readonly { name: string }[] | null
  readonly when: When
  readonly allowFailure: boolean
  status: Status
}

/** What keeps a job from a runner though its turn has come: it waits for approvals, or may not be run. */
export type Hold = 'approval' | 'refused'

const held = { approval: { type: 'actionize' }, refused: { type: 'drop' } } as const

export interface PipelineState {
  readonly status: Status
  readonly hasWarnings: boolean
  readonly coverage: number | null
  /** Whole seconds; null while nothing has run. */
  readonly duration: number | null
}

/**
 * What a pipeline comes to: which of its jobs get another status now, since their turn has come, and what they all
 * make of the pipeline. `prepared`: its jobs may be handed to runners. `holds`: by the ids of jobs.
 */
export function advance(
  rows: readonly MachineJob[],
  now: Date,
  {
    prepared = true,
    holds = new Map(),
  }: { readonly prepared?: boolean; readonly holds?: ReadonlyMap<number, Hold> } = {},
): { changed: { job: MachineJob; status: Status }[]; pipeline: PipelineState } {
  const jobs: Moving[] = rows.map((row) => ({
    row,
    name: row.name,
    stageIndex: row.stage_index,
    needs: row.needs?.map((name) => ({ name })) ?? null,
    when: row.run_when as When,
    allowFailure: row.allow_failure,
    status: row.status as Status,
  }))
  for (;;) {
    const turns = whichJobsProceed(jobs)
    if (turns.length === 0) break
    for (const { job, turn } of turns) {
      const hold = turn === 'enqueue' ? holds.get(job.row.id) : undefined
      const event =
        turn === 'enqueue' && hold === undefined
          ? {
              type: turn,
              resourceGroup: job.row.resource_group !== null,
              unmetPrerequisites: !prepared && job.row.kind === 'build',
            }
          : hold === undefined
            ? { type: turn }
            : held[hold]
      job.status = next(job.status, event) ?? job.status
    }
  }
  return {
    changed: jobs.flatMap(({ row, status }) => (status === row.status ? [] : [{ job: row, status }])),
    pipeline: {
      status: compositeStatus(jobs),
      hasWarnings: hasWarnings(jobs),
      coverage: numberOrNull(meanCoverage(rows.map(({ coverage }) => coverage))),
      duration: durationOf(jobs, now),
    },
  }
}

function durationOf(jobs: readonly Moving[], now: Date): number | null {
  const intervals = jobs.flatMap(({ row, status }) =>
    row.started_at !== null && countsForDuration(status)
      ? [{ startedAt: row.started_at.getTime(), finishedAt: (row.finished_at ?? now).getTime() }]
      : [],
  )
  return intervals.length === 0 ? null : runningSeconds(intervals)
}

function numberOrNull(text: string | null): number | null {
  return text === null ? null : Number(text)
}
