import type { Page } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Group } from '../entities.ts'
import { address, slashed } from '../here.ts'
import { avatar } from './avatar.ts'

const { a, li, p, span, ul } = tags

/** Groups, each leading to itself. */
export function groupList({ items }: Pick<Page<Group>, 'items'>): Child {
  return ul(
    { className: 'rows' },
    items.map((group) =>
      li(
        avatar(group),
        ' ',
        a({ className: 'subject', href: address`/groups/${slashed(group.full_path)}` }, group.full_name),
        span({ className: 'badge' }, group.visibility),
        group.description !== null && group.description !== '' && p({ className: 'soft' }, group.description),
      ),
    ),
  )
}
