import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Group } from '../entities.ts'
import { show } from '../frame.ts'
import { address, endpoint } from '../here.ts'
import { finder, searched } from '../parts/finder.ts'
import { groupList } from '../parts/group-list.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { title } from '../parts/title.ts'
import { me } from '../session.ts'

await show(async () => {
  const [user, groups] = await Promise.all([
    me(),
    readPage<Group>(endpoint`/groups`, { search: searched(), page: pageWanted() }),
  ])
  return {
    title: 'Groups',
    body: [
      title('Groups', user?.can_create_group === true && { words: 'New group', href: address`/groups/new` }),
      finder('Name of a group'),
      groups.items.length === 0
        ? tags.p({ className: 'soft' }, 'There are no such groups, or none that you may see.')
        : groupList(groups),
      pager(groups),
    ],
  }
})
