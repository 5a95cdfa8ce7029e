import { tags, type Child } from '../dom.ts'
import type { Noteable, Project } from '../entities.ts'
import { address, slashed } from '../here.ts'
import type { Conversation } from './conversation.ts'
import { label } from './label.ts'
import { person } from './person.ts'

const { a, aside, dd, dl, dt } = tags

/** Beside an issue or a merge request: what is planned for it, if there is something. `list`: its list, below the project; `more`: other facts. */
export function facts(
  { path_with_namespace: full }: Project,
  { assignees, milestone }: Noteable,
  { labels: { nodes: labels } }: Conversation,
  list: 'issues' | 'merge_requests',
  more: readonly (readonly [name: string, Child])[],
): HTMLElement {
  const listed = (parameter: 'label_name' | 'milestone_title', value: string): string => {
    const page = new URL(address`/${slashed(full)}/-/${list}`)
    page.searchParams.set(parameter, value)
    return page.href
  }
  const all: readonly (readonly [name: string, Child])[] = [
    ['Assignees', assignees.length > 0 && assignees.map(person)],
    ['Labels', labels.length > 0 && labels.map((one) => label(one, listed('label_name', one.name)))],
    ['Milestone', milestone && a({ href: listed('milestone_title', milestone.title) }, milestone.title)],
    ...more,
  ]
  return aside(dl(all.map(([name, value]) => value !== false && value !== null && [dt(name), dd(value)])))
}
