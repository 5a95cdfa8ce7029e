import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/** Where records go, and who brings them. */
export interface Target {
  readonly projectId: number
  readonly importerId: number
  /** Only administrators may say that others wrote something. */
  readonly asOthers: boolean
}

/** Id of the user of that name, or of who brings it; of the latter always, unless he may speak for others. */
export function userNamed({ importerId, asOthers }: Target, name: RawBuilder<unknown>): RawBuilder<unknown> {
  const own = sql`${importerId}::bigint`
  return asOthers
    ? sql`coalesce((select u.id from users u where lower(u.username) = lower(${name})), ${own})`
    : own
}

/** What somebody else wrote says so. */
export function signed(text: string | null, author: string | null): string | null {
  return author === null ? text : `*Created by: ${author.replaceAll(/[*_[\]<>`]/g, '')}*\n\n${text ?? ''}`
}
