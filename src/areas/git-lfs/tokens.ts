import type { Cipher } from '../../kernel/lib/secrets.ts'

/** What a token is for: given to who has shown by an SSH key who he is. */
export interface LfsGrant {
  readonly userId: number | null
  readonly deployKeyId: number | null
  readonly projectId: number
  readonly operation: 'download' | 'upload'
}

/** Seconds that a token lives. */
export const tokenLife = 7200

const prefix = 'lfs_'
const context = 'lfs_tokens'

export function sealGrant(cipher: Cipher, grant: LfsGrant, now = Date.now()): string {
  return prefix + cipher.seal(JSON.stringify({ ...grant, until: now + tokenLife * 1000 }), context)
}

/** Undefined for what is no token of this kind; `over` for one that is none any more, or was never ours. */
export function openGrant(cipher: Cipher, token: string, now = Date.now()): LfsGrant | 'over' | undefined {
  if (!token.startsWith(prefix)) return undefined
  const text = cipher.tryOpen(token.slice(prefix.length), context)
  if (text === undefined) return 'over'
  const { until, ...grant } = JSON.parse(text) as LfsGrant & { until: number }
  return until > now ? grant : 'over'
}
