import { readPage } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Label, Noteable, Project } from '../entities.ts'
import { address, endpoint, query, slashed, withQuery } from '../here.ts'
import { finder, searched } from './finder.ts'
import { label } from './label.ts'
import { pager, pageWanted } from './pager.ts'
import { status } from './status.ts'
import { tabs } from './tabs.ts'
import { ago } from './time.ts'
import { title as titleLine } from './title.ts'

const { a, li, p, span, ul } = tags

type Listed = Noteable & { readonly labels: readonly Label[] }

/** Issues or merge requests of a project. */
interface NoteableList {
  readonly title: 'Issues' | 'Merge requests'
  readonly noun: 'issues' | 'merge_requests'
  /** The parameter `state`, and its words; the first is shown unless the address asks for another. */
  readonly states: readonly (readonly [state: string, words: string])[]
  /** What leads to making a new one, for those who may. */
  readonly create: string | undefined
}

/** Those in one state, with the words, the labels and the milestone that the address asks for. */
export async function noteableList(
  { id, path_with_namespace: full }: Project,
  { title, noun, states, create }: NoteableList,
): Promise<Child> {
  const [current] = states.filter(([name]) => name === query.get('state'))
  const [state, words] = current ?? states[0]!
  const labels = [...query.getAll('label_name'), ...query.getAll('label_name[]')]
  const milestone = query.get('milestone_title') ?? undefined
  const found = await readPage<Listed>(endpoint`/projects/${id}/${noun}`, {
    state,
    search: searched(),
    labels: labels.join(','),
    milestone,
    with_labels_details: true,
    page: pageWanted(),
  })
  const narrowed = [...labels, milestone].filter((one) => one !== undefined)
  return [
    titleLine(
      title,
      create !== undefined && { words: create, href: address`/${slashed(full)}/-/${noun}/new` },
    ),
    tabs(
      `Which ${title.toLowerCase()}`,
      states.map(([name, shown]) => [shown, withQuery({ state: name, page: undefined })]),
      words,
    ),
    finder('Words of the title or description'),
    narrowed.length > 0 &&
      p(
        `Only those with ${narrowed.join(', ')}. `,
        a({ href: address`/${slashed(full)}/-/${noun}` }, `All ${title.toLowerCase()}`),
      ),
    found.items.length === 0
      ? p({ className: 'soft' }, 'There are none.')
      : ul(
          { className: 'rows' },
          found.items.map((item) => row(item, address`/${slashed(full)}/-/${noun}/${item.iid}`)),
        ),
    pager(found),
  ]
}

function row(item: Listed, href: string): HTMLElement {
  const { title, references, author, created_at, labels, state, user_notes_count: notes } = item
  return li(
    a({ className: 'subject', href }, title),
    labels.map((one) => label(one, withQuery({ label_name: one.name, page: undefined }))),
    p(
      { className: 'soft' },
      `${references.short} by ${author?.name ?? 'somebody'} `,
      ago(created_at),
      notes > 0 && `, ${notes} ${notes === 1 ? 'comment' : 'comments'}`,
      span(status(state)),
    ),
  )
}
