import type { RawBuilder } from 'kysely'
import { sql, type Statements } from '../kernel/db/index.ts'
import type { Loaded, Read } from '../kernel/endpoint/endpoint.ts'
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

/** The rows of `read` for an entrance found before, and `print` of them; undefined when it is no longer as it was. */
export async function readAgain<Row>(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  mark: Mark,
  read: Read<Row> | undefined,
  print: RawBuilder<unknown> | undefined,
  extent: 'bounded' | undefined,
): Promise<{ readonly loaded: Loaded<Row>; readonly print: string | undefined } | undefined> {
  const rows = read === undefined ? sql`null` : sql`case when current then ${read.sql} end`
  const printed = print === undefined ? sql`` : sql`, case when current then ${print} end as print`
  const columns = sql<{ current: boolean; loaded: unknown; print?: string }>`${rows} as loaded ${printed}`
  const [found] = await db.rows(again(kind, credentials, lookup, mark, columns), extent)
  return found?.current === true ? { loaded: loaded<Row>(found.loaded), print: found.print } : undefined
}

/** Whether an entrance found before is as it was, and what `print` finds is, too. */
export async function isAsBefore(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  mark: Mark & { readonly print: string },
  print: RawBuilder<unknown>,
  extent: 'bounded' | undefined,
): Promise<boolean> {
  const columns = sql<{ same: boolean }>`case when current then ${print} = ${mark.print} end as same`
  const [found] = await db.rows(again(kind, credentials, lookup, mark, columns), extent)
  return found?.same === true
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
