import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Group } from '../entities.ts'
import { show } from '../frame.ts'
import { endpoint } from '../here.ts'
import { finder, searched } from '../parts/finder.ts'
import { groupList } from '../parts/group-list.ts'
import { pager, pageWanted } from '../parts/pager.ts'

await show(async () => {
  const groups = await readPage<Group>(endpoint`/groups`, { search: searched(), page: pageWanted() })
  return {
    title: 'Groups',
    body: [
      tags.h1('Groups'),
      finder('Name of a group'),
      groups.items.length === 0
        ? tags.p({ className: 'soft' }, 'There are no such groups, or none that you may see.')
        : groupList(groups),
      pager(groups),
    ],
  }
})
