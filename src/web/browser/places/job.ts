import { call, read, Refusal, write } from '../api.ts'
import { nodes, tags, type Child } from '../dom.ts'
import type { Job } from '../entities.ts'
import { address, endpoint, named, slashed } from '../here.ts'
import { whileMoving } from '../live.ts'
import { action } from '../parts/action.ts'
import { LogView } from '../parts/log-view.ts'
import { isMoving, status } from '../parts/status.ts'
import { clock } from '../parts/time.ts'
import { showInProject } from '../project-frame.ts'
import { me } from '../session.ts'

const { a, div, h1, p } = tags

await showInProject('Pipelines', async ({ id, path_with_namespace: full }) => {
  const at = endpoint`/projects/${id}/jobs/${named('id')}`
  const isKnown = (await me()) !== undefined
  const about = div()
  const log = new LogView()
  const look = async (): Promise<boolean> => {
    const job = await read<Job>(at)
    await readLog(at, log)
    about.replaceChildren(...nodes([head(job), isKnown && actions(job)]))
    const moves = isMoving(job.status)
    if (!moves) log.end()
    return moves
  }
  const head = (job: Job): Child => [
    h1(job.name, ' ', status(job.status, job.allow_failure)),
    p(
      `${job.stage} of `,
      a({ href: address`/${slashed(full)}/-/pipelines/${job.pipeline.id}` }, `pipeline #${job.pipeline.id}`),
      ` of ${job.ref}`,
      job.duration !== null && `, took ${clock(job.duration)}`,
      job.failure_reason !== undefined && `: ${job.failure_reason.replaceAll('_', ' ')}`,
    ),
    p(
      { className: 'actions' },
      a({ href: address`/${slashed(full)}/-/jobs/${job.id}/raw` }, 'The whole log'),
      job.artifacts_file !== undefined &&
        a({ href: address`/${slashed(full)}/-/jobs/${job.id}/artifacts/download` }, 'Artifacts'),
    ),
  ]
  const actions = ({ status: name }: Job): Child =>
    p(
      { className: 'actions' },
      (name === 'manual' || name === 'scheduled') &&
        action('Run it', async () => {
          await write('POST', `${at}/play`)
          void whileMoving(look)
        }),
      ['success', 'failed', 'canceled'].includes(name) &&
        action('Run it again', async () => {
          const again = await write<Job>('POST', `${at}/retry`)
          location.assign(address`/${slashed(full)}/-/jobs/${again.id}`)
        }),
      isMoving(name) &&
        action('Cancel', async () => {
          await write('POST', `${at}/cancel`)
          await look()
        }),
    )
  const first = await look()
  if (first) void whileMoving(look)
  return { title: `Job #${named('id')}`, body: [about, log.element] }
})

/** Shows what has been written since. */
async function readLog(job: string, log: LogView): Promise<void> {
  try {
    const range = { range: `bytes=${log.size}-` }
    const response = await call('GET', `${job}/trace`, { ...(log.size > 0 && { headers: range }) })
    log.append(await response.arrayBuffer())
  } catch (error) {
    // Nothing has been, or nobody else may read it.
    if (!(error instanceof Refusal) || ![403, 416].includes(error.status)) throw error
  }
}
