import { copyToEpic, markAsDuplicate } from '../issues/index.ts'
import type { CommandContext, Done } from './context.ts'
import { dayOf } from './dates.ts'
import type { CommandTable } from './table.ts'

const on = ['Issue'] as const

const copying =
  (verb: 'move' | 'clone') =>
  async (context: CommandContext, argument: string): Promise<Done | undefined> => {
    const withNotes = /\s--with_notes$/.test(argument)
    const path = argument.replace(/\s--with_notes$/, '').trim()
    const own = verb === 'clone' && path === '' ? String(context.target.place.id) : path
    const project = own === '' ? undefined : await context.call('GET', `/projects/${encodeURIComponent(own)}`)
    if (project === undefined) return undefined
    const fields = {
      to_project_id: project['id'] as number,
      ...(verb === 'clone' && { with_notes: withNotes }),
    }
    const full = project['path_with_namespace'] as string
    return context.act(verb, fields, {
      summary: verb === 'move' ? `Moved this issue to ${full}.` : `Cloned this issue to ${full}.`,
      ...(verb === 'clone' && { changes: { clone_with_notes: withNotes } }),
    })
  }

const linking =
  (link_type: 'relates_to' | 'blocks' | 'is_blocked_by') =>
  async (context: CommandContext, argument: string): Promise<Done | undefined> => {
    const linked: string[] = []
    for (const reference of argument.split(/[\s,]+/).filter((one) => one !== '')) {
      const other = await context.referred(reference, '#')
      if (other === undefined) continue
      const { shown, iid } = other
      const fields = { target_project_id: String(shown['project_id']), target_issue_iid: iid, link_type }
      if ((await context.call('POST', `${context.path}/links`, fields)) !== undefined) linked.push(reference)
    }
    const words = { relates_to: 'related to', blocks: 'blocking', is_blocked_by: 'blocked by' }
    return linked.length === 0
      ? undefined
      : { summary: `Marked this issue as ${words[link_type]} ${linked.join(', ')}.` }
  }

const healths = ['on_track', 'needs_attention', 'at_risk']

/** Of issues alone. */
export const issueCommands: CommandTable = {
  due: {
    on,
    aliases: ['due_date'],
    async run(context, argument) {
      const due_date = dayOf(argument)
      return due_date === undefined
        ? undefined
        : context.change({ due_date }, { summary: `Set the due date to ${due_date}.`, changes: { due_date } })
    },
  },
  remove_due_date: {
    on,
    run: (context) =>
      context.clear(
        'due_date',
        { due_date: null },
        { summary: 'Removed the due date.', changes: { due_date: null } },
      ),
  },
  duplicate: {
    on,
    async run(context, argument) {
      const other = await context.referred(argument, '#')
      if (other === undefined || other.shown['id'] === context.target.id) return undefined
      const closed = await context.call('PUT', context.path, { state_event: 'close' })
      if (closed === undefined) return undefined
      const fields = { target_project_id: String(other.shown['project_id']), target_issue_iid: other.iid }
      await context.call('POST', `${context.path}/links`, fields)
      const [id, of] = [context.target.id!, other.shown['id'] as number]
      await context.write((tx, userId) => markAsDuplicate(tx, userId, { id, of }))
      return {
        summary: `Closed this issue. Marked as related to, and a duplicate of, ${argument}.`,
        changes: { state_event: 'close', canonical_issue_id: of },
      }
    },
  },
  move: { on, run: copying('move') },
  clone: { on, run: copying('clone') },
  relate: { on, aliases: ['link'], run: linking('relates_to') },
  blocks: { on, run: linking('blocks') },
  blocked_by: { on, run: linking('is_blocked_by') },
  unlink: {
    on,
    async run(context, argument) {
      const other = await context.referred(argument, '#')
      const links = (await context.call('GET', `${context.path}/links?per_page=100`)) as
        { id: number; issue_link_id: number }[] | undefined
      const link = links?.find(({ id }) => id === other?.shown['id'])
      if (link === undefined) return undefined
      const gone = await context.call('DELETE', `${context.path}/links/${link.issue_link_id}`)
      return gone && { summary: `Removed the link with ${argument}.` }
    },
  },
  create_merge_request: {
    on,
    async run(context, argument) {
      const issue = await context.shown()
      const title = issue['title'] as string
      const slug = title
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '')
        .slice(0, 60)
      const branch = argument === '' ? `${context.iid}-${slug}` : argument
      const project = await context.call('GET', context.placePath)
      const ref = project?.['default_branch'] as string | undefined
      if (ref === undefined) return undefined
      const made = await context.call('POST', `${context.placePath}/repository/branches`, { branch, ref })
      if (made === undefined) return undefined
      await context.tell('branch', `created branch [\`${branch}\`](${made['web_url']}) to address this issue`)
      const request = await context.call('POST', `${context.placePath}/merge_requests`, {
        source_branch: branch,
        target_branch: ref,
        title: `Draft: Resolve "${title}"`,
        description: `Closes #${context.iid}`,
      })
      if (request === undefined) return undefined
      const name = `!${request['iid'] as number}`
      await context.tell('merge', `created merge request ${name} to address this issue`, {
        kind: 'MergeRequest',
        id: request['id'] as number,
      })
      return {
        summary: `Created branch '${branch}' and merge request ${name} to resolve this issue.`,
        changes: { create_merge_request: { branch_name: branch, issue_iid: context.iid } },
      }
    },
  },
  weight: {
    on,
    async run(context, argument) {
      if (!/^\d{1,9}$/.test(argument)) return undefined
      const weight = Number(argument)
      return context.change({ weight }, { summary: `Set the weight to ${weight}.`, changes: { weight } })
    },
  },
  clear_weight: {
    on,
    run: (context) =>
      context.clear(
        'weight',
        { weight: null },
        { summary: 'Cleared the weight.', changes: { weight: null } },
      ),
  },
  health_status: {
    on,
    async run(context, health_status) {
      if (!healths.includes(health_status)) return undefined
      const words = health_status.replaceAll('_', ' ')
      return context.change(
        { health_status },
        { summary: `Set the health status to ${words}.`, changes: { health_status } },
      )
    },
  },
  clear_health_status: {
    on,
    run: (context) =>
      context.clear(
        'health_status',
        { health_status: null },
        { summary: 'Cleared the health status.', changes: { health_status: null } },
      ),
  },
  epic: {
    on,
    async run(context, argument) {
      const epic = await context.referred(argument, '&')
      return (
        epic &&
        context.change(
          { epic_id: epic.shown['id'] as number },
          { summary: `Added this issue to epic ${argument}.` },
        )
      )
    },
  },
  remove_epic: {
    on,
    run: (context) => context.clear('epic', { epic_id: 0 }, { summary: 'Removed this issue from its epic.' }),
  },
  promote: {
    on,
    async run(context) {
      const { place } = context.target
      const issue = await context.shown()
      if (issue['state'] !== 'opened' || place.kind !== 'project' || place.namespaceKind !== 'group')
        return undefined
      const epic = await context.call('POST', `/groups/${place.namespaceId}/epics`, {
        title: issue['title'] as string,
        description: (issue['description'] as string | null) ?? '',
        confidential: issue['confidential'] as boolean,
        parent_id: (issue['epic'] as { id: number } | null)?.id,
      })
      if (epic === undefined) return undefined
      const made = { id: epic['id'] as number, iid: epic['iid'] as number }
      const of = { id: context.target.id!, iid: context.iid }
      await context.write((tx, userId) => copyToEpic(tx, userId, { issue: of, epic: made, project: place }))
      return context.change(
        { state_event: 'close' },
        {
          summary: `Promoted this issue to epic &${made.iid}.`,
          changes: { promote_to_epic: true },
        },
      )
    },
  },
}
