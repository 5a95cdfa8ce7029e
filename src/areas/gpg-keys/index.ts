import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { gpgKeyEndpoints, type GpgKeyServices } from './routes.ts'

/** Keys that people sign with. */
export function gpgKeys(services: GpgKeyServices): { endpoints: Endpoint[] } {
  return { endpoints: gpgKeyEndpoints(services) }
}
