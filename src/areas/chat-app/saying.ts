import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { SayInChat } from '../webhooks/index.ts'
import type { ChatPlatform } from './platform.ts'
import { tokenOf } from './store.ts'

/** What the app's tokens are sealed for. */
export const tokenContext = 'chat_workspaces.token'
const mostChannels = 10

/** Says things in the channels of a workspace where the app is installed. */
export function sayingInChats(services: {
  readonly db: Database
  readonly cipher: Cipher
  readonly chatPlatform: ChatPlatform
}): SayInChat {
  const { db, cipher, chatPlatform } = services
  return async (integration, { text, channel }) => {
    const sealed = await tokenOf(db.reader, integration)
    if (sealed === undefined) return 'The app is not installed'
    const token = cipher.open(sealed, tokenContext)
    const channels = channel.split(',').flatMap((name) => name.trim() || [])
    const problems: string[] = []
    for (const name of channels.slice(0, mostChannels)) {
      const said = await chatPlatform.call('chat.postMessage', token, { channel: name, text })
      if (!said.ok) problems.push(`${name}: ${said.error}`)
    }
    return problems.length === 0 ? undefined : problems.join(', ')
  }
}
