import type { ProjectSubject } from '../../../access/index.ts'
import { checkMergeability } from '../merging/check.ts'
import type { MergeRequestServices } from '../services.ts'
import { findWithApprovals } from './act.ts'
import type { RequestWithApprovals } from './rows.ts'

/** A request with what the code owners of its heads, as these are at this moment, have to say. */
export async function presentApprovals(
  services: MergeRequestServices,
  project: ProjectSubject,
  row: RequestWithApprovals,
): Promise<RequestWithApprovals> {
  const checked = await checkMergeability(services, project, row)
  return checked === row ? row : findWithApprovals(services, row.id)
}
