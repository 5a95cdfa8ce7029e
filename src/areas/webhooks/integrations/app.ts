import type { Tx } from '../../../kernel/db/index.ts'
import type { Cipher } from '../../../kernel/lib/secrets.ts'
import { contexts } from '../hook.ts'
import { appIntegration, usual } from './catalogue.ts'
import * as store from './store.ts'

/** What the chat app is to say in one channel, or in several with commas between. */
export interface AppMessage {
  readonly text: string
  readonly channel: string
}

/** The chat app of a project says something; answers why it could not. `integration`: its id. */
export type SayInChat = (integration: number, message: AppMessage) => Promise<string | undefined>

/** The chat app is installed for a project, as it was set before; answers the id of its integration. */
export async function activateApp(tx: Tx, cipher: Cipher, projectId: number): Promise<number> {
  const owner = { kind: 'project', id: projectId } as const
  const before = await store.lockOwn(tx, owner, appIntegration)
  const made = await store.save(tx, owner, appIntegration, {
    active: true,
    triggers: before?.triggers ?? usual,
    url: cipher.seal('', contexts.url),
    properties: before?.properties ?? cipher.seal('{}', contexts.properties),
  })
  return made.id
}
