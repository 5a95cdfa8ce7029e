import { hash } from 'node:crypto'

/** What is read of the payloads of webhooks. */
interface Payload {
  readonly project: {
    readonly id: number
    readonly path_with_namespace: string
    readonly web_url: string
  }
  readonly user?: Person | null
  readonly object_attributes?: {
    readonly iid: number
    readonly title?: string
    readonly description?: string | null
    readonly state?: string
    readonly url: string
    readonly source_branch?: string
    readonly target_branch?: string
    readonly last_commit?: Commit | null
    readonly ref?: string
    readonly sha?: string
    readonly status?: string
  }
  readonly merge_request?: { readonly title: string; readonly source_branch: string } | null
  readonly commit?: Commit | null
  readonly ref?: string
  readonly after?: string
  readonly commits?: readonly Commit[]
  readonly status?: string
  readonly deployment_id?: number
  readonly deployable_url?: string
  readonly environment?: string
  readonly environment_tier?: string
  readonly commit_title?: string | null
}

interface Commit {
  readonly id: string
  readonly message: string
  readonly timestamp: string
  readonly url: string
  readonly author: Person
  readonly added?: readonly string[]
  readonly modified?: readonly string[]
  readonly removed?: readonly string[]
}

interface Person {
  readonly name: string
  readonly email?: string | null
}

/** Something that a tracker is told. */
export interface Told {
  readonly path: string
  readonly body: object
}

const issueKey = /(?<![A-Z0-9_])[A-Z][A-Z_0-9]+-[1-9]\d{0,9}(?!\d)/g
const mostKeys = 100

/** The keys of the tracker's issues that texts name. */
export function keysIn(...texts: readonly (string | null | undefined)[]): string[] {
  return [...new Set(texts.flatMap((text) => text?.match(issueKey) ?? []))].slice(0, mostKeys)
}

const providerMetadata = { product: 'Guildhall' }
const longest = { title: 255, message: 1024 } as const

/** What is known of what happened, besides what webhooks are told. */
export interface Facts {
  /** It grows, so that what is newer stays. */
  readonly sequence: number
  /** Of a merge request. */
  readonly comments?: number
}

/** What a tracker is told of what webhooks are called for. */
export function tellOf(
  trigger: string,
  built: object,
  { sequence, comments = 0 }: Facts,
  now = new Date(),
): Told | undefined {
  const payload = built as Payload
  switch (trigger) {
    case 'push':
      return tellOfPush(payload, sequence)
    case 'merge_requests':
      return tellOfRequest(payload, comments, sequence, now)
    case 'pipeline':
      return tellOfBuild(payload, sequence, now)
    case 'deployment':
      return tellOfDeployment(payload, sequence, now)
    default:
      return undefined
  }
}

function inRepository({ project }: Payload, updateSequenceId: number, entities: object): Told {
  const { id, path_with_namespace: name, web_url: url } = project
  return {
    path: '/rest/devinfo/0.10/bulk',
    body: {
      repositories: [{ id: String(id), name, url, updateSequenceId, ...entities }],
      providerMetadata,
    },
  }
}

function commitOf(commit: Commit, issueKeys: readonly string[], updateSequenceId: number): object {
  const { id, message, timestamp, url, author, added = [], modified = [], removed = [] } = commit
  return {
    id,
    hash: id,
    displayId: id.slice(0, 8),
    message: message.trimEnd().slice(0, longest.message),
    author: personOf(author),
    authorTimestamp: timestamp,
    fileCount: added.length + modified.length + removed.length,
    url,
    issueKeys,
    updateSequenceId,
  }
}

const personOf = ({ name, email }: Person): object => ({ name, ...(email && { email }) })

function tellOfPush(payload: Payload, sequence: number): Told | undefined {
  const { project, ref = '', after = '', commits = [] } = payload
  const named = commits.flatMap((commit) => {
    const keys = keysIn(commit.message)
    return keys.length === 0 ? [] : [commitOf(commit, keys, sequence)]
  })
  const branch = ref.replace('refs/heads/', '')
  const keys = keysIn(branch)
  const last = commits.find(({ id }) => id === after)
  const path = branch.split('/').map(encodeURIComponent).join('/')
  const branches =
    keys.length === 0 || last === undefined
      ? []
      : [
          {
            id: hash('sha256', branch, 'hex'),
            name: branch.slice(0, longest.title),
            issueKeys: keys,
            lastCommit: commitOf(last, keys, sequence),
            url: `${project.web_url}/-/tree/${path}`,
            createPullRequestUrl: `${project.web_url}/-/merge_requests/new?merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`,
            updateSequenceId: sequence,
          },
        ]
  return named.length + branches.length === 0
    ? undefined
    : inRepository(payload, sequence, { commits: named, branches })
}

const requestStatuses: Readonly<Record<string, string>> = {
  opened: 'OPEN',
  locked: 'OPEN',
  merged: 'MERGED',
  closed: 'DECLINED',
}

function tellOfRequest(
  payload: Payload,
  commentCount: number,
  sequence: number,
  now: Date,
): Told | undefined {
  const of = payload.object_attributes!
  const issueKeys = keysIn(of.title, of.source_branch, of.description)
  if (issueKeys.length === 0) return undefined
  const request = {
    id: String(of.iid),
    displayId: `!${of.iid}`,
    issueKeys,
    title: of.title?.slice(0, longest.title),
    status: requestStatuses[of.state ?? ''] ?? 'UNKNOWN',
    ...(payload.user && { author: personOf(payload.user) }),
    commentCount,
    sourceBranch: of.source_branch,
    destinationBranch: of.target_branch,
    lastUpdate: now.toISOString(),
    url: of.url,
    updateSequenceId: sequence,
  }
  return inRepository(payload, sequence, { pullRequests: [request] })
}

const states: Readonly<Record<string, string>> = {
  success: 'successful',
  failed: 'failed',
  canceled: 'cancelled',
  skipped: 'cancelled',
  running: 'in_progress',
}
const stateOf = (status = ''): string => states[status] ?? 'pending'

function tellOfBuild(payload: Payload, sequence: number, now: Date): Told | undefined {
  const { project, merge_request: request, commit } = payload
  const of = payload.object_attributes!
  const branch = request?.source_branch ?? of.ref ?? ''
  const issueKeys = keysIn(branch, request?.title, commit?.message)
  if (issueKeys.length === 0) return undefined
  const build = {
    schemaVersion: '1.0',
    pipelineId: `${project.id} ${hash('sha256', branch, 'hex').slice(0, 16)}`,
    buildNumber: of.iid,
    updateSequenceNumber: sequence,
    displayName: `${project.path_with_namespace} ${branch}`.slice(0, longest.title),
    url: of.url,
    state: stateOf(of.status),
    lastUpdated: now.toISOString(),
    issueKeys,
    references: [
      {
        commit: { id: of.sha, repositoryUri: project.web_url },
        ref: { name: branch, uri: `${project.web_url}/-/commits/${encodeURI(branch)}` },
      },
    ],
  }
  return { path: '/rest/builds/0.1/bulk', body: { builds: [build], providerMetadata } }
}

const tiers: ReadonlySet<string> = new Set(['production', 'staging', 'testing', 'development'])

function tellOfDeployment(payload: Payload, sequence: number, now: Date): Told | undefined {
  const { project, ref = '', commit_title: title, environment = '', environment_tier: tier = '' } = payload
  const values = keysIn(ref, title)
  if (values.length === 0) return undefined
  const deployment = {
    schemaVersion: '1.0',
    deploymentSequenceNumber: payload.deployment_id,
    updateSequenceNumber: sequence,
    associations: [{ associationType: 'issueKeys', values }],
    displayName: ref.slice(0, longest.title),
    label: (title ?? ref).slice(0, longest.title),
    description: `Deployment of ${project.path_with_namespace} to ${environment}`.slice(0, longest.title),
    url: payload.deployable_url,
    state: stateOf(payload.status),
    lastUpdated: now.toISOString(),
    pipeline: {
      id: String(project.id),
      displayName: project.path_with_namespace.slice(0, longest.title),
      url: `${project.web_url}/-/pipelines`,
    },
    environment: {
      id: hash('sha256', `${project.id} ${environment}`, 'hex').slice(0, 32),
      displayName: environment.slice(0, longest.title),
      type: tiers.has(tier) ? tier : 'unmapped',
    },
  }
  return { path: '/rest/deployments/0.1/bulk', body: { deployments: [deployment], providerMetadata } }
}
