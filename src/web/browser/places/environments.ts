import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Environment } from '../entities.ts'
import { endpoint, query, withQuery } from '../here.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { status } from '../parts/status.ts'
import { tabs } from '../parts/tabs.ts'
import { showInProject } from '../project-frame.ts'

const { a, h1, li, p, span, strong, ul } = tags

const states = [
  ['available', 'Available'],
  ['stopped', 'Stopped'],
] as const

await showInProject('Environments', async ({ id }) => {
  const [state, words] = states.find(([name]) => name === query.get('state')) ?? states[0]
  const found = await readPage<Environment>(endpoint`/projects/${id}/environments`, {
    states: state,
    page: pageWanted(),
  })
  return {
    title: 'Environments',
    body: [
      h1('Environments'),
      tabs(
        'Which environments',
        states.map(([name, shown]) => [shown, withQuery({ state: name, page: undefined })]),
        words,
      ),
      found.items.length === 0
        ? p({ className: 'soft' }, 'There are none.')
        : ul(
            { className: 'rows' },
            found.items.map(({ name, tier, state: shown, external_url: href, description }) =>
              li(
                strong(name),
                span({ className: 'badge' }, tier),
                status(shown),
                href !== null && [' ', a({ href }, href)],
                description !== null && p({ className: 'soft' }, description),
              ),
            ),
          ),
      pager(found),
    ],
  }
})
