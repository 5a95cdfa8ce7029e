import type { SwitchedTrigger } from '../triggers.ts'
import { html, markdown, marked, type Style } from './styles.ts'

/** What integrations are told of; the API switches each by `<name>_events`. */
export const toldOf = [
  'push',
  'issues',
  'confidential_issues',
  'merge_requests',
  'tag_push',
  'note',
  'confidential_note',
  'pipeline',
  'wiki_page',
  'deployment',
] as const satisfies readonly SwitchedTrigger[]
export type ToldOf = (typeof toldOf)[number]

/** What a new one is told of unless said otherwise: nothing confidential. */
export const usual: readonly ToldOf[] = ['push', 'issues', 'merge_requests', 'tag_push', 'note', 'wiki_page']

/** The channel that hears of these instead of the usual one. */
export const channels: Readonly<Record<ToldOf, ChannelField>> = {
  push: 'push_channel',
  issues: 'issue_channel',
  confidential_issues: 'confidential_issue_channel',
  merge_requests: 'merge_request_channel',
  tag_push: 'tag_push_channel',
  note: 'note_channel',
  confidential_note: 'confidential_note_channel',
  pipeline: 'pipeline_channel',
  wiki_page: 'wiki_page_channel',
  deployment: 'deployment_channel',
}

type ChannelField =
  | 'push_channel'
  | 'issue_channel'
  | 'confidential_issue_channel'
  | 'merge_request_channel'
  | 'tag_push_channel'
  | 'note_channel'
  | 'confidential_note_channel'
  | 'pipeline_channel'
  | 'wiki_page_channel'
  | 'deployment_channel'

export const branchChoices = ['all', 'default', 'protected', 'default_and_protected'] as const
export const labelChoices = ['match_any', 'match_all'] as const

/** What integrations are set by; each has some of it. */
export interface Properties extends Partial<Readonly<Record<ChannelField, string>>> {
  readonly webhook?: string
  readonly username?: string
  readonly channel?: string
  readonly hostname?: string
  readonly token?: string
  readonly room?: string
  readonly thread?: number
  readonly notify_only_broken_pipelines?: boolean
  readonly branches_to_be_notified?: (typeof branchChoices)[number]
  readonly labels_to_be_notified?: string
  readonly labels_to_be_notified_behavior?: (typeof labelChoices)[number]
}
export type Property = keyof Properties

/** Never shown again: who knows them writes in the chat. */
export const secrets: ReadonlySet<Property> = new Set(['webhook', 'token'])

export interface Message {
  readonly text: string
  readonly trigger: ToldOf
  /** Path of the project. */
  readonly of: string
}

export interface Integration {
  readonly title: string
  readonly needs: readonly Property[]
  readonly takes: readonly Property[]
  /** How the chat is told of things; undefined: it is not, and only asks. */
  readonly tells?: Telling
  /** There are none of groups. */
  readonly ofProjects?: true
}

export interface Telling {
  readonly style: Style
  /** Where its messages go; undefined: the chat app brings them to their channels. */
  readonly address?: (properties: Properties) => string
  readonly body: (message: Message, properties: Properties) => object
}

const filters: readonly Property[] = [
  'notify_only_broken_pipelines',
  'branches_to_be_notified',
  'labels_to_be_notified',
  'labels_to_be_notified_behavior',
]

function hooked(title: string, style: Style, body: Telling['body']): Integration {
  return {
    title,
    needs: ['webhook'],
    takes: ['webhook', ...filters],
    tells: { style, address: ({ webhook }) => webhook!, body },
  }
}

/** Commands that people give in a chat, which shows a token. */
function asking(title: string): Integration {
  return { title, needs: ['token'], takes: ['token'], ofProjects: true }
}

/** The integration of a project by which the chat app is there; it is installed, not set. */
export const appIntegration = 'gitlab_slack_application'

/** The channel, or several with commas between, that hear of this; undefined: none does. */
export function channelFor(properties: Properties, trigger: ToldOf): string | undefined {
  return properties[channels[trigger]] ?? properties.channel
}

/** Where a message says itself which channel it is for, and who speaks. */
function channelled(title: string, style: Style): Integration {
  const plain = hooked(title, style, ({ text, trigger }, properties) => {
    const { username } = properties
    const to = channelFor(properties, trigger)
    return { text, ...(username !== undefined && { username }), ...(to !== undefined && { channel: to }) }
  })
  return { ...plain, takes: [...plain.takes, 'username', 'channel', ...Object.values(channels)] }
}

/** By the name that the settings know: the API writes it with hyphens. */
export const integrations: Readonly<Record<string, Integration>> = {
  discord: hooked('Discord Notifications', markdown, ({ text }) => ({
    content: text.slice(0, 2000),
    allowed_mentions: { parse: [] },
  })),
  [appIntegration]: {
    title: 'GitLab for Slack app',
    needs: [],
    takes: ['channel', ...Object.values(channels), ...filters],
    tells: {
      style: marked,
      body: ({ text, trigger }, properties) => ({ text, channel: channelFor(properties, trigger) ?? '' }),
    },
    ofProjects: true,
  },
  hangouts_chat: hooked('Google Chat', marked, ({ text }) => ({ text })),
  mattermost: channelled('Mattermost notifications', markdown),
  mattermost_slash_commands: asking('Mattermost slash commands'),
  microsoft_teams: hooked('Microsoft Teams notifications', markdown, ({ text, of }) => ({
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    summary: of,
    text,
  })),
  pumble: hooked('Pumble', markdown, ({ text }) => ({ text })),
  slack: channelled('Slack notifications', marked),
  slack_slash_commands: asking('Slack slash commands'),
  telegram: {
    title: 'Telegram',
    needs: ['token', 'room'],
    takes: ['hostname', 'token', 'room', 'thread', ...filters],
    tells: {
      style: html,
      address: ({ hostname, token }) =>
        `${(hostname ?? 'https://api.telegram.org').replace(/\/+$/, '')}/bot${encodeURIComponent(token!).replaceAll('%3A', ':')}/sendMessage`,
      body: ({ text }, { room, thread }) => ({
        chat_id: room,
        ...(thread !== undefined && { message_thread_id: thread }),
        text,
        parse_mode: 'HTML',
      }),
    },
  },
  unify_circuit: hooked('Unify Circuit', markdown, ({ text, of }) => ({ subject: of, text, markdown: true })),
  webex_teams: hooked('Webex Teams', markdown, ({ text }) => ({ markdown: text })),
}

export const slugOf = (name: string): string => name.replaceAll('_', '-')
export const nameOf = (slug: string): string => slug.replaceAll('-', '_')
