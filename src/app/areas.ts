import { metadata } from '../areas/metadata/index.ts'
import { protectedBranches } from '../areas/protected-branches/index.ts'
import { variables } from '../areas/variables/index.ts'
import type { Area } from './area.ts'
import type { Services } from './services.ts'

/** Every area of the service. */
export function areas(services: Services): Area[] {
  return [metadata(services), variables(services), protectedBranches(services)]
}
