import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/**
 * Rows `b` with their users `u`: who takes a seat of this namespace, all whose highest level is above this one, or whose
 * custom role gives more than to read code. `which` picks among the memberships `s`.
 */
export function seatHolders(
  root: RawBuilder<unknown>,
  above: number,
  which: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  return sql`
    (select s.user_id, max(s.access_level) as access_level, min(s.way) as way, min(s.created_at) as first_joined,
      max(s.created_at) as last_joined
    from seat_memberships(${root}) s where ${which} group by s.user_id
    having max(s.access_level) > ${above} or bool_or(s.elevated)) b
    join users u on u.id = b.user_id and u.state = 'active' and u.kind = 'human'`
}
