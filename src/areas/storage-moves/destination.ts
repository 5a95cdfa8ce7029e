import { invalid } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { chooseStorage, type RepositoryPlaces } from '../repository/index.ts'

export interface DestinationServices {
  readonly places: RepositoryPlaces
  readonly settings: Settings
}

/** One that the weights choose among the others. */
export function otherStorage({ places, settings }: DestinationServices, source: string): string {
  const others = places.storages.filter((name) => name !== source)
  return chooseStorage(settings.values.repository_storages_weighted, others)
}

export function requireStorage({ places }: DestinationServices, field: string, name: string): void {
  if (!places.storages.includes(name)) throw invalid({ [field]: ['is not included in the list'] })
}

export function requireDestination(services: DestinationServices, source: string, target: string): void {
  requireStorage(services, 'destination_storage_name', target)
  if (source === target) throw invalid({ destination_storage_name: ['cannot be the same as the source'] })
}
