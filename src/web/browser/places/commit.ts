import { read, readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Commit, FileDiff } from '../entities.ts'
import { address, endpoint, named, slashed } from '../here.ts'
import { diffView } from '../parts/diff.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { status } from '../parts/status.ts'
import { ago } from '../parts/time.ts'
import { showInProject } from '../project-frame.ts'

const { a, code, h1, p, pre } = tags

interface WholeCommit extends Commit {
  readonly stats: { readonly additions: number; readonly deletions: number }
  readonly last_pipeline: { readonly id: number; readonly status: string } | null
}

await showInProject('Commits', async (project) => {
  const at = endpoint`/projects/${project.id}/repository/commits/${named('sha')}`
  const [commit, diffs] = await Promise.all([
    read<WholeCommit>(at),
    readPage<FileDiff>(`${at}/diff`, { page: pageWanted(), per_page: 50 }),
  ])
  const full = slashed(project.path_with_namespace)
  const { last_pipeline: pipeline, stats, message, title } = commit
  const more = message.slice(title.length).trim()
  return {
    title: commit.title,
    body: [
      h1(title),
      more !== '' && pre({ className: 'message' }, more),
      p(
        `${commit.author_name} `,
        ago(commit.committed_date),
        ' ',
        code(commit.id),
        commit.parent_ids.map((id) => [
          ' ',
          a({ href: address`/${full}/-/commit/${id}` }, code(id.slice(0, 8))),
        ]),
      ),
      p(
        `${stats.additions} lines added, ${stats.deletions} removed. `,
        a({ href: address`/${full}/-/tree/${commit.id}` }, 'The files as they were'),
        pipeline !== null && [
          ' ',
          a({ href: address`/${full}/-/pipelines/${pipeline.id}` }, status(pipeline.status)),
        ],
      ),
      diffView(diffs.items),
      pager(diffs),
    ],
  }
})
