import type { ProjectSubject } from '../../access/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { jobTokenName } from './rules.ts'
import * as store from './store.ts'

/** The place a token is sealed for. */
export const secretContext = 'deploy_tokens.secret'

/** What the jobs of a project get of the deploy token that is meant for them, if there is one. */
export async function deployTokenForJobs(
  { db, cipher }: { readonly db: Reader; readonly cipher: Cipher },
  project: ProjectSubject,
): Promise<{ readonly username: string; readonly token: string } | undefined> {
  const found = await store.forJobs(db, project, jobTokenName)
  return found && { username: found.username, token: cipher.open(found.secret, secretContext) }
}
