import { isAdministrator, type Actor } from '../../access/index.ts'
import { offers } from '../../kernel/config/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { addSeveral, circumstancesOf, mostAtOnce, placeOf, type Place } from '../members/index.ts'
import { batches, recordReader, type RecordFile } from '../project-archives/index.ts'
import type { MemberRecord } from '../relation-exports/index.ts'
import type { TransferRoom } from './services.ts'
import type { Standing } from './standing.ts'

const { objectOf, text, textOrNull, whole, day } = recordReader
const longest = 255

function checkMember(value: unknown): MemberRecord {
  const raw = objectOf(value)
  return {
    username: text(raw, 'username', longest),
    public_email: textOrNull(raw, 'public_email', longest),
    access_level: whole(raw, 'access_level', 0),
    expires_at: day(raw, 'expires_at'),
  }
}

/**
 * Makes members of those who are known here: by an address that they show on the source and have confirmed here, and,
 * when an administrator brings them, by their name. Who is a member already stays what he is.
 */
export async function takeMembers(
  { db, events, plan }: TransferRoom,
  { actor, subject }: Standing,
  { file, relation, taken }: RecordFile,
): Promise<void> {
  const place = placeOf(subject)
  const circumstances = circumstancesOf(place, offers(plan, 'member_fields'))
  for await (const records of batches(file, relation, checkMember, taken)) {
    const known = await knownHere(db.writer, actor, place, records)
    taken.counts[relation]!.imported += known.length
    const newcomers = Map.groupBy(
      known.filter(({ member }) => !member),
      ({ record }) => `${record.access_level} ${record.expires_at ?? ''}`,
    )
    for (const alike of newcomers.values()) {
      const { access_level: accessLevel, expires_at: expiresAt } = alike[0]!.record
      for (let at = 0; at < alike.length; at += mostAtOnce) {
        const names = alike.slice(at, at + mostAtOnce).map(({ id }) => String(id))
        const addition = { actor, place, wish: { accessLevel, expiresAt }, circumstances }
        const { status, message } = await addSeveral({ db, events }, addition, 'id', names)
        if (status === 'error') {
          taken.failed.push({
            relation_name: relation,
            line: taken.counts[relation]!.fetched,
            exception_message: message ?? 'members could not be added',
          })
        }
      }
    }
  }
}

interface Known {
  readonly id: number
  readonly member: boolean
  readonly record: MemberRecord
}

async function knownHere(
  db: Reader,
  actor: Actor,
  place: Place,
  records: readonly MemberRecord[],
): Promise<readonly Known[]> {
  const column = sql.ref(place.kind === 'group' ? 'm.namespace_id' : 'm.project_id')
  const { rows } = await sql<Known>`
    select distinct on (u.id) u.id, g.record,
      exists (select from members m where m.user_id = u.id and ${column} = ${place.id}) as member
    from jsonb_array_elements(${JSON.stringify(records)}::jsonb) with ordinality g (record, at)
    cross join lateral (
      select u.id, 1 as rank from users u
      where lower(u.email) = lower(g.record ->> 'public_email') and u.confirmed_at is not null
      union all
      select e.user_id, 2 from user_emails e
      where lower(e.email) = lower(g.record ->> 'public_email') and e.confirmed_at is not null
      union all
      select u.id, 3 from users u
      where ${isAdministrator(actor)} and lower(u.username) = lower(g.record ->> 'username')
      order by rank limit 1
    ) found join users u on u.id = found.id
    where u.state = 'active' and u.kind = 'human'
    order by u.id, g.at`.execute(db)
  return rows
}
