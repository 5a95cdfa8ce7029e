import { read, readPage, write } from '../api.ts'
import { nodes, tags, type Child } from '../dom.ts'
import type { Job, WholePipeline } from '../entities.ts'
import { address, endpoint, named, slashed } from '../here.ts'
import { whileMoving } from '../live.ts'
import { action } from '../parts/action.ts'
import { isMoving, status } from '../parts/status.ts'
import { ago, clock } from '../parts/time.ts'
import { showInProject } from '../project-frame.ts'
import { me } from '../session.ts'

const { a, code, div, h1, h2, li, p, pre, section, ul } = tags

/** Jobs that are shown; there are hardly ever more. */
const mostJobs = 1000

await showInProject('Pipelines', async ({ id, path_with_namespace: full }) => {
  const at = endpoint`/projects/${id}/pipelines/${named('id')}`
  const isKnown = (await me()) !== undefined
  const place = div()
  const look = async (): Promise<boolean> => {
    const [pipeline, jobs] = await Promise.all([read<WholePipeline>(at), allJobs(at)])
    place.replaceChildren(...nodes([about(pipeline), isKnown && actions(pipeline), stages(jobs)]))
    return isMoving(pipeline.status)
  }
  const actions = ({ status: name }: WholePipeline): Child =>
    p(
      { className: 'actions' },
      (name === 'failed' || name === 'canceled') &&
        action('Run what failed again', async () => {
          await write('POST', `${at}/retry`)
          void whileMoving(look)
        }),
      isMoving(name) &&
        action('Cancel', async () => {
          await write('POST', `${at}/cancel`)
          await look()
        }),
    )
  const about = ({
    ref,
    sha,
    source,
    user,
    created_at,
    duration,
    yaml_errors,
    ...pipeline
  }: WholePipeline): Child => [
    h1(pipeline.name ?? `Pipeline #${pipeline.id}`, ' ', status(pipeline.status)),
    p(
      `${source} of `,
      a({ href: address`/${slashed(full)}/-/commits/${slashed(ref)}` }, ref),
      ' at ',
      a({ href: address`/${slashed(full)}/-/commit/${sha}` }, code(sha.slice(0, 8))),
      user !== null && [' by ', a({ href: address`/${user.username}` }, user.name)],
      ' ',
      ago(created_at),
      duration !== null && `, took ${clock(duration)}`,
    ),
    yaml_errors !== null && pre({ className: 'fault' }, yaml_errors),
  ]
  const stages = (jobs: readonly Job[]): Child =>
    div(
      { className: 'stages' },
      [...Map.groupBy(jobs, ({ stage }) => stage)].map(([stage, members]) =>
        section(
          h2(stage),
          ul(
            { className: 'rows' },
            members.map((job) =>
              li(
                status(job.status, job.allow_failure),
                ' ',
                a({ href: address`/${slashed(full)}/-/jobs/${job.id}` }, job.name),
              ),
            ),
          ),
        ),
      ),
    )
  const first = await look()
  if (first) void whileMoving(look)
  return { title: `Pipeline #${named('id')}`, body: [place] }
})

/** In the order in which they run: lists tell the newest first. */
async function allJobs(pipeline: string): Promise<Job[]> {
  const jobs: Job[] = []
  for (let page = 1; jobs.length < mostJobs; page++) {
    const { items, hasNext } = await readPage<Job>(`${pipeline}/jobs`, { page, per_page: 100 })
    jobs.push(...items)
    if (!hasNext) break
  }
  return jobs.sort((one, other) => one.id - other.id)
}
