import type { Cipher } from '../../../kernel/lib/secrets.ts'
import { openIntegration } from '../hook.ts'
import { markdown, marked, type Style } from './styles.ts'

/** The integrations by which people give commands in a chat. */
export const slashCommands = ['slack_slash_commands', 'mattermost_slash_commands'] as const
export type SlashCommands = (typeof slashCommands)[number]

/** How each kind of chat wants its text. */
export const chatStyles: Readonly<Record<'slack' | 'mattermost', Style>> = {
  slack: marked,
  mattermost: markdown,
}

/** What a chat shows to give commands; `properties` are those of its integration, sealed. */
export function slashCommandsToken(properties: string, cipher: Cipher): string | undefined {
  return openIntegration({ integration: 'slash commands', properties }, cipher)?.properties.token
}
