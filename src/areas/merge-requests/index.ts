import { sql } from '../../kernel/db/index.ts'
import type { Actor } from '../../access/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { UnlockEvent } from '../git-lfs/index.ts'
import type { ReviewEvent, ThreadsResolvedEvent } from '../notes/index.ts'
import type { PipelineEvent } from '../pipelines/index.ts'
import type { PushEvent } from '../repository/index.ts'
import { noteReview } from './approvals/review.ts'
import { afterMerge } from './merging/after.ts'
import { mergeIfReady, waitingFor, waitingIn } from './merging/auto.ts'
import { lookAt } from './merging/look.ts'
import { rebase, type RebaseJob } from './merging/rebase.ts'
import { settleMerges } from './merging/settle.ts'
import { onPush } from './on-push.ts'
import { createForVersion } from './pipelines/create.ts'
import { afterPush } from './push-options.ts'
import { mergeRequestsByIds } from './reading/by-ids.ts'
import { approvalSettingEndpoints } from './routes/approval-settings.ts'
import { approvalEndpoints } from './routes/approvals.ts'
import { attendingEndpoints } from './routes/attending.ts'
import { blockEndpoints } from './routes/blocks.ts'
import { codeEndpoints } from './routes/code.ts'
import { contextCommitEndpoints } from './routes/context-commits.ts'
import { issueEndpoints } from './routes/issues.ts'
import { listEndpoints } from './routes/lists.ts'
import { planningEndpoints } from './routes/planning.ts'
import { mergingEndpoints } from './routes/merging.ts'
import { ofCommitEndpoints } from './routes/of-commit.ts'
import { pipelineEndpoints } from './routes/pipelines.ts'
import { projectRuleEndpoints } from './routes/project-approval-rules.ts'
import { readingEndpoints } from './routes/reading.ts'
import { requestRuleEndpoints } from './routes/request-approval-rules.ts'
import { writingEndpoints } from './routes/writing.ts'
import type { MergeRequestServices } from './services.ts'
import {
  afterMergeTask,
  autoMergeTask,
  pipelineTask,
  prepareTask,
  rebaseTask,
  refreshTask,
  settleTask,
} from './tasks.ts'

export { surroundings as mergeRequestView } from './show.ts'
export { listedMergeRequest, ListedMergeRequest } from './entities.ts'
export { searched as searchMergeRequests } from './reading/listing.ts'
export type { MergeRequestRow } from './rows.ts'
export type { MergeRequestEvent } from './news.ts'
export { noteClosing } from './issues.ts'
export { mayUpdateRequest } from './rules.ts'
export { computeVersion } from './versions/compute.ts'
export { withCommitters, type NewVersion } from './versions/committers.ts'
export { keepCommits, pointAll, requestRef } from './versions/refs.ts'
export { isMergeResult } from './merging/finish.ts'
export { broughtVersion, writeBrought, type BroughtRequest } from './brought.ts'

/** Who has pushed, to which project, what became of it, and the options. */
type AfterPush = Parameters<typeof afterPush> extends [unknown, ...infer Rest] ? Rest : never

/** Merge requests: what somebody wants to bring to a branch, who looks at it, and the merge. */
export function mergeRequests(services: MergeRequestServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
  afterPush: (...push: AfterPush) => Promise<string[]>
  byIds: (actor: Actor, ids: readonly number[]) => ReturnType<typeof mergeRequestsByIds>
} {
  const { events } = services
  events.subscribe<PushEvent>('push', 'merge-requests-push', (event) => onPush(services, event))
  events.subscribe<ThreadsResolvedEvent>('threads_resolved', 'merge-requests:threads', ({ payload }) =>
    mergeIfReady(services, payload.mergeRequestId),
  )
  events.subscribe<ReviewEvent>('review', 'merge-requests:review', (event) => noteReview(services, event))
  events.subscribe<PipelineEvent>(
    'pipeline',
    'merge-requests-pipeline',
    async ({ payload }) => {
      for (const id of await waitingFor(services, payload.pipelineId)) await mergeIfReady(services, id)
    },
    { when: sql`event.payload ->> 'status' = 'success'` },
  )
  events.subscribe<UnlockEvent>('large_file_unlocked', 'merge-requests:unlocked', async ({ projectId }) => {
    for (const id of await waitingIn(services, projectId!)) await mergeIfReady(services, id)
  })
  return {
    endpoints: [
      ...listEndpoints(services),
      ...readingEndpoints(services),
      ...writingEndpoints(services),
      ...codeEndpoints(services),
      ...mergingEndpoints(services),
      ...approvalEndpoints(services),
      ...approvalSettingEndpoints(services),
      ...projectRuleEndpoints(services),
      ...requestRuleEndpoints(services),
      ...attendingEndpoints(services),
      ...pipelineEndpoints(services),
      ...issueEndpoints(services),
      ...ofCommitEndpoints(services),
      ...planningEndpoints(services),
      ...contextCommitEndpoints(services),
      ...blockEndpoints(services),
    ],
    tasks: tasksOf(services),
    schedules: [{ task: settleTask, pattern: '* * * * *' }],
    start: () => settleAtStart(services),
    afterPush: (...push) => afterPush(services, ...push),
    byIds: (actor, ids) => mergeRequestsByIds(services, actor, ids),
  }
}

function tasksOf(services: MergeRequestServices): Task[] {
  const task = (name: string, run: (payload: never) => Promise<void>): Task => ({
    name,
    run: (payload) => run(payload as never),
  })
  return [
    task(prepareTask, async (made: { id: number; user: number }) => {
      await lookAt(services, made.id, made.user)
      await createForVersion(services, made)
    }),
    task(pipelineTask, (pushed: { id: number; user: number | null }) => createForVersion(services, pushed)),
    task(refreshTask, ({ id }: { id: number }) => lookAt(services, id, null)),
    task(autoMergeTask, ({ id }: { id: number }) => mergeIfReady(services, id)),
    task(afterMergeTask, ({ id }: { id: number }) => afterMerge(services, id)),
    task(rebaseTask, (job: RebaseJob) => rebase(services, job)),
    task(settleTask, () => settleMerges(services)),
  ]
}

/** Ends beside the first requests what a crash has left. */
async function settleAtStart(services: MergeRequestServices): Promise<AsyncDisposable> {
  const settling = settleMerges(services).catch((error: unknown) => {
    services.log.warn({ err: error }, 'could not settle the merges of a crash')
  })
  return { [Symbol.asyncDispose]: () => settling }
}
