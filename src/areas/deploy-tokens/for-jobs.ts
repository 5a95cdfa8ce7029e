import type { RawBuilder } from 'kysely'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { jobTokenName } from './rules.ts'
import * as store from './store.ts'

/** The place a token is sealed for. */
export const secretContext = 'deploy_tokens.secret'

/** What the jobs of a project get of the deploy token that is meant for them, read together with what else they get. */
export function deployTokensForJobs(cipher: Cipher): {
  /** In a statement in which `subject` is the project. */
  readonly ofSubject: RawBuilder<store.JobToken | null>
  open(sealed: store.JobToken): { readonly username: string; readonly token: string }
} {
  return {
    ofSubject: store.ofJobs(jobTokenName),
    open: ({ username, secret }) => ({ username, token: cipher.open(secret, secretContext) }),
  }
}
