import type { Actor } from './actor.ts'
import { may } from './decide.ts'
import { FeatureLevel, Visibility } from './levels.ts'
import type { ProjectSubject } from './subjects.ts'

/** Whether everybody reads the site of a project, also who may not see the project. */
export function isOpenSite({
  features,
  visibility,
}: Pick<ProjectSubject, 'features' | 'visibility'>): boolean {
  if (features.pages === FeatureLevel.public) return true
  return features.pages >= FeatureLevel.enabled && visibility === Visibility.public
}

export function readsSite(actor: Actor, project: ProjectSubject): boolean {
  return isOpenSite(project) || may(actor, 'read_site', project)
}
