import { setSubscription } from '../noteables/index.ts'
import { emojiNamed, toggleAward } from '../notes/index.ts'
import { finishTodos } from '../todos/index.ts'
import type { CommandContext, Done } from './context.ts'
import { Undoable } from './context.ts'
import type { CommandTable } from './table.ts'

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`
const named = (people: readonly { readonly username: string }[]): string =>
  listed(people.map(({ username }) => `@${username}`))
const labelled = (labels: readonly { readonly title: string }[]): string =>
  labels.map(({ title }) => (/\s/.test(title) ? `~"${title}"` : `~${title}`)).join(' ')
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const state =
  (event: 'close' | 'reopen') =>
  async (on: CommandContext): Promise<Done | undefined> => {
    const from = event === 'close' ? 'opened' : 'closed'
    if ((await on.shown())['state'] !== from) return undefined
    const summary = event === 'close' ? `Closed this ${on.noun}.` : `Reopened this ${on.noun}.`
    return on.change({ state_event: event }, { summary, changes: { state_event: event } })
  }

type Role = 'assignee' | 'reviewer'
const most = 200

/** Adds people to those who are there, takes some or all away, or puts others in their place. */
const people =
  (role: Role, how: 'add' | 'remove' | 'set') =>
  async (on: CommandContext, argument: string): Promise<Done | undefined> => {
    const chosen = await on.people(argument)
    if (chosen.length === 0 && (how !== 'remove' || argument !== '')) return undefined
    const before = ((await on.shown())[`${role}s`] as { id: number; username: string }[] | undefined) ?? []
    const ids = before.map(({ id }) => id)
    const given = chosen.map(({ id }) => id)
    const wanted =
      how === 'set'
        ? given
        : how === 'add'
          ? [...new Set([...ids, ...given])]
          : ids.filter((id) => given.length > 0 && !given.includes(id))
    if (wanted.length > most)
      throw new Undoable(`${capital(role)}s total must be less than or equal to ${most}`)
    if (wanted.toSorted().join() === ids.toSorted().join()) return undefined
    const who = named(chosen.length > 0 ? chosen : before)
    const verbs = {
      assignee: {
        add: `Assigned ${who}.`,
        remove: `Removed assignee ${who}.`,
        set: `Changed assignee to ${who}.`,
      },
      reviewer: {
        add: `Requested a review from ${who}.`,
        remove: `Removed reviewer ${who}.`,
        set: `Changed reviewer to ${who}.`,
      },
    }
    const field = `${role}_ids`
    return on.change(
      { [field]: wanted.length === 0 ? [0] : wanted },
      { summary: verbs[role][how], changes: { [field]: wanted } },
    )
  }

const flag =
  (name: 'confidential' | 'discussion_locked', value: boolean, summary: string) =>
  async (on: CommandContext): Promise<Done | undefined> =>
    ((await on.shown())[name] ?? false) === value
      ? undefined
      : on.change({ [name]: value }, { summary, changes: { [name]: value } })

const planned = ['Issue', 'MergeRequest'] as const
const all = ['Issue', 'MergeRequest', 'Epic'] as const

/** Of issues, merge requests and epics alike. */
export const sharedCommands: CommandTable = {
  close: { on: all, run: state('close') },
  reopen: { on: all, run: state('reopen') },
  title: {
    on: all,
    run: async (on, title) =>
      title === ''
        ? undefined
        : on.change({ title }, { summary: `Changed the title to "${title}".`, changes: { title } }),
  },

  assign: { on: planned, run: people('assignee', 'add') },
  unassign: { on: planned, aliases: ['remove_assignee'], run: people('assignee', 'remove') },
  reassign: { on: planned, run: people('assignee', 'set') },
  assign_reviewer: {
    on: ['MergeRequest'],
    aliases: ['reviewer', 'request_review'],
    run: people('reviewer', 'add'),
  },
  unassign_reviewer: {
    on: ['MergeRequest'],
    aliases: ['remove_reviewer'],
    run: people('reviewer', 'remove'),
  },
  reassign_reviewer: { on: ['MergeRequest'], run: people('reviewer', 'set') },

  label: {
    on: all,
    aliases: ['labels'],
    async run(on, argument) {
      const labels = await on.labels(argument)
      if (labels.length === 0) return undefined
      return on.change(
        { add_labels: labels.map(({ title }) => title) },
        { summary: `Added ${labelled(labels)}.`, changes: { add_label_ids: labels.map(({ id }) => id) } },
      )
    },
  },
  unlabel: {
    on: all,
    aliases: ['remove_label', 'remove_labels'],
    async run(on, argument) {
      if (argument === '')
        return on.clear(
          'labels',
          { labels: '' },
          { summary: 'Removed all labels.', changes: { label_ids: [] } },
        )
      const labels = await on.labels(argument)
      if (labels.length === 0) return undefined
      return on.change(
        { remove_labels: labels.map(({ title }) => title) },
        {
          summary: `Removed ${labelled(labels)}.`,
          changes: { remove_label_ids: labels.map(({ id }) => id) },
        },
      )
    },
  },
  relabel: {
    on: all,
    async run(on, argument) {
      const labels = await on.labels(argument)
      if (labels.length === 0) return undefined
      return on.change(
        { labels: labels.map(({ title }) => title) },
        {
          summary: `Replaced all labels with ${labelled(labels)}.`,
          changes: { label_ids: labels.map(({ id }) => id) },
        },
      )
    },
  },
  milestone: {
    on: planned,
    async run(on, argument) {
      const milestone = await on.milestone(argument)
      if (milestone === undefined) return undefined
      const changes = { milestone_id: milestone.id }
      return on.change(changes, { summary: `Set the milestone to %"${milestone.title}".`, changes })
    },
  },
  remove_milestone: {
    on: planned,
    run: (on) =>
      on.clear(
        'milestone',
        { milestone_id: 0 },
        { summary: 'Removed the milestone.', changes: { milestone_id: null } },
      ),
  },
  lock: { on: planned, run: flag('discussion_locked', true, 'Locked the discussion.') },
  unlock: { on: planned, run: flag('discussion_locked', false, 'Unlocked the discussion.') },
  confidential: { on: ['Issue', 'Epic'], run: flag('confidential', true, 'Made this confidential.') },

  todo: {
    on: all,
    run: (on) => on.act('todo', {}, { summary: 'Added a to-do.', changes: { todo_event: 'add' } }),
  },
  done: {
    on: all,
    async run({ services, target }) {
      const on = { kind: target.kind, id: target.id }
      const ended = await services.db.transaction((tx) => finishTodos(tx, on, [target.actor.user!.id]))
      return ended === 0
        ? undefined
        : { summary: 'Marked the to-do as done.', changes: { todo_event: 'done' } }
    },
  },
  subscribe: { on: all, run: (on) => subscription(on, true) },
  unsubscribe: { on: all, run: (on) => subscription(on, false) },
  award: {
    on: all,
    aliases: ['react'],
    async run({ services, target }, argument) {
      if (target.kind === 'Commit' || target.id === null) return undefined
      const { kind, id, place } = target
      const name = emojiNamed(argument)
      const projectId = place.kind === 'project' ? place.id : null
      await services.db.transaction((tx) =>
        toggleAward(services, tx, { kind, id, projectId }, { userId: target.actor.user!.id, name }),
      )
      return { summary: `Toggled the :${name}: reaction.`, changes: { emoji_award: name } }
    },
  },
  copy_metadata: {
    on: planned,
    async run(on, argument) {
      const other = (await on.referred(argument, '#')) ?? (await on.referred(argument, '!'))
      if (other === undefined) return undefined
      const titles = other.shown['labels'] as string[]
      const milestone = other.shown['milestone'] as { id: number } | null
      const labels = await on.labels(titles.map((title) => `~"${title}"`).join(' '))
      return on.change(
        { add_labels: titles, ...(milestone !== null && { milestone_id: milestone.id }) },
        {
          summary: `Copied labels and milestone from ${argument}.`,
          changes: {
            add_label_ids: labels.map(({ id }) => id),
            ...(milestone !== null && { milestone_id: milestone.id }),
          },
        },
      )
    },
  },
  tag: {
    on: ['Commit'],
    async run(on, argument) {
      const [, tag_name, message = ''] = /^(\S+)(?:\s+(.*))?$/.exec(argument) ?? []
      if (tag_name === undefined) return undefined
      const made = await on.call('POST', `${on.placePath}/repository/tags`, {
        tag_name,
        ref: on.target.sha,
        ...(message !== '' && { message }),
      })
      if (made === undefined) return undefined
      const project = `${on.services.externalUrl()}/${on.target.place.fullPath}`
      const address = `${project}/-/tags/${encodeURIComponent(tag_name)}`
      await on.tell('tag', `tagged commit ${on.target.sha} to [\`${tag_name}\`](${address})`)
      return { summary: `Tagged this commit to ${tag_name}.`, changes: { tag_name, tag_message: message } }
    },
  },
  shrug: { on: all, says: '¯\\_(ツ)_/¯' },
  tableflip: { on: all, says: '(╯°□°)╯︵ ┻━┻' },
}

async function subscription(
  { services, target }: CommandContext,
  wanted: boolean,
): Promise<Done | undefined> {
  const { kind, id } = target
  if (kind === 'Commit' || kind === 'Snippet' || id === null) return undefined
  await services.db.transaction((tx) =>
    setSubscription(tx, { type: kind, id }, target.actor.user!.id, wanted),
  )
  return wanted
    ? { summary: 'Subscribed to notifications.', changes: { subscription_event: 'subscribe' } }
    : { summary: 'Unsubscribed from notifications.', changes: { subscription_event: 'unsubscribe' } }
}
