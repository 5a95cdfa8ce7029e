import { showInGroup } from '../group-frame.ts'
import { memberList } from '../parts/member-list.ts'

await showInGroup('Members', async (_, at) => ({
  title: 'Members',
  body: [await memberList(at, 'admin_group_member')],
}))
