import { isSameSecret, type Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import {
  chatStyles,
  isIntegrationAllowed,
  slashCommandsToken,
  type SlashCommands,
  type Style,
} from '../webhooks/index.ts'
import { parseCommand, splitPlace } from './commands/parse.ts'
import { help, runCommand, type CommandServices } from './commands/run.ts'
import { toOne, type Said } from './commands/said.ts'
import { invitationAddress } from './invitations.ts'
import { keepAddress } from './replies.ts'
import * as store from './store.ts'

export interface SlashServices extends CommandServices {
  readonly cipher: Cipher
  readonly settings: Settings
}

/** What a chat sends of a command, as far as it counts here. */
export interface Slash {
  readonly token?: string
  readonly command?: string
  readonly text?: string
  readonly team_id?: string
  readonly team_domain?: string
  readonly channel_name?: string
  readonly user_id?: string
  readonly user_name?: string
  readonly response_url?: string
}

const longestCommand = 255

/** A command to the chat app, whose text begins with a project; undefined where the chat does not know the secret. */
export async function answerApp(
  services: SlashServices,
  slash: Slash,
  ip: string,
): Promise<Said | undefined> {
  const { db, settings } = services
  const secret = settings.values.chat_app_verification_token
  if (!isSameSecret(slash.token ?? '', secret ?? '')) return undefined
  const { place, rest } = splitPlace(slash.text ?? '')
  const command = calledAs(slash)
  const style = chatStyles.slack
  if (place === 'help' || place === '') return help({ called: `${command} <project>`, style })
  const projectId = await store.installedAt(db.reader, slash.team_id ?? '', place)
  if (projectId === undefined)
    return toOne(`The app is not installed for a project ${style.plain(place)} in this workspace.`)
  const asked = { projectId, called: `${command} ${place}`, text: rest, style, ip, vouching: null }
  return answer(services, slash, asked)
}

/** A command to the slash commands of a project; undefined where there are none, or the chat does not know the secret. */
export async function answerProject(
  services: SlashServices,
  integration: SlashCommands,
  project: string,
  slash: Slash,
  ip: string,
): Promise<Said | undefined> {
  const { db, cipher, settings } = services
  const found = isIntegrationAllowed(settings, integration)
    ? await store.slashCommandsOf(db.reader, project, integration)
    : undefined
  const secret = found && slashCommandsToken(found.properties, cipher)
  if (found === undefined || !isSameSecret(slash.token ?? '', secret ?? '')) return undefined
  const style = integration === 'slack_slash_commands' ? chatStyles.slack : chatStyles.mattermost
  const { projectId } = found
  const called = calledAs(slash)
  return answer(services, slash, {
    projectId,
    called,
    text: slash.text ?? '',
    style,
    ip,
    vouching: projectId,
  })
}

interface AskedText {
  readonly projectId: number
  readonly called: string
  readonly text: string
  readonly style: Style
  readonly ip: string
  /** Whose word it is that the person is he: a project's, which counts there only, or the app's. */
  readonly vouching: number | null
}

async function answer(services: SlashServices, slash: Slash, asked: AskedText): Promise<Said> {
  const { db, cipher, externalUrl } = services
  const { called, style, text, projectId, ip, vouching } = asked
  const { team_id: teamId = '', user_id: chatId = '' } = slash
  if (teamId === '' || chatId === '') return toOne('The chat does not say who gave the command.')
  const person = { teamId, chatId, projectId: vouching }
  const userId = await store.userOf(db.reader, person)
  if (userId === undefined) {
    const address = invitationAddress(cipher, externalUrl(), {
      ...person,
      teamDomain: slash.team_domain ?? null,
      chatName: slash.user_name ?? null,
    })
    return toOne(`Nobody knows yet who you are: ${style.link(address, 'connect your account')} first.`)
  }
  const command = parseCommand(text)
  if (command === undefined) return help({ called, style })
  return runCommand(
    services,
    {
      ...{ userId, projectId, ip, style, called },
      chat: { channel: slash.channel_name ?? '', userId: chatId },
      expect: (pipelineId) => keepAddress(services, pipelineId, slash.response_url),
    },
    command,
  )
}

function calledAs({ command }: Slash): string {
  return command === undefined || command === '' ? '/gitlab' : command.slice(0, longestCommand)
}
