import type { FastifyInstance } from 'fastify'
import type { Login, Passwords } from '../../access/index.ts'
import type { Content, Uploads } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { MachineLogin } from './grant.ts'
import { mountRegistry } from './routes.ts'
import { mountTokens } from './token-route.ts'
import { Tokens } from './tokens.ts'

export type { MachineLogin, Power } from './grant.ts'

export interface OciServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly log: Logger
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly passwords: Passwords
  readonly images: { readonly enabled: boolean; readonly content: Content; readonly uploads: Uploads }
  /** Credentials that stand for no user, such as deploy tokens. */
  readonly machineLogin?: (login: Login) => Promise<MachineLogin | undefined>
}

/** The registry of container images: the OCI distribution specification under `/v2/`, and its token service. */
export function oci(services: OciServices): { mount: (server: FastifyInstance) => void } {
  const { enabled, content, uploads } = services.images
  const tokens = new Tokens(services)
  return {
    mount(server) {
      mountTokens(server, { ...services, tokens, enabled })
      if (enabled) mountRegistry(server, { ...services, tokens, content, uploads })
    },
  }
}
