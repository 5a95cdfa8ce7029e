import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { mountChatNames } from './pages.ts'
import { replyToChats, type ReplyServices } from './replies.ts'
import { chatEndpoints } from './routes.ts'
import type { SlashServices } from './slash.ts'

/** Commands that people give in chats, who have said who of ours they are. */
export function chatApp(services: SlashServices & ReplyServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
} {
  replyToChats(services)
  return {
    endpoints: chatEndpoints(services),
    mount: (server) => mountChatNames(server, services),
  }
}
