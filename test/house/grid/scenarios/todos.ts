import type { Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { ciStage } from '../ci.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'
import { newIssue } from './issues.ts'
import { request as newRequest } from './merge-requests.ts'

/** The path of an issue that everybody may read. */
const openIssue = (stage: Stage): Promise<string> =>
  stage.once('issue that everybody reads', async () => {
    const project = await stage.world.project({ visibility: 'public' })
    const issue = await stage.make(`/projects/${idOf(project)}/issues`, { title: 'open' })
    return `/projects/${idOf(project)}/issues/${issue['iid'] as number}`
  })

const settings = Object.fromEntries(
  ['', '/projects/:id', '/groups/:id'].flatMap((place) => [
    [`GET ${place}/notification_settings`, { '': plain }],
    [`PUT ${place}/notification_settings`, { '': () => ({ body: { level: 'watch' } }) }],
  ]),
) as Scenarios

const searches = Object.fromEntries(
  ['', '/groups/:id', '/projects/:id'].map((place) => [
    `GET ${place}/search`,
    { '': () => ({ query: 'scope=issues&search=x' }) },
  ]),
) as Scenarios

export const todoScenarios: Scenarios = {
  ...settings,
  'GET /todos': { '': plain },
  ...searches,
  'GET /events': { '': plain },
  'GET /projects/:id/events': { '': plain },
  'GET /users/:id/events': { '': ({ world }) => ({ path: { id: world.root.id } }) },
  'POST /todos/mark_as_done': { '': plain },
  'POST /todos/:id/mark_as_done': {
    'to-do of the caller': {
      forEach: true,
      prepare: async (stage, { client }) => {
        const { status, body } = await client.post(`${await openIssue(stage)}/todo`)
        return { path: { id: status === 201 ? idOf(body as Json) : 1 } }
      },
    },
    'to-do of another user': async (stage) => {
      const path = `${stage.projectPath}/issues/${await newIssue(stage)}`
      return { path: { id: idOf(await stage.make(`${path}/todo`)) } }
    },
  },
  'POST /projects/:id/issues/:issue_iid/todo': {
    '': { prepare: async (stage) => ({ path: { issue_iid: await newIssue(stage) } }), lasts: true },
  },
  'POST /projects/:id/merge_requests/:merge_request_iid/todo': {
    '': {
      prepare: async (stage) => {
        const own = await ciStage(stage)
        const { iid } = (await newRequest(own)) as { iid: number }
        return { stage: own, path: { merge_request_iid: iid } }
      },
      lasts: true,
    },
  },
  'POST /groups/:id/epics/:epic_iid/todo': {
    '': {
      prepare: async (stage) => {
        const { iid } = await stage.make(`${stage.groupPath}/epics`, { title: stage.unique('epic') })
        return { path: { epic_iid: iid as number } }
      },
      lasts: true,
    },
  },
}
