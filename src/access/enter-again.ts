import type { RawBuilder } from 'kysely'
import { sql, type Prepared, type Statements } from '../kernel/db/index.ts'
import type { Loaded, Print, Read } from '../kernel/endpoint/endpoint.ts'
import { loaded } from '../kernel/endpoint/read.ts'
import { actorSource } from './caller.ts'
import type { Credentials } from './credentials.ts'
import { marksOf, sources } from './enter.ts'
import type { AnyKind, Lookup } from './subjects.ts'

/** When an entrance that was found before still holds. */
interface Mark {
  readonly role: number
  readonly marks: string | null
}

/** When an answer that was given before still holds, whoever asks: the subject and what `print` is of are as then. */
export interface Printed {
  readonly print: Print
  readonly subject: string
  readonly text: string
}

/** The rows of `read` for an entrance found before, and `print` of them; undefined when it is no longer as it was. */
export async function readAgain<Row>(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  mark: Mark,
  read: Read<Row> | undefined,
  print: Print | undefined,
  extent: 'bounded' | undefined,
): Promise<{ readonly loaded: Loaded<Row>; readonly printed: Printed | undefined } | undefined> {
  const rows = read === undefined ? sql`null` : sql`case when current then ${read.sql} end`
  const printed =
    print === undefined
      ? sql``
      : sql`, ${kind.version} as version, case when current then ${print.text} end as print`
  const columns = sql<{ loaded: unknown; version?: string; print?: string }>`${rows} as loaded ${printed}`
  const [found] = await db.rows(again(kind, credentials, lookup, mark, columns), extent)
  if (found?.current !== true) return undefined
  return {
    loaded: loaded<Row>(found.loaded),
    printed: print && { print, subject: found.version!, text: found.print! },
  }
}

/** Asks whether an entrance found before is as it was, and what was printed then, too. */
export type Check = Prepared<{ readonly current: boolean; readonly same: boolean | null }>

export function checkOf(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  mark: Mark,
  { print: { holds, bounded }, subject, text }: Printed,
): Check {
  const same = sql`case when current and ${kind.version} = ${subject} then ${holds(text)} end`
  const columns = sql<{ same: boolean | null }>`${same} as same`
  return db.prepare(again(kind, credentials, lookup, mark, columns), bounded ? 'bounded' : undefined)
}

function again<Row>(
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  { role, marks }: Mark,
  columns: RawBuilder<Row>,
): RawBuilder<Row & { current: boolean }> {
  const membership = sql`select ${role}::int as role`
  // Not to be flattened (offset 0): the marks are made once.
  return sql`
    select current, ${columns} ${sources(kind, actorSource(credentials), lookup, membership)}
    left join lateral (select ${marksOf(kind)} = ${marks} as current offset 0) marked on true`
}
