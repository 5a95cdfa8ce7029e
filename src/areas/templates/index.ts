import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { instanceEndpoints, projectEndpoints } from './routes.ts'
import type { TemplateServices } from './sources.ts'

export { aboutLicense } from './licenses.ts'
export { recogniseLicense } from './recognise.ts'

/** What files are begun from: those that come with the service, and those of projects that were named for it. */
export function templates(services: TemplateServices): { endpoints: Endpoint[] } {
  return { endpoints: [...instanceEndpoints(services), ...projectEndpoints(services)] }
}
