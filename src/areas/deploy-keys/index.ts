import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { deployKeyEndpoints, type DeployKeyServices } from './routes.ts'

/** SSH keys that open projects, whoever holds them. */
export function deployKeys(services: DeployKeyServices): { endpoints: Endpoint[] } {
  return { endpoints: deployKeyEndpoints(services) }
}
