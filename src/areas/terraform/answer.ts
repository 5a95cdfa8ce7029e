import { Answer } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

/** What versions are sealed for. */
export const sealedFor = 'terraform_state_versions.content'

/** A version as it was sent. */
export function stateAnswer(content: string, cipher: Cipher): Answer {
  return new Answer(200, { 'content-type': 'application/json' }, cipher.open(content, sealedFor))
}
