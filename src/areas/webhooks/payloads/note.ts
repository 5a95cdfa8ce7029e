import { sql, type Reader } from '../../../kernel/db/index.ts'
import type { NoteEvent } from '../../notes/index.ts'
import { commitOf } from './commits.ts'
import { issueAttributes, issueOf } from './issue.ts'
import { mergeRequestAttributes, mergeRequestOf } from './merge-request.ts'
import {
  hookTime,
  sceneOf,
  shownProject,
  shownRepository,
  shownUser,
  webUrl,
  type Builder,
  type PayloadServices,
  type ProjectRow,
} from './parts.ts'

/** What is talked about, as far as it has to be known to be found. */
export interface Subject {
  readonly noteable_type: string
  readonly noteable_id: number | null
  readonly commit_sha: string | null
  readonly internal: boolean
  readonly storage: string
}

export interface NoteRow extends Subject {
  readonly id: number
  readonly body: string
  readonly author_id: number | null
  readonly system: boolean
  readonly resolved_at: string | null
  readonly resolved_by_id: number | null
  readonly created_at: string
  readonly updated_at: string
  readonly discussion_key: string
  readonly individual: boolean
  readonly line_code: string | null
  readonly position: object | null
  readonly original_position: object | null
  readonly change_position: object | null
  readonly commit_id: string | null
}

export async function noteOf(db: Reader, id: number): Promise<NoteRow | undefined> {
  const { rows } = await sql<{ row: NoteRow }>`
    select to_json(r) as row from (
      select t.id, t.body, t.author_id, t.system, t.resolved_at, t.resolved_by_id, t.created_at, t.updated_at,
        nb.kind as noteable_type, nb.target_id as noteable_id, nb.commit_sha, d.key as discussion_key, d.individual,
        d.internal, d.line_code, d.position, d.original_position, d.change_position, d.commit_id, p.storage
      from notes t join discussions d on d.id = t.discussion_id join noteables nb on nb.id = t.noteable_id
      join projects p on p.id = nb.project_id where t.id = ${id}) r`.execute(db)
  return rows[0]?.row
}

/** Of a comment on an issue, merge request, snippet or commit; what the service itself notes calls nobody. */
export const buildNote: Builder<NoteEvent> = async (services, event) => {
  const { noteId, action } = event.payload
  const scene = await sceneOf(services.db.reader, event)
  const row = await noteOf(services.db.reader, noteId)
  if (scene === undefined || row === undefined || row.system) return []
  const { project, user } = scene
  const about = await aboutOf(services, row, project)
  if (about === undefined) return []
  const web = webUrl(services, project)
  const payload = {
    object_kind: 'note',
    event_type: about.confidential ? 'confidential_note' : 'note',
    user: shownUser(user),
    project_id: project.id,
    project: shownProject(services, project),
    repository: shownRepository(services, project),
    object_attributes: {
      ...noteAttributes(row, project, `${web}/-/${about.path}#note_${row.id}`),
      action,
    },
    [about.key]: about.attributes,
  }
  return [{ trigger: about.confidential ? 'confidential_note' : 'note', payload }]
}

export function noteAttributes(row: NoteRow, project: ProjectRow, url: string): object {
  return {
    id: row.id,
    note: row.body,
    description: row.body,
    noteable_type: row.noteable_type,
    noteable_id: row.noteable_id,
    project_id: project.id,
    author_id: row.author_id,
    line_code: row.line_code,
    commit_id: row.commit_sha ?? row.commit_id,
    discussion_id: row.discussion_key,
    position: row.position,
    original_position: row.original_position,
    change_position: row.change_position,
    type: row.position !== null ? 'DiffNote' : row.individual ? null : 'DiscussionNote',
    system: row.system,
    internal: row.internal,
    resolved_at: hookTime(row.resolved_at),
    resolved_by_id: row.resolved_by_id,
    created_at: hookTime(row.created_at),
    updated_at: hookTime(row.updated_at),
    st_diff: null,
    url,
  }
}

interface About {
  readonly key: 'issue' | 'merge_request' | 'snippet' | 'commit'
  readonly attributes: object | null
  readonly path: string
  readonly confidential: boolean
}

export async function aboutOf(
  services: PayloadServices,
  row: Subject,
  project: ProjectRow,
): Promise<About | undefined> {
  const { reader } = services.db
  const confidential = row.internal
  switch (row.noteable_type) {
    case 'Issue': {
      const issue = await issueOf(reader, row.noteable_id!)
      if (issue === undefined) return undefined
      return {
        key: 'issue',
        attributes: issueAttributes(issue, services, project),
        path: `issues/${issue.iid}`,
        confidential: confidential || issue.confidential,
      }
    }
    case 'MergeRequest': {
      const request = await mergeRequestOf(reader, row.noteable_id!)
      if (request === undefined) return undefined
      const attributes = await mergeRequestAttributes(request, services, project)
      return { key: 'merge_request', attributes, path: `merge_requests/${request.iid}`, confidential }
    }
    case 'Snippet': {
      const { rows } = await sql<{ row: object }>`
        select json_build_object('id', s.id, 'title', s.title, 'description', s.description, 'author_id', s.author_id,
          'project_id', s.project_id, 'visibility_level', s.visibility, 'type', 'ProjectSnippet',
          'created_at', s.created_at, 'updated_at', s.updated_at) as row
        from snippets s where s.id = ${row.noteable_id}`.execute(reader)
      if (rows[0] === undefined) return undefined
      return { key: 'snippet', attributes: rows[0].row, path: `snippets/${row.noteable_id}`, confidential }
    }
    case 'Commit': {
      const repository = services.places.of({ id: project.id, storage: row.storage })
      const attributes = await commitOf(repository, row.commit_sha!, webUrl(services, project))
      return { key: 'commit', attributes, path: `commit/${row.commit_sha}`, confidential }
    }
    default:
      return undefined
  }
}
