import type { RawBuilder } from 'kysely'
import { readsInternalNotesOf, readsNoteable, type Readable } from '../../access/index.ts'
import { plannedByValues, sql } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { isFound, matching, rankOf, type Found } from '../noteables/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'
import type { LoneNoteRow } from '../notes/index.ts'
import type { Where } from './scopes.ts'

const among: Readonly<Record<Where, RawBuilder<unknown>>> = {
  instance: sql`true`,
  group: sql`u.id in (
    select m.user_id from effective_memberships(subject.line, null) m
    union select m.user_id from members m left join projects p on p.id = m.project_id
      join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id)
    where n.traversal_ids @> array[subject.id])`,
  project: sql`u.id in (select m.user_id from effective_memberships(subject.line, subject.id) m)`,
}

/** People whose name or username has these words; of a group and a project those who are members in any way. */
export function people(
  where: Where,
  what: string | Found,
  input: PageInput,
): Read<{ readonly user: BasicUserRow }> {
  const isText = typeof what === 'string'
  const named = isText
    ? matching([sql`u.name`, sql`u.username`], what.replace(/^@/, ''))
    : isFound(sql`u.id`, what)
  return page(
    {
      columns: sql`${basicUserJson('u')} as "user"`,
      from: sql`
        from users u
        where ${named} and u.state = 'active' and u.kind <> 'internal' and ${among[where]}`,
      order: isText ? sql`lower(u.username) = lower(${what}) desc, u.name, u.id` : rankOf(sql`u.id`, what),
    },
    input,
  )
}

const noted: Readonly<Record<Where, RawBuilder<unknown>>> = {
  instance: sql`b.project_id is not null`,
  group: sql`b.project_id in (
    select p.id from projects p join namespaces g on g.id = p.namespace_id where g.traversal_ids @> array[subject.id])`,
  project: sql`b.project_id = subject.id`,
}

const about = (kind: Readable['kind']): RawBuilder<unknown> =>
  readsNoteable({
    kind,
    id: sql`b.target_id`,
    projectId: sql`b.project_id`,
    namespaceId: sql`b.namespace_id`,
  })

/**
 * What people said in projects, about what the caller reads. Rare words are found by an index of words, common ones
 * from the newest note on, so the plan hangs on the words.
 */
export function notes(
  where: Where,
  what: string | Found,
  sort: 'asc' | 'desc',
  input: PageInput,
): Read<LoneNoteRow> {
  const direction = sql.raw(sort)
  const isText = typeof what === 'string'
  const said = isText ? matching([sql`n.body`], what) : isFound(sql`n.id`, what)
  const internal = readsInternalNotesOf({ projectId: sql`b.project_id`, namespaceId: sql`b.namespace_id` })
  return page(
    {
      columns: sql`
        ${plannedByValues} n.id, n.body, n.created_at, n.updated_at, n.resolvable, d.internal, b.target_id as noteable_id,
        b.kind as noteable_type, b.project_id, ${basicUserJson('u')} as author,
        case when d.position is not null then 'DiffNote' when not d.individual then 'DiscussionNote' end as type,
        case b.kind when 'Issue' then (select i.iid from issues i where i.id = b.target_id)
          when 'MergeRequest' then (select m.iid from merge_requests m where m.id = b.target_id) end as noteable_iid`,
      from: sql`
        from noteables b join notes n on n.noteable_id = b.id join discussions d on d.id = n.discussion_id
          join users u on u.id = n.author_id
        where ${noted[where]} and not n.system and ${said}
          and (u.state <> 'banned' or actor.admin) and (not d.internal or ${internal})
          and case b.kind when 'Issue' then ${about('Issue')} when 'MergeRequest' then ${about('MergeRequest')}
            when 'Snippet' then ${about('Snippet')} else ${about('Commit')} end`,
      order: isText ? sql`n.created_at ${direction}, n.id ${direction}` : rankOf(sql`n.id`, what),
    },
    input,
  )
}
