import { sql } from 'kysely'
import {
  branchName,
  branchRef,
  countCommits,
  findCommit,
  findTag,
  isZero,
  parseOid,
  parseRefName,
  resolve,
  tagName,
  type Oid,
} from '../../git/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { PushEvent } from '../repository/index.ts'
import type { PushData } from './entities.ts'
import type { ActivityServices } from './index.ts'

interface Moved {
  readonly ref: string
  readonly oldOid: string
  readonly newOid: string
}

interface Facts {
  readonly storage: string
  readonly default_branch: string | null
  readonly updates: readonly Moved[]
}

const mostCounted = 10_000

const doneTo = ({ oldOid, newOid }: Moved): string =>
  isZero(oldOid as Oid) ? 'created' : isZero(newOid as Oid) ? 'removed' : 'pushed'
const typeOf = (ref: string): string | undefined =>
  ref.startsWith('refs/heads/') ? 'branch' : ref.startsWith('refs/tags/') ? 'tag' : undefined

/**
 * What is listed of a ref that was moved. Of a push that does the same to more refs than the limit one line tells for
 * all of them, which is the first one's.
 */
export async function pushOf(
  { db, places, settings }: ActivityServices,
  { payload, projectId }: DomainEvent<PushEvent>,
): Promise<PushData | undefined> {
  const refType = typeOf(payload.ref)
  if (refType === undefined || projectId === null) return undefined
  const { rows } = await sql<Facts>`
    select p.storage, p.default_branch, coalesce(u.updates, '[]'::jsonb) as updates
    from projects p left join ref_updates u on u.id = ${payload.refUpdateId} where p.id = ${projectId}`.execute(
    db.reader,
  )
  const [facts] = rows
  if (facts === undefined) return undefined
  const action = doneTo(payload)
  const alike = facts.updates.filter((one) => typeOf(one.ref) === refType && doneTo(one) === action)
  const none = { commit_from: null, commit_to: null, ref: null, commit_title: null }
  if (alike.length > settings.values.push_event_activities_limit) {
    if (alike[0]!.ref !== payload.ref) return undefined
    return { commit_count: 0, action, ref_type: refType, ...none, ref_count: alike.length }
  }
  const ref = parseRefName(payload.ref)
  const [from, to] = [parseOid(payload.oldOid), parseOid(payload.newOid)]
  if (ref === undefined || from === undefined || to === undefined) return undefined
  const repository = places.of({ id: projectId, storage: facts.storage })
  const head = isZero(to) ? undefined : ((await findTag(repository, to))?.target ?? to)
  const commit = head && (await findCommit(repository, head))
  const main = facts.default_branch === null ? undefined : branchRef(facts.default_branch)
  const base = isZero(from) ? main && main !== ref && (await resolve(repository, main)) : from
  const counted = refType === 'branch' && commit !== undefined
  return {
    commit_count: counted
      ? await countCommits(repository, { revs: [commit.oid], not: base ? [base] : [] }, mostCounted)
      : 0,
    action,
    ref_type: refType,
    commit_from: isZero(from) ? null : from,
    commit_to: isZero(to) ? null : to,
    ref: branchName(ref) ?? tagName(ref) ?? null,
    commit_title: commit?.title ?? null,
    ref_count: null,
  }
}
