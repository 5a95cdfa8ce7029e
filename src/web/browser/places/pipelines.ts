import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Pipeline } from '../entities.ts'
import { address, endpoint, query, slashed, withQuery } from '../here.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { status } from '../parts/status.ts'
import { tabs } from '../parts/tabs.ts'
import { ago } from '../parts/time.ts'
import { showInProject } from '../project-frame.ts'

const { a, code, h1, p, table, tbody, td, th, thead, tr } = tags

/** What lists can be narrowed to: the parameter `scope`, and its words. */
const scopes = [
  ['', 'All'],
  ['running', 'Running'],
  ['pending', 'Pending'],
  ['finished', 'Finished'],
  ['branches', 'Latest of branches'],
  ['tags', 'Latest of tags'],
] as const

await showInProject('Pipelines', async ({ id, path_with_namespace: full }) => {
  const scope = query.get('scope') ?? ''
  const pipelines = await readPage<Pipeline>(endpoint`/projects/${id}/pipelines`, {
    scope,
    ref: query.get('ref'),
    page: pageWanted(),
  })
  return {
    title: 'Pipelines',
    body: [
      h1('Pipelines'),
      tabs(
        'Which pipelines',
        scopes.map(([name, words]) => [
          words,
          withQuery({ scope: name === '' ? undefined : name, page: undefined }),
        ]),
        scopes.find(([name]) => name === scope)?.[1] ?? '',
      ),
      pipelines.items.length === 0
        ? p({ className: 'soft' }, 'There are no such pipelines.')
        : table(
            { className: 'list' },
            thead(tr(['Status', 'Pipeline', 'Ref', 'Commit', 'Source', 'Created'].map((name) => th(name)))),
            tbody(
              pipelines.items.map((pipeline) =>
                tr(
                  td(status(pipeline.status)),
                  td(
                    a(
                      { href: address`/${slashed(full)}/-/pipelines/${pipeline.id}` },
                      `#${pipeline.id}`,
                      pipeline.name !== null && ` ${pipeline.name}`,
                    ),
                  ),
                  td(a({ href: withQuery({ ref: pipeline.ref, page: undefined }) }, pipeline.ref)),
                  td(
                    a(
                      { href: address`/${slashed(full)}/-/commit/${pipeline.sha}` },
                      code(pipeline.sha.slice(0, 8)),
                    ),
                  ),
                  td(pipeline.source),
                  td(ago(pipeline.created_at)),
                ),
              ),
            ),
          ),
      pager(pipelines),
    ],
  }
})
