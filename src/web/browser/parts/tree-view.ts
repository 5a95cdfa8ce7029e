import { readPage, readText } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Commit, Project, TreeEntry } from '../entities.ts'
import { address, endpoint, slashed } from '../here.ts'
import { codeView } from './code.ts'
import { commitLine } from './commit-line.ts'
import { markdown } from './markdown.ts'
import type { RefPath } from './ref-path.ts'

const { a, caption, h2, section, span, table, tbody, td, tr } = tags

/** Folders of more entries show the first of them. */
const most = 1000

/** What is in a folder. Refused where there is none. */
export async function readTree(project: Project, { ref, path }: RefPath): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  for (let page = 1; entries.length < most; page++) {
    const query = { ref, path, page, per_page: 100 }
    const { items, hasNext } = await readPage<TreeEntry>(
      endpoint`/projects/${project.id}/repository/tree`,
      query,
    )
    entries.push(...items)
    if (!hasNext) break
  }
  return entries
}

/** The last commit of a folder, its entries, and its README as readers see it. */
export async function treeView(
  project: Project,
  { ref, path }: RefPath,
  entries: readonly TreeEntry[],
): Promise<Child> {
  const readme = entries.find(({ name, type }) => type === 'blob' && /^readme(?:\.\w+)?$/i.test(name))
  const [commits, about] = await Promise.all([
    readPage<Commit>(endpoint`/projects/${project.id}/repository/commits`, {
      ref_name: ref,
      path,
      per_page: 1,
    }),
    readme && readmeView(project, ref, readme),
  ])
  const full = project.path_with_namespace
  const up = path.split('/').slice(0, -1).join('/')
  return [
    table(
      { className: 'files' },
      caption(commits.items.map((commit) => commitLine(full, commit))),
      tbody(
        path !== '' && tr(td(a({ href: treeAddress(full, { ref, path: up }) }, '..'))),
        entries.map((entry) =>
          tr(
            td(
              span({ className: `kind ${entry.type}`, 'aria-hidden': 'true' }),
              entry.type === 'commit' ? entry.name : a({ href: entryAddress(full, ref, entry) }, entry.name),
              entry.type === 'commit' && span({ className: 'soft' }, ` @ ${entry.id.slice(0, 8)}`),
            ),
          ),
        ),
      ),
    ),
    entries.length >= most && tags.p({ className: 'soft' }, `The first ${most} entries of this folder.`),
    about,
  ]
}

async function readmeView(project: Project, ref: string, { name, path }: TreeEntry): Promise<Child> {
  const text = await readText(endpoint`/projects/${project.id}/repository/files/${path}/raw`, { ref })
  return section({ className: 'readme' }, h2(name), await fileText(text, name, project.path_with_namespace))
}

/** A text as its readers see it, if it is one that is rendered. */
export async function fileText(text: string, name: string, project: string): Promise<HTMLElement> {
  return isMarkdown(name) ? markdown(text, project) : codeView(text, name)
}

export function isMarkdown(name: string): boolean {
  return /\.(?:md|mkd|mkdn|mdown|markdown)$/i.test(name)
}

export function treeAddress(project: string, { ref, path }: RefPath): string {
  const below = path === '' ? ref : `${ref}/${path}`
  return address`/${slashed(project)}/-/tree/${slashed(below)}`
}

function entryAddress(project: string, ref: string, { type, path }: TreeEntry): string {
  return type === 'tree'
    ? treeAddress(project, { ref, path })
    : address`/${slashed(project)}/-/blob/${slashed(`${ref}/${path}`)}`
}
