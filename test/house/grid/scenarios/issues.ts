import { expectStatus } from '../../../world/world.ts'
import type { Client } from '../../../world/client.ts'
import { idOf, type Caller } from '../actors.ts'
import { plain, type Prepare, type Request, type Scenario, type Scenarios, type Stage } from '../stage.ts'

export async function newIssue(
  stage: Stage,
  fields: object = {},
  by: Client = stage.world.root,
): Promise<number> {
  const reply = await by.post(`${stage.projectPath}/issues`, { title: stage.unique('issue'), ...fields })
  return expectStatus(reply, 201)['iid'] as number
}

const request = (issue_iid: number, body?: unknown): Request => ({ path: { issue_iid }, body })

/** An issue of somebody who is nobody of the grid. */
export const foreign =
  (body?: unknown, fields: object = {}): Prepare =>
  async (stage) =>
    request(await newIssue(stage, fields), body)

/** What the caller wrote, where he can, else of somebody else. */
const own = (body?: unknown): Scenario => ({
  forEach: true,
  async prepare(stage, caller) {
    return request(await newIssue(stage, {}, writer(stage, caller)), body)
  },
})

function writer(stage: Stage, { userId }: Caller): Client {
  const { members, admin, stranger } = stage.cast
  const writers = [...Object.values(members), admin, ...(stage.visibility === 'private' ? [] : [stranger])]
  return writers.find(({ id }) => id === userId) ?? stage.world.root
}

export const issueScenarios: Scenarios = {
  'GET /projects/:id/issues': { '': plain },
  'GET /groups/:id/issues': { '': plain },
  'GET /issues': { '': plain },
  'GET /projects/:id/issues_statistics': { '': plain },
  'GET /groups/:id/issues_statistics': { '': plain },
  'GET /issues_statistics': { '': plain },
  'GET /issues/:id': {
    '': async (stage) => ({
      path: { id: idOf(await stage.make(`${stage.projectPath}/issues`, { title: 'x' })) },
    }),
  },
  'GET /projects/:id/issues/:issue_iid': {
    'not confidential': foreign(),
    'confidential issue of another user': foreign(undefined, { confidential: true }),
  },
  'POST /projects/:id/issues': { '': (stage) => ({ body: { title: stage.unique('issue') } }) },
  'PUT /projects/:id/issues/:issue_iid': {
    'issue of another user': foreign({ title: 'changed' }),
    'own issue': own({ title: 'changed' }),
    'confidential issue of another user': foreign({ title: 'changed' }, { confidential: true }),
  },
  'DELETE /projects/:id/issues/:issue_iid': { '': foreign() },
}
