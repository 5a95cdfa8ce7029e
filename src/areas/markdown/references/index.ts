import { isVisible, may, type Actor, type GroupSubject, type ProjectSubject } from '../../../access/index.ts'
import type { Reader } from '../../../kernel/db/index.ts'
import { offers, type Plan } from '../../../kernel/config/index.ts'
import { findCommit, parseRev } from '../../../git/index.ts'
import {
  candidateKey,
  type Candidate,
  type ReferenceKind,
  type Resolved,
  type ResolvedReference,
} from '../../../rendering/index.ts'
import { readable, type RepositoryPlaces } from '../../repository/index.ts'
import { ask, type Named, type Wanted } from './statement.ts'

export interface ReferenceServices {
  readonly db: { readonly reader: Reader }
  readonly plan: Plan
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
}

/** Where a text stands: references without a path mean what is there. */
export type TextPlace = Pick<ProjectSubject | GroupSubject, 'kind' | 'id' | 'fullPath'>

/** Commits of one text that are looked up. */
const mostCommits = 200

/** Things that one text names which hear of it. */
const mostThings = 100

/** The kinds of which whoever sees the project does not see everything. */
const abilities = {
  issue: 'read_issue',
  merge_request: 'read_merge_request',
  snippet: 'read_snippet',
  label: 'read_label',
  milestone: 'read_milestone',
  commit: 'read_code',
  project: 'read_project',
} as const

const signs: Readonly<Partial<Record<ReferenceKind, string>>> = {
  issue: '#',
  merge_request: '!',
  snippet: '$',
  epic: '&',
}

/** What candidates mean to a reader: one statement, and the repositories for commits. */
export async function resolveReferences(
  services: ReferenceServices,
  actor: Actor,
  place: TextPlace | undefined,
  candidates: readonly Candidate[],
): Promise<Resolved> {
  const wanted = candidates.map((candidate) => wantedOf(candidate, place))
  if (wanted.length === 0) return {}
  const kinds = new Map(candidates.map((candidate) => [candidateKey(candidate), candidate.kind]))
  const { projects, groups, named } = await ask(services.db.reader, actor, wanted)
  const resolved: Record<string, ResolvedReference> = {}
  let commits = 0
  for (const found of named) {
    const kind = kinds.get(found.key)!
    const project = found.project === null ? undefined : projects.get(found.project)
    const group = found.group === null ? undefined : groups.get(found.group)
    if (project !== undefined && !(kind in abilities && mayRead(actor, kind as InProject, project))) continue
    if (kind === 'epic' && !offers(services.plan, 'epics')) continue
    if (kind !== 'commit') {
      resolved[found.key] = shown(kind, found, project ?? group, place, services.externalUrl())
      continue
    }
    if (project === undefined || (commits += 1) > mostCommits) continue
    const commit = await commitReference(services, project, found.name, place)
    if (commit !== undefined) resolved[found.key] = commit
  }
  return resolved
}

/** Something that a text names: by its number in a project, or in a group. */
export interface NamedThing {
  readonly kind: 'issue' | 'merge_request' | 'snippet' | 'epic'
  readonly number: number
  readonly placeId: number
}

/** The issues, merge requests, snippets and epics that candidates mean, as far as a reader may see them. */
export async function namedThings(
  services: Pick<ReferenceServices, 'db' | 'plan'>,
  actor: Actor,
  place: TextPlace,
  candidates: readonly Candidate[],
): Promise<NamedThing[]> {
  const wanted = candidates
    .filter(({ kind }) => kind in signs)
    .slice(0, mostThings)
    .map((candidate) => wantedOf(candidate, place))
  if (wanted.length === 0) return []
  const kinds = new Map(wanted.map(({ key, kind }) => [key, kind as NamedThing['kind']]))
  const { projects, named } = await ask(services.db.reader, actor, wanted)
  const things = new Map<string, NamedThing>()
  for (const found of named) {
    const kind = kinds.get(found.key)!
    const project = found.project === null ? undefined : projects.get(found.project)
    if (kind === 'epic' ? !offers(services.plan, 'epics') : !project || !mayRead(actor, kind, project))
      continue
    const thing = { kind, number: Number(found.name), placeId: (found.project ?? found.group)! }
    things.set(`${kind} ${thing.placeId} ${thing.number}`, thing)
  }
  return [...things.values()]
}

type InProject = keyof typeof abilities

function mayRead(actor: Actor, kind: InProject, project: ProjectSubject): boolean {
  return isVisible(actor, project) && may(actor, abilities[kind], project)
}

function wantedOf(candidate: Candidate, place: TextPlace | undefined): Wanted {
  const { kind, id } = candidate
  const itself = kind === 'user' || kind === 'project'
  return {
    key: candidateKey(candidate),
    kind,
    path: (itself ? id : pathOf(candidate, place)).toLowerCase(),
    id,
    number: /^\d{1,10}$/.test(id) ? Number(id) : null,
  }
}

/** `app#1` means the project beside the one that the text is in; `/acme`, as addresses give it, is the whole path. */
function pathOf({ kind, path }: Candidate, place: TextPlace | undefined): string {
  if (path?.startsWith('/') === true) return path.slice(1)
  if (path === undefined) {
    if (kind === 'epic' && place?.kind === 'project') return groupOf(place)
    return place?.fullPath ?? ''
  }
  if (path.includes('/') || kind === 'epic' || place === undefined) return path
  return `${groupOf(place)}/${path}`
}

/** The path of the group, or of the user, that the text belongs to. */
function groupOf({ kind, fullPath }: TextPlace): string {
  return kind === 'group' ? fullPath : fullPath.slice(0, fullPath.lastIndexOf('/'))
}

function shown(
  kind: ReferenceKind,
  { name, title, from }: Named,
  where: ProjectSubject | GroupSubject | undefined,
  place: TextPlace | undefined,
  site: string,
): ResolvedReference {
  const about = title === null ? {} : { title }
  if (kind === 'user' || kind === 'project') {
    return { href: `${site}/${where?.kind === 'group' ? 'groups/' : ''}${name}`, ...about }
  }
  const foreign = where === undefined ? '' : pathSeenFrom(where, place)
  const at = `${site}/${where?.kind === 'group' ? 'groups/' : ''}${where?.fullPath ?? ''}/-`
  const inForeign = foreign === '' ? '' : ` in ${foreign}`
  switch (kind) {
    case 'label':
      return {
        href: `${at}/issues?label_name=${encodeURIComponent(name)}`,
        text: `${name}${inForeign}`,
        ...about,
      }
    case 'milestone': {
      const home = from === null ? at : `${site}/groups/${from}/-`
      return { href: `${home}/milestones/${name}`, text: `%${title ?? name}${inForeign}` }
    }
    default: {
      const page = kind === 'issue' ? 'issues' : `${kind}s`
      return { href: `${at}/${page}/${name}`, text: `${foreign}${signs[kind] ?? ''}${name}`, ...about }
    }
  }
}

/** As short as it is clear: nothing in the place itself, the name beside it, else the whole path. */
function pathSeenFrom(where: ProjectSubject | GroupSubject, place: TextPlace | undefined): string {
  if (place === undefined) return where.fullPath
  if (where.kind === 'group') return where.fullPath === groupOf(place) ? '' : where.fullPath
  if (where.fullPath === place.fullPath) return ''
  return groupOf(where) === groupOf(place) ? where.path : where.fullPath
}

async function commitReference(
  { places, externalUrl }: ReferenceServices,
  project: ProjectSubject,
  sha: string,
  place: TextPlace | undefined,
): Promise<ResolvedReference | undefined> {
  const rev = parseRev(sha)
  const repository = await readable(places, project)
  const commit = repository && rev && (await findCommit(repository, rev))
  // A branch may be called as a commit is.
  if (commit?.oid.startsWith(sha) !== true) return undefined
  const short = commit.oid.slice(0, 8)
  const foreign = pathSeenFrom(project, place)
  return {
    href: `${externalUrl()}/${project.fullPath}/-/commit/${commit.oid}`,
    title: commit.message.split('\n', 1)[0] ?? '',
    text: foreign === '' ? short : `${foreign}@${short}`,
  }
}
