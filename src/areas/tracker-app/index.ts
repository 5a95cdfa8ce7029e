import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { mountTrackerApp } from './pages.ts'
import { trackerEndpoints } from './routes.ts'
import { tellTrackers, type TellingServices } from './telling.ts'

/** The app at the cloud of an issue tracker, which shows what happens here beside the issues it is about. */
export function trackerApp(services: TellingServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
} {
  tellTrackers(services)
  return {
    endpoints: trackerEndpoints(services),
    mount: (server) => mountTrackerApp(server, services),
  }
}
