import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { explanationEndpoint } from './routes.ts'

/** Why somebody may do something: for those who look after members. */
export function accessExplanations(services: { readonly db: Database }): { endpoints: Endpoint[] } {
  return { endpoints: (['group', 'project'] as const).map((kind) => explanationEndpoint(kind, services)) }
}
