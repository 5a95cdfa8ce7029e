import { write } from '../api.ts'
import { tags } from '../dom.ts'
import type { Issue } from '../entities.ts'
import { address, endpoint, query, slashed } from '../here.ts'
import { form } from '../parts/form.ts'
import { showInProject } from '../project-frame.ts'
import { whoIsSignedIn } from '../session.ts'

await showInProject('Issues', async ({ id, path_with_namespace: full }) => {
  await whoIsSignedIn()
  return {
    title: 'New issue',
    body: [
      tags.h1('New issue'),
      form(
        [
          { name: 'title', words: 'Title', required: true, value: query.get('issue[title]') ?? '' },
          {
            name: 'description',
            words: 'Description',
            kind: 'text',
            value: query.get('issue[description]') ?? '',
            hint: 'In Markdown.',
          },
        ],
        'Create the issue',
        async (values) => {
          const { iid } = await write<Issue>('POST', endpoint`/projects/${id}/issues`, values)
          location.assign(address`/${slashed(full)}/-/issues/${iid}`)
        },
      ),
    ],
  }
})
