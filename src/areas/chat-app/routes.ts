import { endpoint, instance } from '../../access/index.ts'
import { Answer, Fields, Json, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { badRequest, notFound, tooLarge, unauthorized } from '../../kernel/errors/index.ts'
import { jsonIn, readSmall } from '../../kernel/lib/small-body.ts'
import { slashCommands } from '../webhooks/index.ts'
import { isSigned } from './signatures.ts'
import { answerApp, answerProject, type SlashServices } from './slash.ts'

/** Bytes of what the platform sends; it sends some thousand. */
const largest = 1_000_000

const word = () => Optional(Text())
/** What a chat sends of a slash command. */
const slash = {
  command: word(),
  text: word(),
  team_id: word(),
  team_domain: word(),
  channel_id: word(),
  channel_name: word(),
  user_id: word(),
  user_name: word(),
  response_url: Optional(Text({ description: 'Where the chat hears later what a job said' })),
  trigger_id: word(),
}
const Said = Fields({
  response_type: Text({ description: '`in_channel`: for all in the channel; `ephemeral`: for who asked' }),
  text: Text(),
})

/** What chats call. They show secrets that they share with us; what they ask for is done as one of our users. */
export function chatEndpoints(services: SlashServices): Endpoint[] {
  const about = { on: instance, may: 'use_instance', anonymous: true, method: 'POST' } as const
  return [
    endpoint({
      ...about,
      path: '/slack/trigger',
      switchedBy: 'chat_app_enabled',
      summary: 'Run a slash command of the chat app',
      description:
        'For the chat platform. The command runs as the user whom the person of the chat is linked to.',
      params: Fields({ token: Text({ description: 'The setting `chat_app_verification_token`' }), ...slash }),
      answers: Said,
      status: 200,
      refuses: { 404: 'The chat app is off, or the token is another one' },
      async handle({ params, request }) {
        const said = await answerApp(services, params, request.ip)
        if (said === undefined) throw notFound()
        return said
      },
    }),
    ...slashCommands.flatMap((integration) =>
      ['integrations', 'services'].map((noun) =>
        endpoint({
          ...about,
          path: `/projects/:id/${noun}/${integration.replaceAll('_', '-')}/trigger`,
          summary: `Run a slash command of the ${integration.startsWith('slack') ? 'Slack' : 'Mattermost'} integration of a project`,
          description: 'For the chat. The command runs as the user whom the person of the chat is linked to.',
          params: Fields({
            id: Text({ description: 'ID or path of the project' }),
            token: Text({ description: 'As the integration has it' }),
            ...slash,
          }),
          answers: Said,
          status: 200,
          refuses: { 404: 'There is no such integration there, or its token is another one' },
          async handle({ params, request }) {
            const said = await answerProject(services, integration, params.id, params, request.ip)
            if (said === undefined) throw notFound('Integration')
            return said
          },
        }),
      ),
    ),
    ...(['events', 'interactions', 'options'] as const).map((what) =>
      endpoint({
        ...about,
        path: `/integrations/slack/${what}`,
        switchedBy: 'chat_app_enabled',
        summary: `Take ${what} of the chat app`,
        description: 'For the chat platform, which signs what it sends.',
        body: 'stream',
        answers: Json({ description: 'What the platform wants to read' }),
        status: 200,
        refuses: { 401: 'It is not signed, or not just now', 404: 'The chat app is off' },
        async handle({ request }) {
          const body = await readSmall(request.body, largest)
          if (body === undefined) throw tooLarge()
          const secret = services.settings.values.chat_app_signing_secret
          if (!isSigned(request.headers, body, secret)) throw unauthorized()
          return new Answer(
            200,
            { 'content-type': 'application/json' },
            JSON.stringify(answers[what](body.toString('utf8'))),
          )
        },
      }),
    ),
  ]
}

/** The app shows nothing that could be acted on or chosen from, so of these the platform only hears that they came. */
const answers = {
  events(text: string): object {
    const { type, challenge } = jsonOf(text)
    return type === 'url_verification' && typeof challenge === 'string' ? { challenge } : {}
  },
  interactions(text: string): object {
    jsonOf(new URLSearchParams(text).get('payload') ?? '')
    return {}
  },
  options(text: string): object {
    jsonOf(new URLSearchParams(text).get('payload') ?? '')
    return { options: [] }
  },
} as const

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  const value = jsonIn(text)
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw badRequest('the body is not as the platform sends it')
}
