import type { EmojiEvent } from '../../notes/index.ts'
import { aboutOf, noteAttributes, noteOf, type Subject } from './note.ts'
import { hookTime, sceneOf, shownProject, shownUser, storageOf, webUrl, type Builder } from './parts.ts'

/** Of a reaction, given or taken back, to an issue, merge request or snippet of a project, or to a note. */
export const buildEmoji: Builder<EmojiEvent> = async (services, event) => {
  const { action, award } = event.payload
  const { reader } = services.db
  const scene = await sceneOf(reader, event)
  if (scene === undefined) return []
  const { project, user } = scene
  const note = award.awardable_kind === 'Note' ? await noteOf(reader, award.awardable_id) : undefined
  if (award.awardable_kind === 'Note' && note === undefined) return []
  const subject: Subject = note ?? {
    noteable_type: award.awardable_kind,
    noteable_id: award.awardable_id,
    commit_sha: null,
    internal: false,
    storage: await storageOf(reader, project.id),
  }
  const about = await aboutOf(services, subject, project)
  if (about === undefined) return []
  const web = `${webUrl(services, project)}/-/${about.path}`
  const url = note === undefined ? web : `${web}#note_${note.id}`
  const payload = {
    object_kind: 'emoji',
    event_type: action,
    user: shownUser(user),
    project_id: project.id,
    project: shownProject(services, project),
    object_attributes: {
      id: award.id,
      name: award.name,
      user_id: award.user_id,
      awardable_type: award.awardable_kind,
      awardable_id: award.awardable_id,
      created_at: hookTime(award.created_at),
      updated_at: hookTime(award.updated_at),
      action,
      awarded_on_url: url,
    },
    ...(note !== undefined && { note: noteAttributes(note, project, url) }),
    [about.key]: about.attributes,
  }
  const besides = note === undefined ? 'confidential_issues' : 'confidential_note'
  return [{ trigger: 'emoji', payload, ...(about.confidential && { besides }) }]
}
