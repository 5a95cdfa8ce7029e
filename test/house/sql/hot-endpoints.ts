import { pushImage } from '../fuzz/things.ts'
import { pushFiles } from '../../world/push.ts'
import { npmDocument } from '../../world/npm-package.ts'
import { expectStatus, type Json, type World } from '../../world/world.ts'
import type { Reply } from '../../world/client.ts'

/** What the hot endpoints are called on. */
export interface Things {
  readonly world: World
  readonly project: Json
  readonly group: Json
  readonly pipeline: Json
  /** Id of a container repository. */
  readonly image: number
  /** Id of a snippet of the project. */
  readonly snippet: number
  /** Id of a discussion of it. */
  readonly thread: string
  /** Of a branch of the project. */
  readonly commit: string
  /** Id of an epic of the group. */
  readonly epic: number
  /** Of the programs of the project that ask for feature flags. */
  readonly flagToken: string
}

export interface HotEndpoint {
  /** As declared: `GET /projects/:id/variables`. */
  readonly endpoint: string
  /** Round trips to the database, pinned: one more is a decision. */
  readonly statements: number
  readonly call: (things: Things, headers: Record<string, string>) => Promise<Reply>
}

const get = (endpoint: string, path: (things: Things) => string): HotEndpoint => ({
  endpoint: `GET ${endpoint}`,
  statements: 1,
  call: (things, headers) => things.world.root.get(path(things), headers),
})

const id = (thing: Json): number => thing['id'] as number
let number = 0

/** The endpoints that are called most. */
export const hotEndpoints: readonly HotEndpoint[] = [
  get('/user', () => '/user'),
  get('/application/settings', () => '/application/settings'),
  get('/users/:id', () => '/users/1'),
  get('/projects', () => '/projects?per_page=5'),
  get('/projects/:id', ({ project }) => `/projects/${id(project)}`),
  get('/projects/:id/members', ({ project }) => `/projects/${id(project)}/members`),
  get('/projects/:id/members/all', ({ project }) => `/projects/${id(project)}/members/all`),
  get('/groups/:id', ({ group }) => `/groups/${id(group)}`),
  get('/groups/:id/members', ({ group }) => `/groups/${id(group)}/members`),
  get(
    '/projects/:id/packages/npm/:package_name',
    ({ project }) => `/projects/${id(project)}/packages/npm/hot`,
  ),
  get('/projects/:id/variables', ({ project }) => `/projects/${id(project)}/variables`),
  get('/projects/:id/variables/:key', ({ project }) => `/projects/${id(project)}/variables/HOT`),
  get('/projects/:id/feature_flags', ({ project }) => `/projects/${id(project)}/feature_flags`),
  {
    endpoint: 'GET /feature_flags/unleash/:project_id/client/features',
    statements: 1,
    call: ({ world, project, flagToken }, headers) =>
      world.anonymous.get(`/feature_flags/unleash/${id(project)}/client/features?app_name=production`, {
        ...headers,
        'unleash-instanceid': flagToken,
      }),
  },
  {
    endpoint: 'POST /projects/:id/variables',
    statements: 2,
    call: ({ world, project }, headers) =>
      world.root.post(
        `/projects/${id(project)}/variables`,
        { key: `KEY_${(number += 1)}`, value: 'x' },
        headers,
      ),
  },
  get('/projects/:id/wikis', ({ project }) => `/projects/${id(project)}/wikis`),
  get('/projects/:id/wikis/:slug', ({ project }) => `/projects/${id(project)}/wikis/hot?render_html=true`),
  get('/groups/:id/wikis', ({ group }) => `/groups/${id(group)}/wikis`),
  get('/groups/:id/wikis/:slug', ({ group }) => `/groups/${id(group)}/wikis/hot`),
  get('/projects/:id/triggers', ({ project }) => `/projects/${id(project)}/triggers`),
  get('/groups/:id/variables', ({ group }) => `/groups/${id(group)}/variables`),
  get('/projects/:id/protected_branches', ({ project }) => `/projects/${id(project)}/protected_branches`),
  get(
    '/projects/:id/protected_branches/:name',
    ({ project }) => `/projects/${id(project)}/protected_branches/hot`,
  ),
  get('/projects/:id/merge_requests', ({ project }) => `/projects/${id(project)}/merge_requests`),
  get(
    '/projects/:id/merge_requests/:merge_request_iid',
    ({ project }) => `/projects/${id(project)}/merge_requests/1`,
  ),
  get(
    '/projects/:id/merge_requests/:merge_request_iid/approvals',
    ({ project }) => `/projects/${id(project)}/merge_requests/1/approvals`,
  ),
  get(
    '/projects/:id/merge_requests/:merge_request_iid/diffs',
    ({ project }) => `/projects/${id(project)}/merge_requests/1/diffs`,
  ),
  get('/projects/:id/pipelines', ({ project }) => `/projects/${id(project)}/pipelines`),
  get(
    '/projects/:id/pipelines/:pipeline_id',
    ({ project, pipeline }) => `/projects/${id(project)}/pipelines/${id(pipeline)}`,
  ),
  get(
    '/projects/:id/pipelines/:pipeline_id/jobs',
    ({ project, pipeline }) => `/projects/${id(project)}/pipelines/${id(pipeline)}/jobs`,
  ),
  get(
    '/projects/:id/pipelines/:pipeline_id/test_report_summary',
    ({ project, pipeline }) => `/projects/${id(project)}/pipelines/${id(pipeline)}/test_report_summary`,
  ),
  get('/projects/:id/environments', ({ project }) => `/projects/${id(project)}/environments`),
  get('/projects/:id/deployments', ({ project }) => `/projects/${id(project)}/deployments`),
  get('/projects/:id/resource_groups', ({ project }) => `/projects/${id(project)}/resource_groups`),
  // The first finds out who asks, then the head of the branch is read from the refs.
  {
    ...get('/projects/:id/pipelines/latest', ({ project }) => `/projects/${id(project)}/pipelines/latest`),
    statements: 2,
  },
  get(
    '/projects/:id/registry/repositories',
    ({ project }) => `/projects/${id(project)}/registry/repositories`,
  ),
  get('/registry/repositories/:id', ({ image }) => `/registry/repositories/${image}`),
  get(
    '/projects/:id/registry/repositories/:repository_id/tags',
    ({ project, image }) => `/projects/${id(project)}/registry/repositories/${image}/tags`,
  ),
  get(
    '/projects/:id/registry/repositories/:repository_id/tags/:tag_name',
    ({ project, image }) => `/projects/${id(project)}/registry/repositories/${image}/tags/v1`,
  ),
  get(
    '/projects/:id/registry/protection/repository/rules',
    ({ project }) => `/projects/${id(project)}/registry/protection/repository/rules`,
  ),
  get('/projects/:id/snippets', ({ project }) => `/projects/${id(project)}/snippets`),
  get(
    '/projects/:id/snippets/:snippet_id',
    ({ project, snippet }) => `/projects/${id(project)}/snippets/${snippet}`,
  ),
  get('/snippets', () => '/snippets'),
  get(
    '/projects/:id/snippets/:snippet_id/discussions',
    ({ project, snippet }) => `/projects/${id(project)}/snippets/${snippet}/discussions`,
  ),
  get(
    '/projects/:id/snippets/:snippet_id/discussions/:discussion_id',
    ({ project, snippet, thread }) => `/projects/${id(project)}/snippets/${snippet}/discussions/${thread}`,
  ),
  get(
    '/projects/:id/snippets/:snippet_id/notes',
    ({ project, snippet }) => `/projects/${id(project)}/snippets/${snippet}/notes`,
  ),
  get('/projects/:id/jobs', ({ project }) => `/projects/${id(project)}/jobs`),
  get('/projects/:id/labels', ({ project }) => `/projects/${id(project)}/labels`),
  get('/projects/:id/milestones', ({ project }) => `/projects/${id(project)}/milestones`),
  get('/projects/:id/issues', ({ project }) => `/projects/${id(project)}/issues?labels=hot&search=issue`),
  get('/projects/:id/issues/:issue_iid', ({ project }) => `/projects/${id(project)}/issues/1`),
  get('/groups/:id/issues', ({ group }) => `/groups/${id(group)}/issues?state=opened`),
  get('/issues', () => '/issues?scope=assigned_to_me'),
  get(
    '/projects/:id/issues/:issue_iid/discussions',
    ({ project }) => `/projects/${id(project)}/issues/1/discussions`,
  ),
  get('/projects/:id/issues/:issue_iid/notes', ({ project }) => `/projects/${id(project)}/issues/1/notes`),
  get(
    '/projects/:id/merge_requests/:merge_request_iid/discussions',
    ({ project }) => `/projects/${id(project)}/merge_requests/1/discussions`,
  ),
  get(
    '/projects/:id/merge_requests/:merge_request_iid/notes',
    ({ project }) => `/projects/${id(project)}/merge_requests/1/notes`,
  ),
  get(
    '/projects/:id/repository/commits/:commit_id/discussions',
    ({ project, commit }) => `/projects/${id(project)}/repository/commits/${commit}/discussions`,
  ),
  get('/groups/:id/epics', ({ group }) => `/groups/${id(group)}/epics`),
  get('/groups/:id/epics/:epic_iid', ({ group }) => `/groups/${id(group)}/epics/1`),
  get(
    '/groups/:id/epics/:epic_id/discussions',
    ({ group, epic }) => `/groups/${id(group)}/epics/${epic}/discussions`,
  ),
  get('/groups/:id/labels', ({ group }) => `/groups/${id(group)}/labels`),
  get('/projects/:id/events', ({ project }) => `/projects/${id(project)}/events`),
]

const configuration = `build:\n  script: echo hello\ntest:\n  script: echo hello\n`

/** One thing of each kind, made through the public doors. */
export async function makeThings(world: World): Promise<Things> {
  const group = await world.group()
  const project = await world.project({ namespace_id: id(group) })
  const path = `/projects/${id(project)}`
  await world.member({ project }, 'developer')
  const published = await npmDocument({ name: 'hot', version: '1.0.0' })
  expectStatus(await world.root.put(`${path}/packages/npm/hot`, published), 200)
  expectStatus(await world.root.post(`${path}/variables`, { key: 'HOT', value: 'x' }), 201)
  expectStatus(await world.root.post(`${path}/protected_branches`, { name: 'hot' }), 201)
  expectStatus(await world.root.post(`${path}/issues`, { title: 'Hot issue', labels: 'hot' }), 201)
  for (const place of [path, `/groups/${id(group)}`])
    expectStatus(await world.root.post(`${place}/wikis`, { title: 'hot', content: 'x' }), 201)
  const snippet = expectStatus(
    await world.root.post(`${path}/snippets`, {
      title: 'hot',
      visibility: 'private',
      file_name: 'a',
      content: 'x',
    }),
    201,
  )
  const thread = expectStatus(
    await world.root.post(`${path}/snippets/${id(snippet)}/discussions`, { body: 'hot' }),
    201,
  )
  const epic = expectStatus(await world.root.post(`/groups/${id(group)}/epics`, { title: 'Hot epic' }), 201)
  const client = expectStatus(await world.root.post(`${path}/feature_flags_client`), 201)
  const pipeline = await makePipeline(world, project)
  const commit = await makeRequest(world, path)
  return {
    commit,
    world,
    project,
    group,
    snippet: id(snippet),
    thread: thread['id'] as string,
    epic: id(epic),
    flagToken: client['instance_id'] as string,
    pipeline,
    image: await pushImage(world, project),
  }
}

/** The first merge request of the project; whether it can be merged is known with the answer. Answers its commit. */
async function makeRequest(world: World, path: string): Promise<string> {
  const change = {
    branch: 'hot-change',
    start_branch: 'main',
    commit_message: 'Change',
    actions: [{ action: 'create', file_path: 'hot', content: 'x' }],
  }
  const commit = expectStatus(await world.root.post(`${path}/repository/commits`, change), 201)
  const request = { source_branch: 'hot-change', target_branch: 'main', title: 'Hot' }
  expectStatus(await world.root.post(`${path}/merge_requests`, request), 201)
  return commit['id'] as string
}

async function makePipeline(world: World, project: Json): Promise<Json> {
  await pushFiles(world, project, { '.gitlab-ci.yml': configuration })
  return expectStatus(await world.root.post(`/projects/${id(project)}/pipeline`, { ref: 'main' }), 201)
}
