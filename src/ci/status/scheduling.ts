import type { Status, When } from '../types.ts'
import { compositeStatus } from './composite.ts'
import { isCompleted } from './groups.ts'

/** A latest job of a pipeline, as far as its turn is concerned. */
export interface SchedulableJob {
  name: string
  stageIndex: number
  /** null: all earlier stages come before it. Names that are not in the pipeline are taken for optional. */
  needs: readonly { name: string }[] | null
  when: When
  status: Status
  allowFailure: boolean
}

/** The event that a job's turn brings; for `enqueue` and `schedule` the caller adds resource group and time. */
export type Turn = 'enqueue' | 'actionize' | 'schedule' | 'skip'

const turnOf: Record<When, Turn> = {
  on_success: 'enqueue',
  on_failure: 'enqueue',
  always: 'enqueue',
  manual: 'actionize',
  delayed: 'schedule',
}

/** What the jobs before may have come to. With needs, a skipped one is no success. */
const wanted: Record<When, readonly Status[]> = {
  on_success: ['success', 'skipped'],
  manual: ['success', 'skipped'],
  delayed: ['success', 'skipped'],
  on_failure: ['failed'],
  always: ['success', 'failed', 'skipped'],
}

/**
 * For every `created` job whose turn has come, what happens to it now; the others wait. Give all latest jobs, apply
 * the answers, and ask again until nothing comes: skipping one job may let others proceed.
 */
export function whichJobsProceed<J extends SchedulableJob>(jobs: readonly J[]): { job: J; turn: Turn }[] {
  const named = new Map(jobs.map((job) => [job.name, job]))
  const stages = new EarlierStages(jobs)
  const turns: { job: J; turn: Turn }[] = []
  for (const job of jobs) {
    if (job.status !== 'created') continue
    const before = job.needs === null ? stages.before(job.stageIndex) : afterNeeds(job.needs, named)
    if (before === null) continue
    const runs =
      wanted[job.when].includes(before) && !(before === 'skipped' && job.needs && job.when !== 'always')
    turns.push({ job, turn: runs ? turnOf[job.when] : 'skip' })
  }
  return turns
}

/** Null while something that comes before is still to end; an optional manual job holds nobody up. */
function settled(jobs: readonly SchedulableJob[], asNeeds: boolean): Status | null {
  const open = jobs.some(
    ({ status, allowFailure }) => !isCompleted(status) && !(status === 'manual' && allowFailure),
  )
  return open ? null : compositeStatus(jobs, { asNeeds })
}

function afterNeeds(
  needs: readonly { name: string }[],
  named: ReadonlyMap<string, SchedulableJob>,
): Status | null {
  return settled(
    needs.map(({ name }) => named.get(name)).filter((job) => job !== undefined),
    true,
  )
}

/** The status of all stages before a given one, looked at once for each. */
class EarlierStages {
  readonly #jobs: readonly SchedulableJob[]
  readonly #known = new Map<number, Status | null>()

  constructor(jobs: readonly SchedulableJob[]) {
    this.#jobs = jobs
  }

  before(stageIndex: number): Status | null {
    const known = this.#known.get(stageIndex)
    if (known !== undefined) return known
    const status = settled(
      this.#jobs.filter((job) => job.stageIndex < stageIndex),
      false,
    )
    this.#known.set(stageIndex, status)
    return status
  }
}
