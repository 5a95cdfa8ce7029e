import type { MilestoneEvent } from '../../milestones/index.ts'
import { groupOf, hookTime, sceneOf, shownGroup, shownProject, type Builder } from './parts.ts'

/** Of a milestone of a project or group that was made, closed, opened again or deleted. */
export const buildMilestone: Builder<MilestoneEvent> = async (services, event) => {
  const { action, groupId, milestone } = event.payload
  const { reader } = services.db
  const scene = await sceneOf(reader, event)
  const group = groupId === null ? undefined : await groupOf(reader, groupId)
  if (scene === undefined && group === undefined) return []
  const payload = {
    object_kind: 'milestone',
    event_type: 'milestone',
    ...(scene !== undefined && { project: shownProject(services, scene.project) }),
    ...(group !== undefined && { group: shownGroup(group) }),
    object_attributes: {
      id: milestone.id,
      iid: milestone.iid,
      title: milestone.title,
      description: milestone.description,
      state: milestone.state,
      created_at: hookTime(milestone.created_at),
      updated_at: hookTime(milestone.updated_at),
      due_date: milestone.due_date,
      start_date: milestone.start_date,
      group_id: milestone.namespace_id,
      project_id: milestone.project_id,
    },
    action,
  }
  return [{ trigger: 'milestone', payload }]
}
