import { eventually } from '../../../world/merge-project.ts'
import { expectStatus, type Json } from '../../../world/world.ts'
import type { Caller } from '../actors.ts'
import { idOf } from '../actors.ts'
import { onCode } from './repository.ts'
import type { Prepare, Request, Scenario, Scenarios, Stage } from '../stage.ts'

interface Wanted {
  readonly target?: string
  readonly title?: string
}

/** A branch with a commit of its own. */
async function branchOf(stage: Stage, from = 'main'): Promise<string> {
  const branch = stage.unique('branch')
  await stage.make(`${stage.projectPath}/repository/commits`, {
    branch,
    start_branch: from,
    commit_message: 'Change',
    actions: [{ action: 'create', file_path: stage.unique('file'), content: 'x' }],
  })
  return branch
}

/** A request of the administrator `root`, whom the grid does not know. */
export async function request(stage: Stage, { target = 'main', title = 'T' }: Wanted = {}): Promise<Json> {
  const source_branch = await branchOf(stage)
  return stage.make(`${stage.projectPath}/merge_requests`, { source_branch, target_branch: target, title })
}

const at = ({ iid }: Json, more: Partial<Request> = {}): Request => ({
  path: { merge_request_iid: iid as number },
  ...more,
})

const read: Prepare = onCode(async (stage) => at(await stage.once('merge request', () => request(stage))))
const change = (body?: unknown, wanted: Wanted = {}): Prepare =>
  onCode(async (stage) => at(await request(stage, wanted), body === undefined ? {} : { body }))

/** What each caller may do to one and the same request. */
const each = (body?: unknown): Scenario => ({ prepare: change(body), lasts: true })

/** Into a branch that no rule protects. */
const merging = (body: Json = {}, wanted: Wanted = {}): Prepare =>
  onCode(async (stage) => {
    const target = stage.unique('target')
    await stage.make(`${stage.projectPath}/repository/branches`, { branch: target, ref: 'main' })
    return at(await request(stage, { target, ...wanted }), { body })
  })

/** By the very caller, from a fork of his; whoever can call nothing is shown another one. */
async function fromFork(stage: Stage, { client, name }: Caller): Promise<Request> {
  if (/^(?:anonymous|blocked|expired|token_)/.test(name)) return at(await request(stage))
  const fork = expectStatus(
    await client.post(`${stage.projectPath}/fork`, {
      path: stage.unique('fork'),
      name: stage.unique('fork'),
    }),
    201,
  )
  const path = `/projects/${idOf(fork)}`
  const source_branch = stage.unique('branch')
  expectStatus(await client.post(`${path}/repository/branches`, { branch: source_branch, ref: 'main' }), 201)
  const made = expectStatus(
    await client.post(`${path}/merge_requests`, {
      source_branch,
      target_branch: 'main',
      title: 'T',
      target_project_id: idOf(stage.project),
    }),
    201,
  )
  return at(made, { body: { title: 'New' } })
}

const one = '/projects/:id/merge_requests/:merge_request_iid'

const readVersion: Prepare = onCode(async (stage) => {
  const made = await stage.once('merge request', () => request(stage))
  const path = `${stage.projectPath}/merge_requests/${made['iid'] as number}/versions`
  const [version] = (await stage.world.root.get(path)).body as Json[]
  return { path: { merge_request_iid: made['iid'] as number, version_id: idOf(version!) } }
})

/** By the very caller, where he may. */
const asCaller = (path: string): Scenario => ({
  prepare: (stage, caller, row) =>
    onCode(async (code) => {
      const made = await code.once(`merge request to ${path}`, () => request(code))
      await caller.client.post(`${code.projectPath}/merge_requests/${made['iid'] as number}/${path}`)
      return at(made)
    })(stage, caller, row),
  forEach: true,
})

/** The request once it knows of the last push to its branch. */
async function headKnown(stage: Stage, made: Json): Promise<Json> {
  const path = `${stage.projectPath}/merge_requests/${made['iid'] as number}`
  return eventually(async () => {
    const now = (await stage.world.root.get(path)).body as Json
    return now['sha'] !== made['sha'] && now
  })
}

const newRule = (stage: Stage): Json => ({ name: stage.unique('rule'), approvals_required: 1 })

/** A rule of a request, or of the project. */
const onRule = (of: 'request' | 'project', body?: Json): Prepare =>
  onCode(async (stage) => {
    const made = of === 'request' ? await request(stage) : undefined
    const place = made === undefined ? '' : `/merge_requests/${made['iid'] as number}`
    const names = { ...newRule(stage), rule_type: 'regular' }
    const rule = await stage.make(`${stage.projectPath}${place}/approval_rules`, names)
    const path = { approval_rule_id: idOf(rule), ...(made && { merge_request_iid: made['iid'] as number }) }
    return { path, ...(body && { body }) }
  })

/** A request that waits for another one. */
const blocked: Prepare = onCode(async (stage) => {
  const [made, other] = [await request(stage), await request(stage)]
  const path = `${stage.projectPath}/merge_requests/${made['iid'] as number}/blocks`
  const block = await stage.make(path, { blocking_merge_request_id: idOf(other) })
  return { path: { merge_request_iid: made['iid'] as number, block_id: idOf(block) } }
})

/** With the commit that its branch has, for its context; already there, or not. */
const inContext = (added: boolean): Prepare =>
  onCode(async (stage) => {
    const made = await request(stage)
    const body = { commits: [made['sha'] as string] }
    const path = `${stage.projectPath}/merge_requests/${made['iid'] as number}/context_commits`
    if (added) expectStatus(await stage.world.root.post(path, body), 201)
    return at(made, { body })
  })

/** A request with a change of each kind on record. */
const recorded = (kind: 'label' | 'state' | 'milestone'): Prepare =>
  onCode(async (stage) => {
    const made = await request(stage)
    const where = `${stage.projectPath}/merge_requests/${made['iid'] as number}`
    const milestone = await stage.make(`${stage.projectPath}/milestones`, { title: stage.unique('m') })
    const change = { add_labels: 'recorded', milestone_id: idOf(milestone), state_event: 'close' }
    expectStatus(await stage.world.root.put(where, change), 200)
    const { body } = await stage.world.root.get(`${where}/resource_${kind}_events`)
    return { path: { merge_request_iid: made['iid'] as number, event_id: idOf((body as Json[])[0]!) } }
  })

const records: Scenarios = Object.fromEntries(
  (['label', 'state', 'milestone'] as const).flatMap((kind) =>
    ['', '/:event_id'].map((rest) => [
      `GET /projects/:id/merge_requests/:merge_request_iid/resource_${kind}_events${rest}`,
      { '': recorded(kind) },
    ]),
  ),
)

export const mergeRequestScenarios: Scenarios = {
  ...records,
  'GET /merge_requests': { '': () => ({}) },
  'GET /groups/:id/merge_requests': { '': () => ({}) },
  'GET /projects/:id/merge_requests': { '': read },
  [`GET ${one}`]: { '': read },
  [`GET ${one}/participants`]: { '': read },
  [`GET ${one}/reviewers`]: { '': read },
  [`GET ${one}/merge_ref`]: { '': read },
  'POST /projects/:id/merge_requests': {
    'source branch in the same project': onCode(async (stage) => ({
      body: { source_branch: await branchOf(stage), target_branch: 'main', title: 'T' },
    })),
  },
  [`PUT ${one}`]: {
    'of another user': each({ title: 'New' }),
    'own merge request from a fork': {
      prepare: (stage, caller, row) => onCode((code) => fromFork(code, caller))(stage, caller, row),
      forEach: true,
    },
  },
  [`DELETE ${one}`]: { '': change() },
  [`PUT ${one}/merge`]: {
    'mergeable, unprotected target': merging(),
    'mergeable, protected target, push and merge level 40': change({}),
    'draft, unprotected target': merging({}, { title: 'Draft: T' }),
    'sha stale, unprotected target': merging({ sha: '0'.repeat(40) }),
  },
  [`PUT ${one}/rebase`]: { 'unprotected source in the same project': change({}) },
  [`POST ${one}/cancel_merge_when_pipeline_succeeds`]: {
    'left to merge by itself': onCode(async (stage) => {
      const made = await request(stage, { title: 'Draft: T' })
      const path = `${stage.projectPath}/merge_requests/${made['iid'] as number}/merge`
      expectStatus(await stage.world.root.put(path, { auto_merge: true }), 200)
      return at(made)
    }),
  },
  [`GET ${one}/commits`]: { '': read },
  [`GET ${one}/diffs`]: { '': read },
  [`GET ${one}/changes`]: { '': read },
  [`GET ${one}/raw_diffs`]: { '': read },
  [`GET ${one}/versions`]: { '': read },
  [`GET ${one}/versions/:version_id`]: { '': readVersion },
  [`GET ${one}/approvals`]: { '': read },
  [`GET ${one}/approval_state`]: { '': read },
  [`POST ${one}/approve`]: { 'not author, not yet approved': each({}) },
  [`POST ${one}/unapprove`]: { 'approved by the caller': asCaller('approve') },
  [`PUT ${one}/reset_approvals`]: { 'no bot': change({}) },
  [`GET ${one}/approval_rules`]: { '': read },
  [`GET ${one}/approval_rules/:approval_rule_id`]: { '': onRule('request') },
  [`POST ${one}/approval_rules`]: {
    '': onCode(async (stage) =>
      at(await request(stage), { body: { ...newRule(stage), rule_type: 'regular' } }),
    ),
  },
  [`PUT ${one}/approval_rules/:approval_rule_id`]: { '': onRule('request', { approvals_required: 0 }) },
  [`DELETE ${one}/approval_rules/:approval_rule_id`]: { '': onRule('request') },
  'GET /projects/:id/repository/commits/:sha/merge_requests': {
    '': onCode(async () => ({ path: { sha: 'main' } })),
  },
  'GET /projects/:id/approvals': { '': onCode() },
  'POST /projects/:id/approvals': { '': onCode(() => ({ body: { reset_approvals_on_push: true } })) },
  'GET /projects/:id/merge_request_approval_setting': { '': onCode() },
  'PUT /projects/:id/merge_request_approval_setting': {
    '': onCode(() => ({ body: { retain_approvals_on_push: false } })),
  },
  'GET /projects/:id/approval_rules': { '': onCode() },
  'GET /projects/:id/approval_rules/:approval_rule_id': { '': onRule('project') },
  'POST /projects/:id/approval_rules': {
    '': onCode((stage) => ({ body: { ...newRule(stage), rule_type: 'regular' } })),
  },
  'PUT /projects/:id/approval_rules/:approval_rule_id': { '': onRule('project', { approvals_required: 0 }) },
  'DELETE /projects/:id/approval_rules/:approval_rule_id': { '': onRule('project') },
  [`POST ${one}/subscribe`]: { 'not subscribed': each() },
  [`POST ${one}/unsubscribe`]: { subscribed: asCaller('subscribe') },
  [`GET ${one}/time_stats`]: { '': read },
  [`POST ${one}/time_estimate`]: { '': each({ duration: '1h' }) },
  [`POST ${one}/reset_time_estimate`]: { '': each() },
  [`POST ${one}/add_spent_time`]: { '': each({ duration: '1h' }) },
  [`POST ${one}/reset_spent_time`]: { '': each() },
  [`GET ${one}/pipelines`]: { '': read },
  [`POST ${one}/pipelines`]: {
    'unprotected source, configuration serves merge requests': onCode(async (stage) => {
      const made = await request(stage)
      await stage.make(`${stage.projectPath}/repository/commits`, {
        branch: made['source_branch'] as string,
        commit_message: 'Configure',
        actions: [
          {
            action: 'create',
            file_path: '.gitlab-ci.yml',
            content: 'build:\n  script: x\n  rules: [{ if: $CI_MERGE_REQUEST_IID }]\n',
          },
        ],
      })
      return at(await headKnown(stage, made))
    }),
  },
  [`GET ${one}/context_commits`]: { '': read },
  [`POST ${one}/context_commits`]: { '': inContext(false) },
  [`DELETE ${one}/context_commits`]: { '': inContext(true) },
  [`GET ${one}/blocks`]: { '': read },
  [`GET ${one}/blockees`]: { '': read },
  [`GET ${one}/blocks/:block_id`]: { '': blocked },
  [`POST ${one}/blocks`]: {
    '': onCode(async (stage) => {
      const [made, other] = [await request(stage), await request(stage)]
      return at(made, { body: { blocking_merge_request_id: idOf(other) } })
    }),
  },
  [`DELETE ${one}/blocks/:block_id`]: { '': blocked },
  [`GET ${one}/closes_issues`]: { '': read },
  [`GET ${one}/related_issues`]: { '': read },
}
