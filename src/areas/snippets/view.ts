import type { Actor } from '../../access/index.ts'
import { cloneRoot } from '../projects/index.ts'
import type { SnippetServices } from './index.ts'

/** What the entity of a snippet hangs on besides its row. */
export function viewOf(
  { externalUrl, sshAddress, settings }: Pick<SnippetServices, 'externalUrl' | 'sshAddress' | 'settings'>,
  actor: Actor,
) {
  return {
    actor,
    externalUrl: externalUrl(),
    sshAddress,
    cloneRoot: cloneRoot(settings.values, externalUrl()),
  }
}
