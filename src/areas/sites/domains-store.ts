import { onConstraint, sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'

export interface DomainRow {
  readonly id: number
  readonly project_id: number
  readonly domain: string
  readonly verification_code: string
  readonly verified: boolean
  readonly enabled_until: Date | null
}

const columns = sql`
  o.id, o.project_id, o.domain, o.verification_code, o.verified_at is not null as verified, o.enabled_until`

/** Read together with the caller's access: `subject` is the project. */
export function listOfProject(input: PageInput): Read<DomainRow> {
  return page(
    { columns, from: sql`from site_domains o where o.project_id = subject.id`, order: sql`o.domain` },
    input,
  )
}

/** Of all projects, or the one of this name. */
export function listOfAll(domain: string | undefined, input: PageInput): Read<DomainRow> {
  const only = domain === undefined ? sql`true` : sql`o.domain = ${domain.toLowerCase()}`
  return page({ columns, from: sql`from site_domains o where ${only}`, order: sql`o.id` }, input)
}

export function ofName(domain: string): Read<DomainRow> {
  return rows(sql`
    select ${columns} from site_domains o where o.project_id = subject.id and o.domain = ${domain.toLowerCase()}`)
}

export async function find(db: Reader, id: number): Promise<DomainRow | undefined> {
  const result = await sql<DomainRow>`select ${columns} from site_domains o where o.id = ${id}`.execute(db)
  return result.rows[0]
}

export async function create(
  tx: Tx,
  { projectId, domain, code }: { readonly projectId: number; readonly domain: string; readonly code: string },
): Promise<DomainRow> {
  const result = await sql<DomainRow>`
    insert into site_domains as o (project_id, domain, verification_code) values (${projectId}, ${domain}, ${code})
    returning ${columns}`
    .execute(tx)
    .catch(onConstraint('site_domains_domain', () => invalid({ domain: ['has already been taken'] })))
    .catch(onConstraint('site_domains_project_id_fkey', () => notFound('Project')))
  return result.rows[0]!
}

export async function remove(db: Database, id: number): Promise<void> {
  await sql`delete from site_domains o where o.id = ${id}`.execute(db.writer)
}

/** Days that a proof holds; it is looked for anew before they are over. */
const held = 7
const ahead = 3

/** What was found out about a domain; without a proof it stays in use until the last one has ended. */
export async function noteCheck(db: Database, id: number, proven: boolean): Promise<DomainRow | undefined> {
  const result = await sql<DomainRow>`
    update site_domains o set checked_at = now(),
      verified_at = case when ${proven} then now() end,
      enabled_until = case
        when ${proven} then greatest(o.enabled_until, now() + make_interval(days => ${held}))
        when o.enabled_until > now() then o.enabled_until end
    where o.id = ${id} returning ${columns}`.execute(db.writer)
  return result.rows[0]
}

/** Those that are new and not proven, and those whose proof ends soon; what was looked at last comes last. */
export async function due(db: Reader): Promise<number[]> {
  const result = await sql<{ id: number }>`
    select o.id from site_domains o
    where o.verified_at is null and o.created_at > now() - make_interval(days => ${held})
      or o.enabled_until < now() + make_interval(days => ${ahead})
    order by o.checked_at nulls first limit 100`.execute(db)
  return result.rows.map(({ id }) => id)
}
