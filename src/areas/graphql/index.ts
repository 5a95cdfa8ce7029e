import type { FastifyInstance } from 'fastify'
import { Registry, serveEndpoints, type Gatekeeper } from '../../kernel/endpoint/index.ts'
import { graphqlEndpoints, inGraphqlForm } from './routes.ts'
import type { GraphqlServices } from './run.ts'

/**
 * `/api/graphql`: as much of it as editor extensions need. It is a client of the API inside the process, as the caller:
 * what the API does not show or let do, this does not either.
 */
export function graphql(services: GraphqlServices & { readonly externalUrl: () => string }): {
  mount: (server: FastifyInstance, gate: Gatekeeper) => void
} {
  const { routes } = new Registry(graphqlEndpoints(services))
  return {
    mount(server, gate) {
      serveEndpoints(server, {
        routes,
        prefix: '/api',
        url: '/api/graphql',
        gate,
        externalUrl: services.externalUrl,
        refuse: inGraphqlForm,
      })
    },
  }
}
