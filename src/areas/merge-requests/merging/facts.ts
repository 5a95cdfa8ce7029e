import { sql } from '../../../kernel/db/index.ts'
import { userOf, type Actor } from '../../../access/index.ts'
import { listCommits, type Commit, type Oid, type Repository } from '../../../git/index.ts'
import { webUrl } from '../entities.ts'
import { closingLine } from '../issues.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import type { MessageFacts, Person } from './messages.ts'

const mostCommits = 100

interface People {
  readonly author: Person | null
  readonly reviewed: readonly Person[]
  readonly approved: readonly Person[]
}

/** What the messages of a merge may tell. */
export async function messageFacts(
  services: MergeRequestServices,
  repository: Repository,
  actor: Actor,
  row: MergeRequestRow,
): Promise<MessageFacts> {
  const person = sql`json_build_object('name', u.name, 'email', coalesce(u.public_email, u.email))`
  const [{ rows }, newest, issues] = await Promise.all([
    sql<People>`
      select (select ${person} from users u where u.id = m.author_id) as author,
        coalesce((select json_agg(${person} order by x.created_at) from merge_request_reviewers x
          join users u on u.id = x.user_id
          where x.merge_request_id = m.id and x.state <> 'unreviewed'), '[]') as reviewed,
        coalesce((select json_agg(${person} order by x.created_at) from merge_request_approvals x
          join users u on u.id = x.user_id where x.merge_request_id = m.id), '[]') as approved
      from merge_requests m where m.id = ${row.id}`.execute(services.db.reader),
    listCommits(repository, {
      revs: [row.head_sha as Oid],
      not: [row.start_sha as Oid],
      limit: mostCommits,
    }),
    closingLine(services, row),
  ])
  const people = rows[0]
  const merger = userOf(actor)
  return {
    row,
    webUrl: webUrl(row, services.externalUrl()),
    mergedBy: { name: merger.name, email: merger.publicEmail ?? merger.email },
    author: people?.author ?? undefined,
    reviewedBy: people?.reviewed ?? [],
    approvedBy: people?.approved ?? [],
    commits: newest.toReversed().map((commit: Commit) => ({
      message: commit.message,
      author: { name: commit.author.name, email: commit.author.email },
      isMerge: commit.parents.length > 1,
    })),
    issues,
  }
}
