import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { ChatPerson } from './store.ts'

/** What somebody of a chat is given to open in his browser, where he says who of ours he is. */
export interface ChatInvitation extends ChatPerson {
  readonly teamDomain: string | null
  readonly chatName: string | null
}

const context = 'chat_names.invitation'
/** Milliseconds that it is good for. */
const life = 600_000
/** Characters of what a chat says of itself and its people. */
const longest = 255

export const pagePath = '/-/profile/chat_names'

/** The address where who asks in a chat says who he is. */
export function invitationAddress(cipher: Cipher, externalUrl: string, invitation: ChatInvitation): string {
  const { teamDomain, chatName } = invitation
  const sealed = cipher.seal(
    JSON.stringify({
      ...invitation,
      teamDomain: teamDomain?.slice(0, longest) ?? null,
      chatName: chatName?.slice(0, longest) ?? null,
      until: Date.now() + life,
    }),
    context,
  )
  return `${externalUrl}${pagePath}/new?token=${Buffer.from(sealed, 'base64').toString('base64url')}`
}

/** Undefined for one that is not ours, or whose time is over. */
export function openInvitation(cipher: Cipher, token: unknown): ChatInvitation | undefined {
  if (typeof token !== 'string' || token.length > 4000) return undefined
  const opened = cipher.tryOpen(Buffer.from(token, 'base64url').toString('base64'), context)
  if (opened === undefined) return undefined
  const { until, ...invitation } = JSON.parse(opened) as ChatInvitation & { until: number }
  return until > Date.now() ? invitation : undefined
}
