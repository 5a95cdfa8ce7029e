import { readPage, write } from '../api.ts'
import { tags } from '../dom.ts'
import type { Group } from '../entities.ts'
import { show } from '../frame.ts'
import { address, endpoint, query, slashed } from '../here.ts'
import { form, type Choice } from '../parts/form.ts'
import { visibilityField } from '../parts/visibility.ts'
import { whoIsSignedIn } from '../session.ts'

/** The lowest role that a group may let make groups in it. */
const lowestMaker = 40

await show(async () => {
  await whoIsSignedIn()
  const { items: parents } = await readPage<Group>(endpoint`/groups`, {
    min_access_level: lowestMaker,
    per_page: 100,
  })
  return {
    title: 'New group',
    body: [
      tags.h1('New group'),
      form(
        [
          { name: 'name', words: 'Name', required: true },
          { name: 'path', words: 'Path', required: true, hint: 'Its part of the address.' },
          {
            name: 'parent_id',
            words: 'Within the group',
            kind: 'choice',
            choices: [['', 'None'], ...parents.map(({ id, full_path }): Choice => [String(id), full_path])],
            value: query.get('parent_id') ?? '',
          },
          { name: 'description', words: 'Description', kind: 'text', hint: 'In Markdown.' },
          visibilityField,
        ],
        'Create the group',
        async ({ parent_id, ...values }) => {
          const fields = { ...values, ...(parent_id !== '' && { parent_id }) }
          const made = await write<Group>('POST', endpoint`/groups`, fields)
          location.assign(address`/groups/${slashed(made.full_path)}`)
        },
      ),
    ],
  }
})
