import { sql } from '../../../kernel/db/index.ts'
import type { WikiPageEvent } from '../../wikis/index.ts'
import { sceneOf, shownProject, shownUser, webUrl, type Builder } from './parts.ts'

/** Of a page of a project's wiki. */
export const buildWikiPage: Builder<WikiPageEvent> = async (services, event) => {
  const page = event.payload
  const scene = await sceneOf(services.db.reader, event)
  // Wikis of groups have no project to show.
  if (scene === undefined) return []
  const { project, user } = scene
  const web = `${webUrl(services, project)}/-/wikis`
  const { rows } = await sql<{ default_branch: string }>`
    select w.default_branch from wikis w where w.id = ${page.wikiId}`.execute(services.db.reader)
  const payload = {
    object_kind: 'wiki_page',
    user: shownUser(user),
    project: shownProject(services, project),
    wiki: {
      web_url: `${web}/home`,
      git_ssh_url: services.sshAddress(`${project.full_path}.wiki`),
      git_http_url: `${webUrl(services, project)}.wiki.git`,
      path_with_namespace: `${project.full_path}.wiki`,
      default_branch: rows[0]?.default_branch ?? null,
    },
    object_attributes: {
      slug: page.slug,
      title: page.title,
      format: page.format,
      message: page.message,
      version_id: page.versionId,
      content: page.content,
      url: `${web}/${page.slug}`,
      action: page.action,
      diff_url: `${web}/${page.slug}/diff?version_id=${page.versionId}`,
    },
  }
  return [{ trigger: 'wiki_page', payload }]
}
