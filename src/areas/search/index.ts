import type { FastifyInstance } from 'fastify'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { ContextServices } from '../projects/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { IndexSearch } from '../search-index/index.ts'
import type { WikiSearch } from '../wikis/index.ts'
import { mountAutocomplete, type AutocompleteServices } from './autocomplete.ts'
import { searchEndpoints } from './routes.ts'

export interface SearchServices extends ContextServices {
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly wikiPages: WikiSearch
  readonly db: Database
  /** What a search cluster knows. */
  readonly index: IndexSearch
}

/** Finds things of all kinds by words: everywhere, in a group, in a project. */
export function search(services: SearchServices & AutocompleteServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
} {
  return {
    endpoints: searchEndpoints(services),
    mount: (server) => mountAutocomplete(server, services),
  }
}
