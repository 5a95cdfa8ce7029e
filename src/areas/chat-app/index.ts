import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Neighbour } from '../git-http/index.ts'
import { installNeighbour, type InstallServices } from './install.ts'
import { mountChatNames } from './pages.ts'
import { replyToChats, type ReplyServices } from './replies.ts'
import { chatEndpoints } from './routes.ts'
import type { SlashServices } from './slash.ts'

export { ChatPlatform } from './platform.ts'
export { sayingInChats } from './saying.ts'

/** Commands that people give in chats, who have said who of ours they are. */
export function chatApp(services: SlashServices & ReplyServices & InstallServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
  /** For who answers the addresses of projects. */
  neighbour: Neighbour
} {
  replyToChats(services)
  return {
    endpoints: chatEndpoints(services),
    mount: (server) => mountChatNames(server, services),
    neighbour: installNeighbour(services),
  }
}
