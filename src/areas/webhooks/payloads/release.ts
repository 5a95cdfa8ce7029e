import { releaseLink, sourcesOf, type ReleaseEvent } from '../../releases/index.ts'
import { commitOf } from './commits.ts'
import { hookTime, sceneOf, shownProject, storageOf, webUrl, type Builder } from './parts.ts'

/** Of a release that was made, changed or deleted. */
export const buildRelease: Builder<ReleaseEvent> = async (services, event) => {
  const { action, release } = event.payload
  const { reader } = services.db
  const scene = await sceneOf(reader, event)
  if (scene === undefined) return []
  const { project } = scene
  const web = webUrl(services, project)
  const repository = services.places.of({ id: project.id, storage: await storageOf(reader, project.id) })
  const sources = sourcesOf(release.tag, web)
  const payload = {
    object_kind: 'release',
    id: release.id,
    created_at: hookTime(release.created_at),
    description: release.description,
    name: release.name ?? release.tag,
    released_at: hookTime(release.released_at),
    tag: release.tag,
    project: shownProject(services, project),
    url: `${web}/-/releases/${encodeURIComponent(release.tag)}`,
    action,
    assets: {
      count: release.links.length + sources.length,
      links: release.links.map((link) => releaseLink(link, release.tag, web)),
      sources,
    },
    commit: await commitOf(repository, release.sha, web),
  }
  return [{ trigger: 'releases', payload }]
}
