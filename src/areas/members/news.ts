import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'

/**
 * What somebody has done to a direct membership, or the day has: event kind `membership`, of which mails are made. The
 * rows themselves tell webhooks (`member`, migration 0201), whoever writes them: a directory, a share, an import.
 */
export interface MembershipEvent {
  readonly action: 'join' | 'update' | 'leave' | 'expire' | 'request' | 'deny' | 'withdraw'
  readonly memberId: number
  /** Of a group; its projects are told of by `projectId` alone. */
  readonly namespaceId: number | null
  readonly projectId: number | null
  /** Of a request: null. */
  readonly accessLevel: number | null
  readonly expiresAt: string | null
  /** Of an update: what it was. */
  readonly before?: { readonly accessLevel: number; readonly expiresAt: string | null }
}

export interface Announcement extends Partial<Omit<MembershipEvent, 'action' | 'memberId'>> {
  readonly action: MembershipEvent['action']
  readonly memberId: number
}

/** Announces what `by` has done; null: nobody, the day has. */
export async function announceMemberships(
  { events }: { readonly events: Events },
  tx: Tx,
  by: number | null,
  news: readonly Announcement[],
): Promise<void> {
  await events.announceAll(
    tx,
    news.map((one) => {
      const payload: MembershipEvent = {
        ...{ namespaceId: null, projectId: null, accessLevel: null, expiresAt: null },
        ...one,
      }
      return { kind: 'membership', projectId: payload.projectId, userId: by, payload }
    }),
  )
}

/** Where a membership is, in the words of its news. */
export function newsPlace({ kind, id }: { readonly kind: 'group' | 'project'; readonly id: number }) {
  return kind === 'group' ? { namespaceId: id } : { projectId: id }
}
