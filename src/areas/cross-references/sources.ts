import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import type { SystemNote } from '../notes/index.ts'

export type Target = SystemNote['on']

/** Something with a text in which others are named. */
export interface Source {
  readonly on: Target
  /** As in `mentioned in issue #5`. */
  readonly called: string
  readonly sign: string
  readonly number: string
  /** Full path of the project or group that it is in. */
  readonly path: string
  readonly text: string
}

interface Row {
  readonly id: number
  readonly number: number
  readonly place_id: number
  readonly path: string
  readonly text: string
}

interface Kind {
  readonly kind: 'Issue' | 'MergeRequest' | 'Epic' | 'Snippet'
  readonly called: string
  readonly sign: string
  readonly inGroup?: true
  readonly columns: RawBuilder<unknown>
  readonly from: RawBuilder<unknown>
}

const inProject = (table: string): RawBuilder<unknown> =>
  sql`${sql.table(table)} t join projects p on p.id = t.project_id`
const title = sql`concat_ws(e'\n\n', t.title, t.description) as text`

const kinds: Readonly<Record<Kind['kind'], Kind>> = {
  Issue: {
    kind: 'Issue',
    called: 'issue',
    sign: '#',
    columns: sql`t.iid as number, t.project_id as place_id, ${title}`,
    from: inProject('issues'),
  },
  MergeRequest: {
    kind: 'MergeRequest',
    called: 'merge request',
    sign: '!',
    columns: sql`t.iid as number, t.project_id as place_id, ${title}`,
    from: inProject('merge_requests'),
  },
  Snippet: {
    kind: 'Snippet',
    called: 'snippet',
    sign: '$',
    columns: sql`t.id as number, t.project_id as place_id, ${title}`,
    from: inProject('snippets'),
  },
  Epic: {
    kind: 'Epic',
    called: 'epic',
    sign: '&',
    inGroup: true,
    columns: sql`t.iid as number, t.namespace_id as place_id, ${title}`,
    from: sql`epics t join namespaces p on p.id = t.namespace_id`,
  },
}

/** A noteable with its own text; undefined when it is gone. */
export async function noteableSource(
  db: Reader,
  kind: Kind['kind'],
  id: number,
): Promise<Source | undefined> {
  const { called, sign, inGroup, columns, from } = kinds[kind]
  const { rows } = await sql<Row>`
    select t.id, p.full_path as path, ${columns} from ${from} where t.id = ${id}`.execute(db)
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    on: {
      kind,
      id: row.id,
      projectId: inGroup === true ? null : row.place_id,
      namespaceId: inGroup === true ? row.place_id : null,
    },
    called,
    sign,
    number: String(row.number),
    path: row.path,
    text: row.text,
  }
}

/** A commit of a project, with its message. */
export function commitSource(
  project: { readonly id: number; readonly fullPath: string },
  { oid, message }: { readonly oid: string; readonly message: string },
): Source {
  return {
    on: { kind: 'Commit', id: null, sha: oid, projectId: project.id, namespaceId: null },
    called: 'commit',
    sign: '@',
    number: oid.slice(0, 8),
    path: project.fullPath,
    text: message,
  }
}

/**
 * What was said about a noteable, in its name; undefined for notes of the service and for internal ones, which are not
 * told of elsewhere.
 */
export async function noteSource(db: Reader, noteId: number): Promise<Source | undefined> {
  const { rows } = await sql<{
    kind: Kind['kind'] | 'Commit'
    target_id: number | null
    sha: string | null
    project_id: number | null
    path: string | null
    body: string
  }>`
    select nb.kind, nb.target_id, nb.commit_sha as sha, nb.project_id, p.full_path as path, n.body
    from notes n join discussions d on d.id = n.discussion_id join noteables nb on nb.id = n.noteable_id
      left join projects p on p.id = nb.project_id
    where n.id = ${noteId} and not n.system and not d.internal`.execute(db)
  const note = rows[0]
  if (note === undefined) return undefined
  if (note.kind === 'Commit') {
    const project = { id: note.project_id!, fullPath: note.path! }
    return commitSource(project, { oid: note.sha!, message: note.body })
  }
  const source = await noteableSource(db, note.kind, note.target_id!)
  return source && { ...source, text: note.body }
}
