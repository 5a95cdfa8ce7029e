import { GraphQLError } from 'graphql'
import { mayChangeIssue } from '../issues/index.ts'
import { mayUpdateRequest } from '../merge-requests/index.ts'
import { written, type Asking, type Shown } from './asking.ts'
import { connectionOf, type PageArguments } from './connections.ts'
import { discussion, type NoteableFacts, type ShownDiscussion } from './discussions.ts'
import { globalId } from './ids.ts'
import { user, users, type ShownUser } from './people.ts'
import { listPipelines, pipeline, type ShownPipeline } from './pipelines.ts'
import { holdsIn, mayWrite } from './rights.ts'
import type { NoteableKind } from './store.ts'

/** An issue or merge request as lists show it, with all of its labels. */
export interface ShownNoteable extends Shown {
  readonly iid: number
  readonly project_id: number
  readonly description: string | null
  readonly web_url: string
  readonly discussion_locked: boolean | null
  readonly author: ShownUser | null
  readonly assignees: readonly ShownUser[]
  readonly labels: readonly (Shown & { readonly name: string })[]
}

interface ShownRequest extends ShownNoteable {
  readonly sha: string
  readonly has_conflicts: boolean
  readonly merge_user: ShownUser | null
  readonly reviewers: readonly ShownUser[]
}

/** One kind of what is discussed in projects. */
export interface Noteables {
  readonly kind: NoteableKind
  /** In paths of the API. */
  readonly noun: string
  readonly entity: (asking: Asking, shown: ShownNoteable) => unknown
}

export const issues: Noteables = { kind: 'Issue', noun: 'issues', entity: issue }
export const mergeRequests: Noteables = {
  kind: 'MergeRequest',
  noun: 'merge_requests',
  entity: (asking, shown) => mergeRequest(asking, shown as ShownRequest),
}

export async function showNoteable(
  asking: Asking,
  { noun }: Noteables,
  projectId: number,
  iid: number | string,
): Promise<ShownNoteable | undefined> {
  if (!/^\d{1,9}$/.test(String(iid))) return undefined
  const query = written({ iids: [String(iid)], with_labels_details: true })
  return (await asking.get<ShownNoteable[]>(`/projects/${projectId}/${noun}?${query}`))?.[0]
}

export async function findNoteable(
  asking: Asking,
  noteables: Noteables,
  projectId: number,
  iid: number | string,
): Promise<unknown> {
  const shown = await showNoteable(asking, noteables, projectId, iid)
  return shown === undefined ? null : noteables.entity(asking, shown)
}

/** What its notes have to know of it. */
export function factsOf({ noun }: Noteables, shown: ShownNoteable): NoteableFacts {
  return {
    path: `/projects/${shown.project_id}/${noun}/${shown.iid}`,
    projectId: shown.project_id,
    webUrl: shown.web_url,
    locked: shown.discussion_locked === true,
    authorId: shown.author?.id,
  }
}

interface ListArguments extends PageArguments {
  readonly iids?: readonly string[] | null
  readonly state?: string | null
  readonly authorUsername?: string | null
  readonly assigneeUsername?: string | null
}

const queryOf = ({ iids, state, authorUsername, assigneeUsername }: ListArguments) => ({
  iids,
  state,
  author_username: authorUsername,
  assignee_username: assigneeUsername == null ? undefined : [assigneeUsername],
  with_labels_details: true,
})

/** `path`: of the list. */
export function listIssues(
  asking: Asking,
  path: string,
  asked: ListArguments & {
    readonly search?: string | null
    readonly labelName?: readonly string[] | null
  },
): Promise<unknown> {
  const query = { ...queryOf(asked), search: asked.search, labels: asked.labelName?.join(',') }
  return asking.list(path, query, asked, (row: ShownNoteable) => issue(asking, row))
}

/** `path`: of the list. */
export function listMergeRequests(
  asking: Asking,
  path: string,
  asked: ListArguments & {
    readonly sourceBranches?: readonly string[] | null
    readonly targetBranches?: readonly string[] | null
    readonly labels?: readonly string[] | null
    readonly reviewerUsername?: string | null
  },
): Promise<unknown> {
  const query = {
    ...queryOf(asked),
    source_branch: onlyBranch('sourceBranches', asked.sourceBranches),
    target_branch: onlyBranch('targetBranches', asked.targetBranches),
    labels: asked.labels?.join(','),
    reviewer_username: asked.reviewerUsername,
  }
  return asking.list(path, query, asked, (row: ShownRequest) => mergeRequest(asking, row))
}

function onlyBranch(name: string, branches: readonly string[] | null | undefined): string | undefined {
  if (branches != null && branches.length !== 1) throw new GraphQLError(`\`${name}\` has to name one branch`)
  return branches?.[0]
}

function issue(asking: Asking, shown: ShownNoteable): unknown {
  const facts = factsOf(issues, shown)
  return {
    ...noteable(asking, issues, shown),
    reference: `#${shown.iid}`,
    userPermissions: {
      createNote: () => mayWrite(asking, facts),
      updateIssue: () =>
        holdsIn(asking, facts.projectId, (place) => mayChangeIssue(asking.actor, place, shown)),
    },
  }
}

/** What only the single merge request shows. */
interface WholeRequest {
  readonly diff_refs: object
  readonly head_pipeline: ShownPipeline | null
}

interface Approvals {
  readonly approved: boolean
  readonly approved_by: readonly { readonly user: ShownUser }[]
}

function mergeRequest(asking: Asking, shown: ShownRequest): unknown {
  const facts = factsOf(mergeRequests, shown)
  const { path } = facts
  const whole = () => asking.get<WholeRequest>(path)
  const approvals = () => asking.get<Approvals>(`${path}/approvals`)
  return {
    ...noteable(asking, mergeRequests, shown),
    reference: `!${shown.iid}`,
    conflicts: shown.has_conflicts,
    diffHeadSha: shown.sha,
    diffRefs: async () => (await whole())?.diff_refs,
    headPipeline: async () => {
      const head = (await whole())?.head_pipeline
      return head == null ? null : pipeline(asking, head)
    },
    pipelines: (asked: PageArguments) => listPipelines(asking, `${path}/pipelines`, asked),
    mergeUser: user(shown.merge_user),
    reviewers: (asked: PageArguments) => users(shown.reviewers, asked),
    approved: async () => (await approvals())?.approved,
    approvedBy: async (asked: PageArguments) => {
      const given = (await approvals())?.approved_by
      return (
        given &&
        users(
          given.map((approval) => approval.user),
          asked,
        )
      )
    },
    userPermissions: {
      createNote: () => mayWrite(asking, facts),
      updateMergeRequest: () =>
        holdsIn(asking, facts.projectId, (place) =>
          mayUpdateRequest(asking.actor, place, {
            author_id: shown.author?.id ?? null,
            assignees: shown.assignees,
          }),
        ),
    },
  }
}

/** What both kinds have. */
function noteable(asking: Asking, noteables: Noteables, shown: ShownNoteable): object {
  const facts = factsOf(noteables, shown)
  return {
    ...shown,
    id: globalId(noteables.kind, shown.id),
    iid: String(shown.iid),
    descriptionHtml: async () =>
      asking.services.texts.renderMarkdown(
        shown.description ?? '',
        asking.actor,
        await asking.project(facts.projectId),
      ),
    discussionLocked: facts.locked,
    author: user(shown.author),
    assignees: (asked: PageArguments) => users(shown.assignees, asked),
    labels: (asked: PageArguments) =>
      connectionOf(shown.labels, asked, (label) => ({
        ...label,
        id: globalId('Label', label.id),
        title: label.name,
      })),
    discussions: (asked: PageArguments) =>
      asking.list(`${facts.path}/discussions`, {}, asked, (row: ShownDiscussion) =>
        discussion(asking, facts, row),
      ),
  }
}
