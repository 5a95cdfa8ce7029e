import { cutTo, isLonger } from '../../kernel/lib/characters.ts'

/**
 * A merge request as a pipeline was made for it: kept with the pipeline, since a job that runs later is still about what
 * was asked for then.
 */
export interface MergeRequestFacts {
  readonly id: number
  readonly iid: number
  readonly eventType: 'detached' | 'merged_result' | 'merge_train'
  readonly title: string
  readonly description: string | null
  readonly draft: boolean
  readonly approved: boolean
  /** Names of users. */
  readonly assignees: readonly string[]
  readonly labels: readonly string[]
  readonly milestone: string | null
  readonly squash: boolean
  readonly diffId: number | null
  /** Where its changes begin; null: nothing is known to compare with. */
  readonly diffBaseSha: string | null
  /** The project that it is to be merged into. */
  readonly project: MergeRequestProject
  readonly source: MergeRequestSide & { readonly project: MergeRequestProject }
  /** `sha`: the head that the commit of the pipeline was merged into; `detached`: the one when the source was last pushed. */
  readonly target: MergeRequestSide
}

export interface MergeRequestProject {
  readonly id: number
  readonly path: string
  readonly url: string
}

export interface MergeRequestSide {
  readonly branch: string
  readonly sha: string
  readonly protected: boolean
}

/** Whether its pipeline builds the commit that merging would make, and not the head of its source. */
export function buildsMerge({ eventType }: MergeRequestFacts): boolean {
  return eventType !== 'detached'
}

/** What the commit of its pipeline changed is changed against this; null: nothing is known. */
export function comparedWith(of: MergeRequestFacts): string | null {
  return buildsMerge(of) ? of.target.sha : of.diffBaseSha
}

const longestDescription = 2700

/** `CI_MERGE_REQUEST_…` (completions, 7.9). */
export function mergeRequestVariables(of: MergeRequestFacts): Record<string, string> {
  const { project, source, target } = of
  const description = of.description ?? ''
  const merged = buildsMerge(of)
  const values = {
    ID: String(of.id),
    IID: String(of.iid),
    EVENT_TYPE: of.eventType,
    TITLE: of.title,
    DESCRIPTION: cutTo(description, longestDescription),
    DESCRIPTION_IS_TRUNCATED: String(isLonger(description, longestDescription)),
    DRAFT: String(of.draft),
    ...(of.approved && { APPROVED: 'true' }),
    ...(of.assignees.length > 0 && { ASSIGNEES: listed(of.assignees) }),
    ...(of.labels.length > 0 && { LABELS: of.labels.join(',') }),
    ...(of.milestone !== null && { MILESTONE: of.milestone }),
    SQUASH_ON_MERGE: String(of.squash),
    REF_PATH: `refs/merge-requests/${of.iid}/head`,
    ...(of.diffId !== null && { DIFF_ID: String(of.diffId) }),
    ...(of.diffBaseSha !== null && { DIFF_BASE_SHA: of.diffBaseSha }),
    PROJECT_ID: String(project.id),
    PROJECT_PATH: project.path,
    PROJECT_URL: project.url,
    SOURCE_BRANCH_NAME: source.branch,
    SOURCE_BRANCH_SHA: merged ? source.sha : '',
    SOURCE_BRANCH_PROTECTED: String(source.protected),
    SOURCE_PROJECT_ID: String(source.project.id),
    SOURCE_PROJECT_PATH: source.project.path,
    SOURCE_PROJECT_URL: source.project.url,
    TARGET_BRANCH_NAME: target.branch,
    TARGET_BRANCH_SHA: merged ? target.sha : '',
    TARGET_BRANCH_PROTECTED: String(target.protected),
  }
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`CI_MERGE_REQUEST_${key}`, value]))
}

/** `ada`, `ada and bob`, `ada, bob, and cyd`. */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names)
}

/** Values for protected refs reach a pipeline for a merge request where both of its branches are such, here. */
export function isProtectedMerge(
  { source, target, project }: MergeRequestFacts,
  { id, settings }: { readonly id: number; readonly settings: Readonly<Record<string, unknown>> },
): boolean {
  if (settings['protect_merge_request_pipelines'] === false) return false
  return source.protected && target.protected && source.project.id === project.id && project.id === id
}
