import { read } from './api.ts'
import { tags, type Child } from './dom.ts'
import type { MergeRequest, Project } from './entities.ts'
import { address, endpoint, named, slashed } from './here.ts'
import { tabs } from './parts/tabs.ts'
import { showInProject } from './project-frame.ts'

const { h1, span } = tags

/** What there is to see of a merge request, and where each is below it. */
const views = [
  ['Overview', ''],
  ['Commits', '/commits'],
  ['Changes', '/diffs'],
] as const

/** Of a merge request that is shown. */
export interface RequestPage {
  readonly project: Project
  readonly request: MergeRequest
  /** Its endpoint. */
  readonly at: string
}

/** Draws a page of the merge request that the address names. `current`: which of its pages it is. */
export async function showInRequest(
  current: (typeof views)[number][0],
  make: (page: RequestPage) => Promise<readonly Child[]>,
): Promise<void> {
  await showInProject('Merge requests', async (project) => {
    const at = endpoint`/projects/${project.id}/merge_requests/${named('id')}`
    const request = await read<MergeRequest>(at)
    const { title, iid } = request
    const below = address`/${slashed(project.path_with_namespace)}/-/merge_requests/${iid}`
    return {
      title: `${title} (!${iid})`,
      body: [
        h1(title, ' ', span({ className: 'soft' }, `!${iid}`)),
        tabs(
          'Of the merge request',
          views.map(([name, path]) => [name, below + path]),
          current,
        ),
        await make({ project, request, at }),
      ],
    }
  })
}
