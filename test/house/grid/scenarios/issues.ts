import { expectStatus, type Json } from '../../../world/world.ts'
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

/** Two issues that are linked. */
const linked: Prepare = async (stage) => {
  const [issue_iid, target_issue_iid] = [await newIssue(stage), await newIssue(stage)]
  const link = await stage.make(`${stage.projectPath}/issues/${issue_iid}/links`, {
    target_project_id: idOf(stage.project),
    target_issue_iid,
  })
  const { body } = await stage.world.root.get(`${stage.projectPath}/issues/${issue_iid}/links/${idOf(link)}`)
  return { path: { issue_iid, issue_link_id: idOf(body as Json) } }
}

/** Into another project of the group that everybody is a member of. */
const copying: Scenario = {
  about: 'group',
  async prepare(stage) {
    const to = await stage.once('copies', () => stage.world.project({ namespace_id: idOf(stage.group) }))
    return request(await newIssue(stage), { to_project_id: idOf(to) })
  },
}

const unsubscribing: Scenario = {
  forEach: true,
  async prepare(stage, { client }) {
    const issue_iid = await newIssue(stage)
    await client.post(`${stage.projectPath}/issues/${issue_iid}/subscribe`)
    return request(issue_iid)
  },
}

const ofIssue = (rest: string): string => `/projects/:id/issues/:issue_iid/${rest}`

export const issueScenarios: Scenarios = {
  [`GET ${ofIssue('links')}`]: { '': foreign() },
  [`GET ${ofIssue('links/:issue_link_id')}`]: { '': linked },
  [`POST ${ofIssue('links')}`]: {
    '': async (stage) => {
      const target = { target_project_id: idOf(stage.project), target_issue_iid: await newIssue(stage) }
      return request(await newIssue(stage), target)
    },
  },
  [`DELETE ${ofIssue('links/:issue_link_id')}`]: { '': linked },
  ...Object.fromEntries(
    ['related_merge_requests', 'closed_by'].map((list) => [
      `GET ${ofIssue(list)}`,
      { '': foreign(), 'confidential issue of another user': foreign(undefined, { confidential: true }) },
    ]),
  ),
  [`GET ${ofIssue('participants')}`]: { '': foreign() },
  [`GET ${ofIssue('time_stats')}`]: { '': foreign() },
  [`POST ${ofIssue('time_estimate')}`]: { '': foreign({ duration: '1h' }) },
  [`POST ${ofIssue('reset_time_estimate')}`]: { '': foreign() },
  [`POST ${ofIssue('add_spent_time')}`]: { '': foreign({ duration: '1h' }) },
  [`POST ${ofIssue('reset_spent_time')}`]: { '': foreign() },
  [`PUT ${ofIssue('reorder')}`]: {
    '': async (stage) => {
      const other = await stage.make(`${stage.projectPath}/issues`, { title: 'other' })
      return request(await newIssue(stage), { move_after_id: idOf(other) })
    },
  },
  [`POST ${ofIssue('move')}`]: { 'into a project of the same group': copying },
  [`POST ${ofIssue('clone')}`]: { 'into a project of the same group': copying },
  [`POST ${ofIssue('subscribe')}`]: { '': { forEach: true, prepare: foreign() } },
  [`POST ${ofIssue('unsubscribe')}`]: { '': unsubscribing },
  [`GET ${ofIssue('user_agent_detail')}`]: { '': foreign() },
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
