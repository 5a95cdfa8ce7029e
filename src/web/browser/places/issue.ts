import { read, write } from '../api.ts'
import { nodes, tags, type Child } from '../dom.ts'
import type { Issue } from '../entities.ts'
import { endpoint, named } from '../here.ts'
import { action } from '../parts/action.ts'
import {
  commentForm,
  description,
  readConversation,
  threads,
  type Conversation,
} from '../parts/conversation.ts'
import { facts } from '../parts/facts.ts'
import { person } from '../parts/person.ts'
import { status } from '../parts/status.ts'
import { ago } from '../parts/time.ts'
import { showInProject } from '../project-frame.ts'

const { div, h1, p, span } = tags

await showInProject('Issues', async (project) => {
  const iid = named('id')
  const at = endpoint`/projects/${project.id}/issues/${iid}`
  const readBoth = () => Promise.all([read<Issue>(at), readConversation('issue', project, iid)])
  const place = div()
  const draw = ([issue, said]: readonly [Issue, Conversation]): void =>
    place.replaceChildren(
      ...nodes([
        h1(issue.title, ' ', span({ className: 'soft' }, `#${issue.iid}`)),
        byline(issue),
        div(
          { className: 'beside' },
          div(description(said), said.userPermissions.change && changeState(issue), threads(said, at, look)),
          facts(project, issue, said, 'issues', [['Due', issue.due_date]]),
        ),
      ]),
    )
  const look = async (): Promise<void> => draw(await readBoth())
  const changeState = ({ state }: Issue): Child =>
    p(
      { className: 'actions' },
      action(state === 'opened' ? 'Close the issue' : 'Open it again', async () => {
        await write('PUT', at, { state_event: state === 'opened' ? 'close' : 'reopen' })
        await look()
      }),
    )
  const first = await readBoth()
  draw(first)
  const [{ title }, said] = first
  return { title: `${title} (#${iid})`, body: [place, await commentForm(said, at, look)] }
})

function byline({ state, confidential, author, created_at }: Issue): Child {
  return p(
    { className: 'byline' },
    status(state),
    confidential && span({ className: 'badge' }, 'confidential'),
    ' by ',
    author === null ? 'somebody' : person(author),
    ' ',
    ago(created_at),
  )
}
