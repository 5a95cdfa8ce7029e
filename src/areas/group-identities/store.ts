import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'

export interface IdentityRow {
  readonly extern_uid: string
  readonly user_id: number
}

const columns = sql`i.extern_uid, i.user_id`
const ofSubject = sql`
  from saml_identities i join saml_providers p on p.id = i.saml_provider_id and p.namespace_id = subject.id`

export function list(input: PageInput): Read<IdentityRow> {
  return page({ columns, from: ofSubject, order: sql`i.id` }, input)
}

export function one(uid: string): Read<IdentityRow & { readonly id: number }> {
  return rows(sql`select i.id, ${columns} ${ofSubject} where lower(i.extern_uid) = lower(${uid})`)
}

const taken = () => invalid({ extern_uid: ['has already been taken'] })

/** Whether the user is a member of the group or of anything in it. */
export async function belongs(db: Reader, groupId: number, userId: number): Promise<boolean> {
  const { rows: found } = await sql`
    select from members m left join projects p on p.id = m.project_id
    join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id)
    where m.user_id = ${userId} and n.traversal_ids @> array[${groupId}::bigint] limit 1`.execute(db)
  return found.length > 0
}

/** Says who a member is at the sign-in of the group, which has one from then on. */
export async function add(
  tx: Tx,
  groupId: number,
  { user_id: userId, extern_uid: uid }: IdentityRow,
): Promise<void> {
  await sql`
    with made as (
      insert into saml_providers (namespace_id) values (${groupId})
      on conflict (namespace_id) do update set namespace_id = excluded.namespace_id returning id)
    insert into saml_identities (saml_provider_id, user_id, extern_uid) select made.id, ${userId}, ${uid} from made`
    .execute(tx)
    .catch(onConstraint('saml_identities_uid', taken))
    .catch(onConstraint('saml_identities_user', () => invalid({ user_id: ['has already been taken'] })))
}

export async function rename(db: Writer, id: number, uid: string): Promise<void> {
  await sql`update saml_identities set extern_uid = ${uid} where id = ${id}`
    .execute(db)
    .catch(onConstraint('saml_identities_uid', taken))
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('saml_identities').where('id', '=', id).execute()
}

export function domains(): Read<{ readonly domain: string }> {
  return rows(sql`
    select d.domain from verified_domains d where d.namespace_id = subject.id order by d.domain`)
}

/** These and no others; 400 for one that another group answers for. */
export async function setDomains(tx: Tx, groupId: number, wanted: readonly string[]): Promise<void> {
  await sql`
    delete from verified_domains d
    where d.namespace_id = ${groupId} and d.domain <> all (${[...wanted]}::text[])`.execute(tx)
  const { rows: foreign } = await sql<{ domain: string }>`
    with made as (
      insert into verified_domains (domain, namespace_id)
      select domain, ${groupId}::bigint from unnest(${[...wanted]}::text[]) domain
      on conflict (domain) do nothing)
    select d.domain from verified_domains d
    where d.domain = any (${[...wanted]}::text[]) and d.namespace_id <> ${groupId}`.execute(tx)
  if (foreign.length > 0) throw invalid({ domains: [`${foreign[0]!.domain} has already been taken`] })
}
