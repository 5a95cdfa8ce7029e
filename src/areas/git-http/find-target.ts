import {
  group,
  project,
  type Actor,
  type Entrance,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Service } from '../../git/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { containerOfWiki, snippetNamed } from './address.ts'
import { GitRefusal } from './refusal.ts'
import { codeOf, snippetWanted, wikiOf, type Target, type TargetServices, type Wanted } from './target.ts'

/** How a caller comes to a project or group, which differs between HTTP and SSH. */
export type EnterFor = <Subject>(
  kind: typeof project | typeof group,
  fullPath: string,
) => Promise<Entrance<Subject, never>>

export type Found = Entrance<ProjectSubject | GroupSubject, never> & { readonly wanted: Wanted | undefined }

/**
 * `a/b.wiki` is the wiki of the project or group `a/b`; only where there is none, a project of that very name.
 * `a/b/snippets/7` is a project of that name; only where there is none, a snippet of the project `a/b`.
 */
export async function findWanted(
  services: TargetServices & { readonly plan: Plan },
  fullPath: string,
  enterFor: EnterFor,
): Promise<Found> {
  const container = containerOfWiki(fullPath)
  if (container !== undefined) {
    const inProject = await enterFor<ProjectSubject>(project, container)
    if (inProject.subject !== undefined) {
      return { ...inProject, wanted: wikiOf(services, inProject.subject, inProject.visible) }
    }
    const inGroup = await enterFor<GroupSubject>(group, container)
    if (inGroup.subject !== undefined && offers(services.plan, 'group_wikis')) {
      return { ...inGroup, wanted: wikiOf(services, inGroup.subject, inGroup.visible) }
    }
  }
  const entrance = await enterFor<ProjectSubject>(project, await lookupOf(services, fullPath))
  const snippet = entrance.subject === undefined ? snippetNamed(fullPath) : undefined
  if (snippet !== undefined) return findSnippet(services, snippet, entrance, enterFor)
  return { ...entrance, wanted: entrance.subject && codeOf(services, entrance.subject) }
}

/** A project may be called as a snippet is; so this is looked for where no project is found. */
async function findSnippet(
  { snippets }: TargetServices,
  { project: path, id }: NonNullable<ReturnType<typeof snippetNamed>>,
  nowhere: Entrance<ProjectSubject, never>,
  enterFor: EnterFor,
): Promise<Found> {
  const entrance = path === undefined ? nowhere : await enterFor<ProjectSubject>(project, path)
  const home = entrance.subject
  const hosted = path === undefined || home !== undefined ? await snippets.find(home, id) : undefined
  const fullPath = `${home === undefined ? '' : `${home.fullPath}/`}snippets/${id}`
  return { ...entrance, wanted: snippetWanted(fullPath, home, hosted) }
}

/** How a project is found that git names: by its full path, or by an alias, which has no slash. */
export async function lookupOf(
  { aliases, plan }: Pick<TargetServices, 'aliases'> & { readonly plan: Plan },
  fullPath: string,
): Promise<string> {
  if (fullPath.includes('/')) return fullPath
  const id = offers(plan, 'project_aliases') ? await aliases(fullPath) : undefined
  // Nothing has the id 0: what looks like an id is none here.
  return String(id ?? 0)
}

/** The repository that an actor may fetch from, or push to. Throws the refusal in git's words. */
export async function openTarget(actor: Actor, wanted: Wanted, service: Service): Promise<Target> {
  const { allowed } = wanted.mayUpload(actor)
  if (service === 'git-upload-pack') mustDownload(actor, wanted)
  else if (!allowed && (await wanted.opensBranches?.(actor)) !== true) mustUpload(actor, wanted)
  const target = await wanted.target(allowed)
  if (target === undefined) throw new GitRefusal(404, 'A repository for this wiki does not exist yet.')
  return target
}

function mustDownload(actor: Actor, { mayDownload, subject, words }: Wanted): void {
  const { allowed, hidden } = mayDownload(actor)
  if (hidden) throw new GitRefusal(404, words.missing)
  if (allowed) return
  if (actor.job !== null && actor.job.projectId !== subject?.id) throw new GitRefusal(404, words.missing)
  throw new GitRefusal(403, words.download)
}

function mustUpload(actor: Actor, { mayUpload, subject, words }: Wanted): void {
  const { allowed, hidden } = mayUpload(actor)
  if (hidden) throw new GitRefusal(404, words.missing)
  if (allowed) return
  if (actor.job !== null) throw new GitRefusal(403, 'You are not allowed to upload code.')
  if (actor.deployToken !== undefined) {
    throw new GitRefusal(403, 'You are not allowed to upload code for this project.')
  }
  if (subject?.kind === 'project' && subject.archived) {
    throw new GitRefusal(403, "You can't push code to an archived project.")
  }
  throw new GitRefusal(403, words.upload)
}
