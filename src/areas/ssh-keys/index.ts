import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { keyEndpoints, type KeyServices } from './routes.ts'

export { fingerprintOf, parsePublicKey, type PublicKey } from './public-key.ts'
export { checkKey, restrictionOf, taken, type NewKey } from './rules.ts'

/** SSH keys of users. */
export function sshKeys(services: KeyServices): { endpoints: Endpoint[] } {
  return { endpoints: keyEndpoints(services) }
}
