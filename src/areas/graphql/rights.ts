import type { ProjectSubject } from '../../access/index.ts'
import { isWriter } from '../notes/index.ts'
import type { Asking } from './asking.ts'
import type { NoteableFacts } from './discussions.ts'

/**
 * Whether the caller may write about a thing that he reads, and what is asked for besides holds in its project.
 */
export function mayWrite(
  asking: Asking,
  { projectId, locked }: NoteableFacts,
  holds: (place: ProjectSubject) => boolean = () => true,
): Promise<boolean> {
  return holdsIn(asking, projectId, (place) => isWriter(asking.actor, place, { locked }) && holds(place))
}

/** Whether this holds in the project of a thing that the caller reads. Nobody writes where the project is only read. */
export async function holdsIn(
  asking: Asking,
  projectId: number,
  holds: (place: ProjectSubject) => boolean,
): Promise<boolean> {
  const place = await asking.project(projectId)
  return place !== undefined && !place.archived && !place.deleting && holds(place)
}
