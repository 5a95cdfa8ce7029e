import type { Actor, User } from '../../access/index.ts'
import { branchRef, commitFiles, parseFilePath, type PreparedChange } from '../../git/index.ts'
import type { DoorProject, RepositoryPlaces } from '../repository/index.ts'
import type { CreatedProject } from './create.ts'

/**
 * Brings a change that the service itself makes in through the door of refs: no rule is asked, but all that follows a
 * push follows it.
 */
export type Bring = (
  mover: { readonly actor: Actor; readonly project: DoorProject },
  change: PreparedChange,
) => Promise<void>

export const readmePath = 'README.md'

/** The commit that a project begins with that is to have a README. */
export async function commitReadme(
  { places, door }: { places: RepositoryPlaces; door: { readonly bring: Bring } },
  { actor, user }: { actor: Actor; user: User },
  project: CreatedProject,
): Promise<void> {
  const author = { name: user.name, email: user.email, date: new Date(), offset: 0 }
  const text = `# ${project.name}\n${project.description === null || project.description === '' ? '' : `\n${project.description}\n`}`
  await using change = await commitFiles(places.of(project), {
    branch: branchRef(project.defaultBranch)!,
    actions: [{ action: 'create', path: parseFilePath(readmePath)!, content: Buffer.from(text) }],
    author,
    committer: author,
    message: 'Initial commit',
  })
  await door.bring({ actor, project }, change)
}
