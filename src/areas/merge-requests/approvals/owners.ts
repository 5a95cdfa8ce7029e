import { sql } from '../../../kernel/db/index.ts'
import { changedPaths, type Oid, type Repository } from '../../../git/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import { ownersOfPaths, type OwnedPaths } from '../../code-owners/index.ts'
import type { RequestProject } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'

type Services = Pick<MergeRequestServices, 'db' | 'places' | 'plan'>
type Target = Pick<RequestProject, 'id' | 'storage'>

interface Wanted {
  readonly section: string
  readonly name: string
  readonly required: number
  readonly users: readonly number[]
}

const mostRequired = 100

/**
 * Makes the rules of a request what the file of code owners at the head of its target branch says of the files that it
 * changes. Done for each pair of heads once, when it is found out whether they merge.
 */
export async function syncCodeOwners(
  { db, places, plan }: Services,
  target: Target,
  request: Pick<MergeRequestRow, 'id' | 'head_sha' | 'base_sha' | 'start_sha' | 'author_id'>,
  into: Oid,
): Promise<void> {
  if (!offers(plan, 'code_owners')) return
  const repository = places.of(target)
  const from = (request.base_sha ?? request.start_sha) as Oid
  const owned = await ownersOf({ db, repository }, target.id, into, [from, request.head_sha as Oid])
  const wanted = (owned ?? []).map((lines) => wantedOf(lines, request.author_id))
  await db.transaction(async (tx) => {
    await sql`select m.id from merge_requests m where m.id = ${request.id} for no key update`.execute(tx)
    const { rows } = await sql<Wanted>`
      select r.section, r.name, r.approvals_required as required, array(
        select x.user_id from approval_rule_users x where x.rule_id = r.id order by x.user_id) as users
      from approval_rules r where r.merge_request_id = ${request.id} and r.rule_type = 'code_owner'
      order by r.id`.execute(tx)
    if (JSON.stringify(rows) === JSON.stringify(wanted)) return
    await sql`
      delete from approval_rules r
      where r.merge_request_id = ${request.id} and r.rule_type = 'code_owner'`.execute(tx)
    await sql`
      with wanted as (
        select w.* from jsonb_to_recordset(${JSON.stringify(wanted)})
          w (section text, name text, required int, users bigint[])),
      made as (
        insert into approval_rules (project_id, merge_request_id, rule_type, section, name, approvals_required)
        select ${target.id}, ${request.id}, 'code_owner', w.section, w.name, w.required from wanted w
        on conflict do nothing returning id, section, name)
      insert into approval_rule_users (rule_id, user_id)
      select made.id, owner from wanted w join made on made.section = w.section and made.name = w.name
        cross join unnest(w.users) owner`.execute(tx)
  })
}

/** Where nobody but the author could approve nobody has to. */
function wantedOf(
  { section, pattern, optional, approvalsRequired, owners }: OwnedPaths,
  author: number | null,
): Wanted {
  const others = owners.filter(({ id }) => id !== author).length
  return {
    section,
    name: pattern,
    required: optional ? 0 : Math.min(approvalsRequired, others, mostRequired),
    users: owners.map(({ id }) => id).sort((a, b) => a - b),
  }
}

/** Who owns what differs between two commits. */
export async function ownersOf(
  { db, repository }: { readonly db: Services['db']; readonly repository: Repository },
  projectId: number,
  commit: Oid,
  [from, to]: readonly [Oid, Oid],
): Promise<OwnedPaths[] | undefined> {
  return ownersOfPaths({ db: db.reader, repository }, projectId, commit, async () =>
    (await changedPaths(repository, from, to)).map(({ path }) => path),
  )
}
