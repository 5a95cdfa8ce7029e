import type { ProjectSubject } from '../../access/index.ts'
import { isWriter } from '../notes/index.ts'
import type { Asking } from './asking.ts'
import type { NoteableFacts } from './discussions.ts'

/**
 * Whether the caller may write about a thing that he reads, and what is asked for besides holds in its project. Nobody
 * writes where the project is only read.
 */
export async function mayWrite(
  asking: Asking,
  { projectId, locked }: NoteableFacts,
  holds: (place: ProjectSubject) => boolean = () => true,
): Promise<boolean> {
  const place = await asking.project(projectId)
  if (place === undefined || place.archived || place.deleting) return false
  return isWriter(asking.actor, place, { locked }) && holds(place)
}
