import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import { stateEndpoints } from './routes-states.ts'
import { versionEndpoints } from './routes-versions.ts'

export interface StateServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
}

/** States of infrastructure for the HTTP backend of Terraform and OpenTofu. */
export function terraform(services: StateServices): { endpoints: Endpoint[] } {
  return { endpoints: [...stateEndpoints(services), ...versionEndpoints(services)] }
}
