import type { FlagEvent } from '../../feature-flags/index.ts'
import { sceneOf, shownProject, shownUser, type Builder } from './parts.ts'

/** Of a feature flag that was switched on or off. */
export const buildFeatureFlag: Builder<FlagEvent> = async (services, event) => {
  const scene = await sceneOf(services.db.reader, event)
  if (scene === undefined) return []
  const { project, user } = scene
  const { id, name, description, active } = event.payload.flag
  const payload = {
    object_kind: 'feature_flag',
    project: shownProject(services, project),
    user: shownUser(user),
    user_url: user === null ? null : `${services.externalUrl()}/${user.username}`,
    object_attributes: { id, name, description, active },
  }
  return [{ trigger: 'feature_flag', payload }]
}
