import {
  decide,
  type Actor,
  type Decision,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { UpdateOutcome } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { containerOfWiki } from './address.ts'
import { collaborationBranches } from '../protected-branches/index.ts'
import type { Hosted, RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { HostedSnippet, SnippetHosting } from '../snippets/index.ts'
import type { WikiHosting } from '../wikis/index.ts'

/** What a git client fetches from and pushes to: the code of a project, a wiki, or a snippet. */
export interface Target extends Hosted {
  /** For the log. */
  readonly label: Readonly<Record<string, unknown>>
  /** Of the project or group, as it is called now. */
  readonly fullPath: string
  /** Of the code of a project. */
  readonly project?: ProjectSubject
  /** What is told while there is no repository. */
  readonly absent: string
}

/** Allowed, or not even to be known of. */
type Admission = Pick<Decision, 'allowed' | 'hidden'>

/** A kind of target before anybody was let in: what its rules are, and how it refuses. */
export interface Wanted {
  /** Undefined of a snippet that is in no project. */
  readonly subject: ProjectSubject | GroupSubject | undefined
  readonly mayDownload: (actor: Actor) => Admission
  readonly mayUpload: (actor: Actor) => Admission
  /** Of code: who may not push in general may push to some of its branches. */
  readonly opensBranches?: (actor: Actor) => Promise<boolean>
  readonly words: { readonly missing: string; readonly download: string; readonly upload: string }
  /** Undefined: there is no repository, and the caller is none who makes one. */
  readonly target: (mayWrite: boolean) => Promise<Target | undefined>
}

export const projectMissing =
  "The project you were looking for could not be found or you don't have permission to view it."
const wikiMissing = 'The wiki you were looking for could not be found.'

/** What is told where nothing is, or nothing that the caller may know of: which of the two must not be seen. */
export function missingAt(fullPath: string): string {
  return containerOfWiki(fullPath) === undefined ? projectMissing : wikiMissing
}

export interface TargetServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly wikis: WikiHosting
  readonly snippets: SnippetHosting
  /** Id of the project that an alias means. */
  readonly aliases: (name: string) => Promise<number | undefined>
  /** What follows a push to code for its pusher, and what he is told of it. */
  readonly afterPush: (
    actor: Actor,
    project: ProjectSubject,
    outcome: UpdateOutcome,
    pushOptions: readonly string[],
  ) => Promise<readonly string[]>
}

export function codeTarget({ places, door, afterPush }: TargetServices, project: ProjectSubject): Target {
  return {
    label: { project: project.id },
    project,
    fullPath: project.fullPath,
    refsVersion: project.refsVersion,
    absent: 'A repository for this project does not exist yet.',
    open: () => places.open(project),
    receive: (actor, input, output, options) =>
      door.receive({ actor, project, via: 'git' }, input, output, {
        ...options,
        afterwards: async (outcome, pushOptions) => [
          ...(await afterPush(actor, project, outcome, pushOptions)),
          ...((await options.afterwards?.()) ?? []),
        ],
      }),
  }
}

export function codeOf(services: TargetServices, project: ProjectSubject): Wanted {
  return {
    subject: project,
    mayDownload: (actor) => decide(actor, 'download_code', project),
    mayUpload: (actor) => decide(actor, 'upload_code', project),
    opensBranches: async (actor) =>
      (await collaborationBranches(services.db.reader, actor, project)).size > 0,
    words: {
      missing: missingAt(project.fullPath),
      download: 'You are not allowed to download code from this project.',
      upload: 'You are not allowed to push code to this project.',
    },
    target: async () => codeTarget(services, project),
  }
}

/** `visible`: whether the caller may know of the group; members of what lies in it do, which only the database knows. */
export function wikiOf(
  { wikis }: TargetServices,
  subject: ProjectSubject | GroupSubject,
  visible: boolean,
): Wanted {
  const may = (actor: Actor, ability: 'read_wiki' | 'create_wiki'): Decision =>
    subject.kind === 'project'
      ? decide(actor, ability, subject, visible)
      : decide(actor, ability, subject, visible)
  return {
    subject,
    mayDownload: (actor) => may(actor, 'read_wiki'),
    mayUpload: (actor) => may(actor, 'create_wiki'),
    words: {
      missing: wikiMissing,
      download: 'You are not allowed to download files from this wiki.',
      upload: "You are not allowed to write to this project's wiki.",
    },
    async target(mayWrite) {
      const wiki = await wikis.of(subject, { make: mayWrite })
      return wiki && hosted(subject, wiki)
    },
  }
}

function hosted({ kind, id, fullPath }: ProjectSubject | GroupSubject, wiki: Hosted): Target {
  return {
    label: { wikiOf: `${kind} ${id}` },
    fullPath: `${fullPath}.wiki`,
    refsVersion: wiki.refsVersion,
    absent: 'A repository for this wiki does not exist yet.',
    open: () => wiki.open(),
    receive: (actor, input, output, options) => wiki.receive(actor, input, output, options),
  }
}

/** Undefined: there is no such snippet. Nobody but users comes in where not everybody does. */
export function snippetWanted(
  fullPath: string,
  project: ProjectSubject | undefined,
  snippet: HostedSnippet | undefined,
): Wanted {
  const reads = (actor: Actor): boolean =>
    snippet !== undefined && actor.job === null && actor.deployToken === undefined && snippet.mayRead(actor)
  return {
    subject: project,
    mayDownload: (actor) => ({ allowed: reads(actor), hidden: !reads(actor) }),
    mayUpload: (actor) => ({ allowed: reads(actor) && snippet!.mayWrite(actor), hidden: !reads(actor) }),
    words: {
      missing: 'The snippet you were looking for could not be found.',
      download: 'You are not allowed to read this snippet.',
      upload: 'You are not allowed to update this snippet.',
    },
    target: async () =>
      snippet && {
        label: { snippet: snippet.id },
        fullPath,
        refsVersion: snippet.refsVersion,
        absent: 'The snippet repository you were looking for could not be found.',
        open: () => snippet.open(),
        receive: (actor, input, output, options) => snippet.receive(actor, input, output, options),
      },
  }
}
