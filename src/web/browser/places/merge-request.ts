import { read, write } from '../api.ts'
import { nodes, tags, type Child } from '../dom.ts'
import type { Approvals, MergeRequest } from '../entities.ts'
import { address, slashed } from '../here.ts'
import { whileMoving } from '../live.ts'
import { showInRequest } from '../merge-request-frame.ts'
import { action } from '../parts/action.ts'
import {
  commentForm,
  description,
  readConversation,
  threads,
  type Conversation,
} from '../parts/conversation.ts'
import { facts } from '../parts/facts.ts'
import { isBeingChecked, mergeStatus } from '../parts/merge-status.ts'
import { person } from '../parts/person.ts'
import { isMoving, status } from '../parts/status.ts'
import { ago } from '../parts/time.ts'

const { a, code, div, p, section } = tags

await showInRequest('Overview', async ({ project, request: shown, at }) => {
  const full = project.path_with_namespace
  const readTalk = () => readConversation('mergeRequest', project, String(shown.iid))

  const state = div()
  const drawState = async (): Promise<boolean> => {
    const [request, approvals] = await Promise.all([
      read<MergeRequest>(at),
      read<Approvals>(`${at}/approvals`),
    ])
    state.replaceChildren(...nodes([byline(request, full), merging(request, approvals)]))
    const { detailed_merge_status: checked, head_pipeline: pipeline } = request
    return request.state === 'opened' && (isBeingChecked(checked) || isMoving(pipeline?.status ?? ''))
  }
  let isFollowed = false
  const follow = async (): Promise<void> => {
    if (!(await drawState()) || isFollowed) return
    isFollowed = true
    void whileMoving(drawState).finally(() => (isFollowed = false))
  }

  const merging = (request: MergeRequest, approvals: Approvals): Child => {
    const { head_pipeline: pipeline, merge_error: error } = request
    return section(
      { className: 'note', 'aria-label': 'Merging' },
      p(
        { className: 'byline' },
        mergingWords(request),
        pipeline !== null && [
          ' ',
          a(
            { href: address`/${slashed(full)}/-/pipelines/${pipeline.id}` },
            'Pipeline ',
            status(pipeline.status),
          ),
        ],
      ),
      error !== null && p({ className: 'fault' }, error),
      approvedBy(approvals),
      p({ className: 'actions' }, actions(request, approvals)),
    )
  }
  const act = (words: string, method: 'POST' | 'PUT', path: string, body?: object): Child =>
    action(words, async () => {
      await write(method, at + path, body)
      await follow()
    })
  const actions = (request: MergeRequest, approvals: Approvals): Child => {
    const { state: name, sha, detailed_merge_status: checked, head_pipeline: pipeline } = request
    const isOpen = name === 'opened'
    const waits = request.merge_when_pipeline_succeeds
    const mayMerge = isOpen && request.user.can_merge
    return [
      mayMerge && checked === 'mergeable' && act('Merge', 'PUT', '/merge', { sha }),
      mayMerge &&
        !waits &&
        isMoving(pipeline?.status ?? '') &&
        act('Merge once its pipeline has passed', 'PUT', '/merge', { sha, auto_merge: true }),
      mayMerge && waits && act('Do not merge it by itself', 'POST', '/cancel_merge_when_pipeline_succeeds'),
      isOpen && approvals.user_can_approve && act('Approve', 'POST', '/approve', { sha }),
      isOpen && approvals.user_has_approved && act('Take back the approval', 'POST', '/unapprove'),
      mayChange && isOpen && act('Close', 'PUT', '', { state_event: 'close' }),
      mayChange && name === 'closed' && act('Open it again', 'PUT', '', { state_event: 'reopen' }),
    ]
  }

  const talk = div({ className: 'beside' })
  const drawTalk = (request: MergeRequest, said: Conversation): void =>
    talk.replaceChildren(
      div(...nodes([description(said), threads(said, at, look)])),
      facts(project, request, said, 'merge_requests', [
        ['Reviewers', request.reviewers.length > 0 && request.reviewers.map(person)],
      ]),
    )
  const look = async (): Promise<void> => {
    const [request, said] = await Promise.all([read<MergeRequest>(at), readTalk(), follow()])
    drawTalk(request, said)
  }

  const said = await readTalk()
  const mayChange = said.userPermissions.change
  drawTalk(shown, said)
  await follow()
  return [state, talk, await commentForm(said, at, look)]
})

function byline(
  { state, author, created_at, source_branch: source, target_branch: target }: MergeRequest,
  project: string,
): Child {
  const branch = (name: string): Child =>
    a({ href: address`/${slashed(project)}/-/commits/${slashed(name)}` }, code(name))
  return p(
    { className: 'byline' },
    status(state),
    ' ',
    author === null ? 'Somebody' : person(author),
    ' asks to bring ',
    branch(source),
    ' into ',
    branch(target),
    ' ',
    ago(created_at),
  )
}

/** Whether it is merged, or what keeps it from that. */
function mergingWords(request: MergeRequest): Child {
  const { state, merge_user: by, merged_at: at } = request
  if (state === 'merged') return ['Merged', by && [' by ', person(by)], at !== null && [' ', ago(at)], '.']
  if (state === 'closed') return 'Closed without being merged.'
  if (request.merge_when_pipeline_succeeds) return 'It will be merged once nothing is in the way any more.'
  return mergeStatus(request.detailed_merge_status)
}

function approvedBy({ approved_by: by, approvals_left: left }: Approvals): Child {
  if (by.length === 0 && left === 0) return null
  return p(
    by.length > 0 && ['Approved by ', by.map(({ user }, index) => [index > 0 && ', ', person(user)]), '. '],
    left > 0 && `${left} more ${left === 1 ? 'approval is' : 'approvals are'} needed.`,
  )
}
