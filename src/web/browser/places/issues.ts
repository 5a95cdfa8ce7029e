import { noteableList } from '../parts/noteable-list.ts'
import { showInProject } from '../project-frame.ts'
import { me } from '../session.ts'

await showInProject('Issues', async (project) => {
  const mayWrite = (await me()) !== undefined && project.archived !== true
  return {
    title: 'Issues',
    body: [
      await noteableList(project, {
        title: 'Issues',
        noun: 'issues',
        states: [
          ['opened', 'Open'],
          ['closed', 'Closed'],
          ['all', 'All'],
        ],
        create: mayWrite ? 'New issue' : undefined,
      }),
    ],
  }
})
