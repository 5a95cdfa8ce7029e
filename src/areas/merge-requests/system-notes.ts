import type { Tx } from '../../kernel/db/index.ts'
import { escapeHtml } from '../../kernel/lib/html.ts'
import { tell, toldOfPeople, toldOfTexts, type Told } from '../issues/index.ts'
import { listCommits, type Commit, type Oid, type Repository } from '../../git/index.ts'
import type { MergeRequestRow } from './rows.ts'
import { isDraft, titleAs } from './rules.ts'

type Request = Pick<MergeRequestRow, 'id' | 'project_id'>

/** Writes down on a request what became of it; of labels, states and milestones there are records of another kind. */
export async function tellOf(
  tx: Tx,
  { id, project_id: projectId }: Request,
  authorId: number | null,
  told: readonly Told[],
): Promise<void> {
  await tell(tx, { kind: 'MergeRequest', id, projectId, namespaceId: null }, authorId, told)
}

interface Texts {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly target_branch?: string | undefined
  readonly discussion_locked?: boolean | null | undefined
}

/** What an update of its columns tells. Who only makes a draft of it, or ends that, has not called it something else. */
export function toldOfUpdate(before: MergeRequestRow, now: Texts): Told[] {
  const told: Told[] = []
  const { title, description, target_branch: target, discussion_locked: locked } = now
  const wasDraft = isDraft(before.title)
  if (title !== undefined && isDraft(title) !== wasDraft) {
    told.push({ action: 'title', body: `marked this merge request as **${wasDraft ? 'ready' : 'draft'}**` })
  }
  const titles = { before: titleAs(before.title, false), now: titleAs(title ?? before.title, false) }
  told.push(
    ...toldOfTexts(
      { title: titles.before, description: before.description },
      {
        ...(titles.now !== titles.before && { title: titles.now }),
        ...(description !== before.description && { description }),
      },
      'merge request',
    ),
  )
  if (target !== undefined && target !== before.target_branch) {
    told.push({
      action: 'branch',
      body: `changed target branch from \`${before.target_branch}\` to \`${target}\``,
    })
  }
  if (locked !== undefined && (locked ?? false) !== (before.discussion_locked ?? false)) {
    told.push(
      locked === true
        ? { action: 'locked', body: 'locked the discussion in this merge request' }
        : { action: 'unlocked', body: 'unlocked the discussion in this merge request' },
    )
  }
  return told
}

const peopleWords = {
  assignees: { action: 'assignee', come: 'assigned to', gone: 'unassigned' },
  reviewers: { action: 'reviewer', come: 'requested review from', gone: 'removed review request for' },
} as const

/** `requested review from @ida and removed review request for @otto` */
export function toldOfLists(
  tx: Tx,
  list: keyof typeof peopleWords,
  change: { readonly was: readonly number[]; readonly now: readonly number[] },
): Promise<Told[]> {
  return toldOfPeople(tx, change, peopleWords[list])
}

/** As many commits are named. */
const mostCommits = 100

/** Commits that a push brought to the source and that neither it nor the target had, newest first. */
export function broughtCommits(
  repository: Repository,
  head: Oid,
  before: readonly Oid[],
): Promise<readonly Commit[]> {
  return listCommits(repository, { revs: [head], not: [...before], limit: mostCommits })
}

/** `added 2 commits`, and which; `compareUrl`: where they stand beside the version before. */
export function toldOfPush(commits: readonly Commit[], compareUrl: string): Told[] {
  if (commits.length === 0) return []
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`
  const lines = commits.map(
    ({ oid, message }) => `<li>${oid.slice(0, 8)} - ${escapeHtml(subjectOf(message))}</li>`,
  )
  const body = `added ${count}\n\n<ul>${lines.join('')}</ul>\n\n[Compare with previous version](${compareUrl})`
  return [{ action: 'commit', body }]
}

function subjectOf(message: string): string {
  return message.trimStart().split('\n', 1)[0]!.slice(0, 255)
}

export const told = {
  approved: { action: 'approved', body: 'approved this merge request' },
  unapproved: { action: 'unapproved', body: 'unapproved this merge request' },
  requestedChanges: { action: 'requested_changes', body: 'requested changes' },
  mergeCanceled: { action: 'merge', body: 'canceled the automatic merge' },
  mergeAborted: { action: 'merge', body: 'aborted the automatic merge because source branch was updated' },
} as const satisfies Record<string, Told>

export function toldOfAutoMerge(sha: string): Told {
  return { action: 'merge', body: `enabled an automatic merge when all merge checks for ${sha} pass` }
}

/** The source branch has gone, or is there again. */
export function toldOfSource(branch: string, gone: boolean): Told {
  return { action: 'branch', body: `${gone ? 'deleted' : 'restored'} source branch \`${branch}\`` }
}

/** The target branch has gone into another one, which the request is aimed at now. */
export function toldOfMergedTarget(gone: string, now: string): Told {
  return {
    action: 'branch',
    body: `deleted the \`${gone}\` branch. This merge request now targets the \`${now}\` branch`,
  }
}
