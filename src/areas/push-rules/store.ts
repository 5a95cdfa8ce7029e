import { privateAddress } from '../../access/index.ts'
import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import type { PushRule } from './rules.ts'

export type Place = 'project' | 'group'

export interface PushRuleRow extends PushRule {
  readonly id: number
  readonly project_id: number | null
  readonly created_at: Date | string
}

const columnOf = { project: sql.ref('r.project_id'), group: sql.ref('r.namespace_id') } as const

const columns = sql`
  r.id, r.project_id, r.commit_message_regex, r.commit_message_negative_regex, r.branch_name_regex,
  r.author_email_regex, r.file_name_regex, r.max_file_size, r.deny_delete_tag, r.member_check, r.prevent_secrets,
  r.commit_committer_check, r.commit_committer_name_check, r.reject_unsigned_commits, r.reject_non_dco_commits,
  r.created_at`

function ruleOf(place: Place, id: RawBuilder<unknown>): RawBuilder<PushRuleRow> {
  return sql<PushRuleRow>`select ${columns} from push_rules r where ${columnOf[place]} = ${id}`
}

export function own(place: Place): Read<PushRuleRow> {
  return rows(ruleOf(place, sql`subject.id`))
}

export async function find(db: Reader, place: Place, id: number): Promise<PushRuleRow | undefined> {
  return (await ruleOf(place, sql`${id}`).execute(db)).rows[0]
}

export async function create(
  db: Writer,
  place: Place,
  id: number,
  values: Partial<PushRule>,
): Promise<PushRuleRow> {
  const taken = () =>
    unprocessable(place === 'project' ? 'Project push rule exists' : 'Group push rule exists, try updating')
  await db
    .insertInto('push_rules')
    .values({ ...values, [place === 'project' ? 'project_id' : 'namespace_id']: id })
    .execute()
    .catch(onConstraint('push_rules_of_project', taken))
    .catch(onConstraint('push_rules_of_group', taken))
  return (await find(db, place, id))!
}

export async function change(db: Writer, id: number, values: Partial<PushRule>): Promise<void> {
  await db
    .updateTable('push_rules as r')
    .set({ ...values, updated_at: sql`now()` })
    .where('r.id', '=', id)
    .execute()
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('push_rules as r').where('r.id', '=', id).execute()
}

/** A new project, a fork too, begins with the rule of the nearest group above it that has one. */
export async function inherit(tx: Tx, projectId: number): Promise<void> {
  await sql`
    insert into push_rules (project_id, commit_message_regex, commit_message_negative_regex, branch_name_regex,
      author_email_regex, file_name_regex, max_file_size, deny_delete_tag, member_check, prevent_secrets,
      commit_committer_check, commit_committer_name_check, reject_unsigned_commits, reject_non_dco_commits)
    select p.id, r.commit_message_regex, r.commit_message_negative_regex, r.branch_name_regex, r.author_email_regex,
      r.file_name_regex, r.max_file_size, r.deny_delete_tag, r.member_check, r.prevent_secrets,
      r.commit_committer_check, r.commit_committer_name_check, r.reject_unsigned_commits, r.reject_non_dco_commits
    from projects p join namespaces home on home.id = p.namespace_id
      join push_rules r on r.namespace_id = any (home.traversal_ids)
      join namespaces n on n.id = r.namespace_id
    where p.id = ${projectId}
    order by cardinality(n.traversal_ids) desc limit 1`.execute(tx)
}

/** Those of the addresses (in lower case) that users have shown to be theirs. */
export async function knownEmails(db: Reader, emails: readonly string[]): Promise<Set<string>> {
  const { rows: found } = await sql<{ email: string }>`
    select lower(u.email) as email from users u
    where lower(u.email) = any (${emails}::text[]) and u.confirmed_at is not null
    union
    select lower(u.commit_email) from users u
    where lower(u.commit_email) = any (${emails}::text[]) and u.commit_email <> ${privateAddress}`.execute(db)
  return new Set(found.map(({ email }) => email))
}

/** Which of these users there are. */
export async function existing(db: Reader, ids: readonly number[]): Promise<Set<number>> {
  const { rows: found } = await sql<{ id: number }>`
    select u.id from users u where u.id = any (${[...ids]}::bigint[])`.execute(db)
  return new Set(found.map(({ id }) => id))
}

/** The addresses under which a user commits. */
export async function emailsOf(db: Reader, userId: number): Promise<Set<string>> {
  const { rows: found } = await sql<{ email: string | null }>`
    select unnest(array[case when u.confirmed_at is not null then lower(u.email) end, lower(nullif(u.commit_email, ${privateAddress}))]) as email
    from users u where u.id = ${userId}`.execute(db)
  return new Set(found.flatMap(({ email }) => email ?? []))
}
