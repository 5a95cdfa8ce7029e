import { readPage } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Project } from '../entities.ts'
import { endpoint } from '../here.ts'
import { treeAddress } from './tree-view.ts'
import type { RefPath } from './ref-path.ts'

const { a, details, div, h2, li, nav, p, span, strong, summary, ul } = tags

/** Which ref is looked at, with others to go to, and where in its files this is. */
export function refBar(project: Project, { ref, path }: RefPath, more: Child = null): HTMLElement {
  const full = project.path_with_namespace
  const parts = path === '' ? [] : path.split('/')
  return div(
    { className: 'ref-bar' },
    refMenu(project, ref, (name) => treeAddress(full, { ref: name, path })),
    nav(
      { className: 'crumbs', 'aria-label': 'Path' },
      a({ href: treeAddress(full, { ref, path: '' }) }, project.path_with_namespace.split('/').at(-1)),
      parts.map((part, index) => [
        span({ className: 'soft' }, ' / '),
        index === parts.length - 1
          ? strong(part)
          : a({ href: treeAddress(full, { ref, path: parts.slice(0, index + 1).join('/') }) }, part),
      ]),
    ),
    more,
  )
}

/** Branches and tags, asked for once somebody wants them. `leadsTo`: where a ref is shown. */
export function refMenu(project: Project, ref: string, leadsTo: (ref: string) => string): HTMLElement {
  const list = div(p({ className: 'soft' }, 'Loading…'))
  const menu = details(
    {
      className: 'dropdown refs',
      ontoggle: () => {
        if (menu.open) void fill()
      },
    },
    summary({ title: 'Another branch or tag' }, ref),
    list,
  )
  const fill = async (): Promise<void> => {
    const kinds = await Promise.all(
      (['branches', 'tags'] as const).map(async (kind) => {
        const { items } = await readPage<{ name: string }>(
          endpoint`/projects/${project.id}/repository/${kind}`,
          { per_page: 50 },
        )
        return { kind, items }
      }),
    )
    list.replaceChildren(
      ...kinds.flatMap(({ kind, items }) =>
        items.length === 0
          ? []
          : [
              h2(kind === 'branches' ? 'Branches' : 'Tags'),
              ul(items.map(({ name }) => li(a({ href: leadsTo(name) }, name)))),
            ],
      ),
    )
  }
  return menu
}
