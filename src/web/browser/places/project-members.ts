import { endpoint } from '../here.ts'
import { memberList } from '../parts/member-list.ts'
import { showInProject } from '../project-frame.ts'

await showInProject('Members', async ({ id }) => ({
  title: 'Members',
  body: [await memberList(endpoint`/projects/${id}`, 'admin_project_member')],
}))
