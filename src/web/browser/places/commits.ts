import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Commit, Project } from '../entities.ts'
import { address, endpoint, here, slashed } from '../here.ts'
import { commitLine } from '../parts/commit-line.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { refMenu } from '../parts/ref-bar.ts'
import { splitRefPath, type RefPath } from '../parts/ref-path.ts'
import { showInProject } from '../project-frame.ts'

const { div, h2, li, p, strong, ul } = tags

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

await showInProject('Commits', async (project) => {
  const rest = here.named['rest'] ?? project.default_branch
  if (rest === null)
    return { title: 'Commits', body: [p({ className: 'soft' }, 'There are no commits yet.')] }
  const { found, ref, path } = await splitRefPath(rest, (at) => commitsAt(project, at))
  const full = project.path_with_namespace
  return {
    title: `Commits of ${path === '' ? ref : path}`,
    body: [
      div(
        { className: 'ref-bar' },
        refMenu(project, ref, (name) => address`/${slashed(full)}/-/commits/${slashed(name)}`),
        path !== '' && strong(path),
      ),
      byDay(found.items).map(([date, commits]) => [
        h2({ className: 'day' }, date),
        ul(
          { className: 'rows' },
          commits.map((commit) => li(commitLine(full, commit))),
        ),
      ]),
      pager(found),
    ],
  }
})

async function commitsAt({ id }: Project, { ref, path }: RefPath) {
  const query = { ref_name: ref, path, page: pageWanted(), per_page: 40 }
  return readPage<Commit>(endpoint`/projects/${id}/repository/commits`, query)
}

/** In the order in which they come. */
function byDay(commits: readonly Commit[]): [string, Commit[]][] {
  const days = Map.groupBy(commits, ({ committed_date }) => day.format(new Date(committed_date)))
  return [...days]
}
