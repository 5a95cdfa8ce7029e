import type { Style } from '../../webhooks/index.ts'

/** What the chat shows: to all in the channel, or to who asked. */
export interface Said {
  readonly response_type: 'ephemeral' | 'in_channel'
  readonly text: string
}

/** What a chat still shows well. */
const longest = 3000

export function toOne(text: string): Said {
  return { response_type: 'ephemeral', text: cut(text) }
}

export function toAll(text: string): Said {
  return { response_type: 'in_channel', text: cut(text) }
}

function cut(text: string): string {
  const whole = Array.from(text)
  return whole.length <= longest ? text : `${whole.slice(0, longest).join('')}…`
}

/** An issue as the API answers it. */
export interface ShownIssue {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly confidential: boolean
  readonly web_url: string
  readonly assignees: readonly { readonly name: string }[]
  readonly labels: readonly string[]
  readonly milestone: { readonly title: string } | null
}

/** Only who asked is shown what is confidential. */
export function ofIssue({ confidential }: ShownIssue, text: string): Said {
  return confidential ? toOne(text) : toAll(text)
}

export function linkOf({ iid, title, web_url: url }: ShownIssue, style: Style): string {
  return style.link(url, style.plain(`#${iid} ${title}`))
}

/** An issue in a few lines. */
export function linesOf(issue: ShownIssue, style: Style): string {
  const { description, state, assignees, labels, milestone } = issue
  const facts = [
    `State: ${state === 'opened' ? 'open' : state}`,
    ...(assignees.length > 0 ? [`Assignees: ${assignees.map(({ name }) => name).join(', ')}`] : []),
    ...(labels.length > 0 ? [`Labels: ${labels.join(', ')}`] : []),
    ...(milestone === null ? [] : [`Milestone: ${milestone.title}`]),
  ]
  const text = description?.trim() ?? ''
  return [linkOf(issue, style), ...facts.map(style.plain), ...(text === '' ? [] : [style.plain(text)])].join(
    '\n',
  )
}
