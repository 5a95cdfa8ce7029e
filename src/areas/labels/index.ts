import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events } from '../../tasks/index.ts'
import { groupPlace, projectPlace } from './places.ts'
import { labelEndpoints, promotionEndpoint } from './routes.ts'
import { mendLabelsAfterTransfers } from './transfers.ts'

export {
  changeLabels,
  labelRows,
  labelsNamed,
  labelTitles,
  type KnownLabel,
  type LabelChange,
  type LabelPlace,
  type LabelsChanged,
} from './attach.ts'
export { parseColor, textColor } from './colors.ts'
export { labelDetails, LabelDetails, type LabelDetailsRow } from './entities.ts'
export { labelled, withLabels, withoutLabels } from './filter.ts'

/** Labels of projects and groups, and how they are attached to issues, merge requests and epics. */
export function labels(services: { db: Database; events: Events }): { endpoints: Endpoint[] } {
  mendLabelsAfterTransfers(services)
  return {
    endpoints: [
      ...labelEndpoints(services, projectPlace),
      ...labelEndpoints(services, groupPlace),
      promotionEndpoint(services),
    ],
  }
}
