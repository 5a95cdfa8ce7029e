import { readPage, write } from '../api.ts'
import { tags } from '../dom.ts'
import type { Project } from '../entities.ts'
import { show } from '../frame.ts'
import { address, endpoint, query, slashed } from '../here.ts'
import { form, type Choice } from '../parts/form.ts'
import { visibilityField } from '../parts/visibility.ts'
import { whoIsSignedIn } from '../session.ts'

interface Namespace {
  readonly id: number
  readonly kind: 'user' | 'group'
  readonly full_path: string
}

await show(async () => {
  const [user, { items: namespaces }] = await Promise.all([
    whoIsSignedIn(),
    readPage<Namespace>(endpoint`/namespaces`, { per_page: 100 }),
  ])
  const own = namespaces.find(({ kind, full_path }) => kind === 'user' && full_path === user.username)
  return {
    title: 'New project',
    body: [
      tags.h1('New project'),
      form(
        [
          { name: 'name', words: 'Name', required: true },
          {
            name: 'namespace_id',
            words: 'Where it belongs',
            kind: 'choice',
            choices: namespaces.map(({ id, full_path }): Choice => [String(id), full_path]),
            value: query.get('namespace_id') ?? String(own?.id),
          },
          { name: 'path', words: 'Path', hint: 'Its part of the address. Made of the name, if it is empty.' },
          { name: 'description', words: 'Description', kind: 'text', hint: 'In Markdown.' },
          visibilityField,
          {
            name: 'initialize_with_readme',
            words: 'Repository',
            kind: 'choice',
            choices: [
              ['false', 'Empty, for one that I have'],
              ['true', 'With a README'],
            ],
          },
        ],
        'Create the project',
        async ({ path, ...values }) => {
          const fields = { ...values, ...(path !== '' && { path }) }
          const made = await write<Project>('POST', endpoint`/projects`, fields)
          location.assign(address`/${slashed(made.path_with_namespace)}`)
        },
      ),
    ],
  }
})
