import { noteableList } from '../parts/noteable-list.ts'
import { showInProject } from '../project-frame.ts'

await showInProject('Merge requests', async (project) => ({
  title: 'Merge requests',
  body: [
    await noteableList(project, {
      title: 'Merge requests',
      noun: 'merge_requests',
      states: [
        ['opened', 'Open'],
        ['merged', 'Merged'],
        ['closed', 'Closed'],
        ['all', 'All'],
      ],
      create: project.can_create_merge_request_in === true ? 'New merge request' : undefined,
    }),
  ],
}))
