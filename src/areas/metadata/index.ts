import { endpoint, instance } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { Fields, Flag, Nullable, Text } from '../../kernel/endpoint/index.ts'

/** The family of the API that is spoken here; clients gate features by it. */
export const apiVersion = '17.11.0'
export const revision = '0.1.0'

const Metadata = Fields({
  version: Text(),
  revision: Text(),
  kas: Fields({
    enabled: Flag(),
    externalUrl: Nullable(Text()),
    externalK8sProxyUrl: Nullable(Text()),
    version: Nullable(Text()),
  }),
  enterprise: Flag(),
})

/** Which version this is: what clients ask first. */
export function metadata({ plan }: { plan: Plan }): { endpoints: Endpoint[] } {
  const enterprise = offers(plan, 'enterprise_version')
  const answer = {
    version: enterprise ? `${apiVersion}-ee` : apiVersion,
    revision,
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise,
  }
  const describe = (path: '/version' | '/metadata'): Endpoint =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Version and edition of this instance',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      answers: Metadata,
      handle: async () => answer,
    })
  return { endpoints: [describe('/version'), describe('/metadata')] }
}
