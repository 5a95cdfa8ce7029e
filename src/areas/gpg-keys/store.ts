import { onConstraint, sql, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { PublicKey } from './public-key.ts'

export interface GpgKeyRow {
  readonly id: number
  readonly key: string
  readonly created_at: Date | string
}

/** Whose keys: the caller's, or those of the user with this id. */
export type Whose = 'caller' | number

const columns = sql`k.id, k.key, k.created_at`
const of = (whose: Whose) => (whose === 'caller' ? sql`k.user_id = actor.id` : sql`k.user_id = ${whose}`)

export function list(whose: Whose, input: PageInput): Read<GpgKeyRow> {
  return page({ columns, from: sql`from gpg_keys k where ${of(whose)}`, order: sql`k.id` }, input)
}

export function one(whose: Whose, id: number): Read<GpgKeyRow> {
  return rows(sql`select ${columns} from gpg_keys k where ${of(whose)} and k.id = ${id}`)
}

/** 400 for a key that somebody has. */
export async function create(
  db: Writer,
  userId: number,
  { key, fingerprint }: PublicKey,
): Promise<GpgKeyRow> {
  return db
    .insertInto('gpg_keys')
    .values({ user_id: userId, key, fingerprint })
    .returning(['id', 'key', 'created_at'])
    .executeTakeFirstOrThrow()
    .catch(
      onConstraint('gpg_keys_fingerprint', () =>
        invalid({ fingerprint: ['has already been taken'], primary_keyid: ['has already been taken'] }),
      ),
    )
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('gpg_keys').where('id', '=', id).execute()
}
