import type { Database } from '../../kernel/db/index.ts'
import { isMadeByPushOf } from '../projects/index.ts'
import type { Admitted } from './admission.ts'

/** What a pusher is told of the project itself: that it is called otherwise now, or that his push has made it. */
export async function notices(
  { db, externalUrl }: { readonly db: Database; readonly externalUrl: () => string },
  { actor, target, moved }: Admitted,
  { asked, remote }: { readonly asked: string; readonly remote: string },
): Promise<string[]> {
  const { project, fullPath } = target
  const lines = moved ? movedNotice(asked, fullPath, `${externalUrl()}/${fullPath}.git`) : []
  // The note of it is looked for with the first push only.
  if (actor.user === null || project?.repositoryEmpty !== true) return lines
  const made = await isMadeByPushOf(db, actor.user.id, project.id)
  return made ? [...lines, ...createdNotice(fullPath, remote, `${externalUrl()}/${fullPath}`)] : lines
}

/** `address`: the new one, for git. */
function movedNotice(from: string, to: string, address: string): string[] {
  return [
    '',
    `Project '${from}' was moved to '${to}'.`,
    '',
    'Please update your Git remote:',
    '',
    `  git remote set-url origin ${address}`,
    '',
  ]
}

function createdNotice(fullPath: string, remote: string, web: string): string[] {
  return [
    '',
    `The private project ${fullPath} was successfully created.`,
    '',
    'To configure the remote, run:',
    `  git remote add origin ${remote}`,
    '',
    'To view the project, visit:',
    `  ${web}`,
    '',
  ]
}
