import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { aliasEndpoints, type AliasServices } from './routes.ts'

export { projectOfAlias } from './store.ts'

/** Aliases: names for git that hang on no namespace and survive every move of their project. */
export function projectAliases(services: AliasServices): { endpoints: Endpoint[] } {
  return { endpoints: aliasEndpoints(services) }
}
