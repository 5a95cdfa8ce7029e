import { sql } from '../kernel/db/index.ts'
import { placeVisible, readsInternalNotesOf, readsNoteable, readsWiki, type Readable } from './readers.ts'

const about = (kind: Readable['kind']) =>
  readsNoteable({ kind, id: sql`a.target_id`, projectId: sql`a.project_id`, namespaceId: sql`null::bigint` })

const internal = readsInternalNotesOf({ projectId: sql`a.project_id`, namespaceId: sql`null::bigint` })

/** Whether the caller may hear of activity `a`: who sees what was acted upon, and reads the note where it is one. */
export const activityVisible = sql`(
  case a.kind
    when 'Issue' then ${about('Issue')}
    when 'MergeRequest' then ${about('MergeRequest')}
    when 'Snippet' then ${about('Snippet')}
    when 'Commit' then ${about('Commit')}
    when 'Push' then ${about('Commit')}
    when 'WikiPage' then ${readsWiki(sql`a.project_id`)}
    else ${placeVisible.project(sql`a.project_id`)} end
  and (a.note_id is null or exists (
    select from notes n join discussions d on d.id = n.discussion_id
    where n.id = a.note_id and (not d.internal or ${internal}))))`
