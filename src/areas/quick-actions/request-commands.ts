import { may, userOf } from '../../access/index.ts'
import { Undoable } from './context.ts'
import type { CommandTable } from './table.ts'

const on = ['MergeRequest'] as const
const draft = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i

/** Of merge requests alone. */
export const requestCommands: CommandTable = {
  approve: { on, run: (context) => context.act('approve', {}, { summary: 'Approved this merge request.' }) },
  unapprove: {
    on,
    run: (context) => context.act('unapprove', {}, { summary: 'Unapproved this merge request.' }),
  },
  draft: {
    on,
    async run(context) {
      const title = (await context.shown())['title'] as string
      return draft.test(title)
        ? undefined
        : context.change(
            { title: `Draft: ${title}` },
            { summary: 'Marked this merge request as a draft.', changes: { wip_event: 'draft' } },
          )
    },
  },
  ready: {
    on,
    async run(context) {
      const title = (await context.shown())['title'] as string
      return draft.test(title)
        ? context.change(
            { title: title.replace(draft, '') },
            { summary: 'Marked this merge request as ready.', changes: { wip_event: 'ready' } },
          )
        : undefined
    },
  },
  target_branch: {
    on,
    run: async (context, target_branch) =>
      target_branch === ''
        ? undefined
        : context.change(
            { target_branch },
            { summary: `Set the target branch to ${target_branch}.`, changes: { target_branch } },
          ),
  },
  /** What its author has looked at is what is merged. */
  merge: {
    on,
    async run(context) {
      const sha = context.target.head
      if (context.done.has('rebase')) return undefined
      if (sha === undefined)
        throw new Undoable('The `/merge` quick action requires the SHA of the head of the branch.')
      const changes = { merge: sha }
      const now = await context.call('PUT', `${context.path}/merge`, { sha })
      if (now !== undefined) return { summary: 'Merged this merge request.', changes }
      const later = await context.call('PUT', `${context.path}/merge`, { sha, auto_merge: true })
      return later && { summary: 'Scheduled to merge this merge request when all checks pass.', changes }
    },
  },
  rebase: {
    on,
    async run(context) {
      const begun = await context.call('PUT', `${context.path}/rebase`, {})
      return begun && { summary: 'Scheduled a rebase of the branch.', changes: { rebase: true } }
    },
  },
  submit_review: {
    on,
    async run(context, argument) {
      const state = argument === 'requested_changes' ? { reviewer_state: argument } : {}
      const published = await context.call('POST', `${context.path}/draft_notes/bulk_publish`, state)
      if (published === undefined) return undefined
      if (argument === 'approve') await context.call('POST', `${context.path}/approve`, {})
      return { summary: 'Submitted the current review.' }
    },
  },
  /** Drafts stay drafts: it is no review, only what comes of one. */
  request_changes: {
    on,
    async run({ target, services }) {
      const { actor, place, id } = target
      if (id === null || place.kind !== 'project' || !may(actor, 'update_merge_request', place))
        return undefined
      const payload = { mergeRequestId: id, noteIds: [], state: 'requested_changes' }
      await services.db.transaction((tx) =>
        services.events.announce(tx, 'review', { projectId: place.id, userId: userOf(actor).id, payload }),
      )
      return { summary: 'Requested changes to this merge request.' }
    },
  },
}
