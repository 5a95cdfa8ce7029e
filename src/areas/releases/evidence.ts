import { createHash } from 'node:crypto'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import { enqueue, type Task } from '../../tasks/index.ts'

const collect = 'releases:collect-evidence'
/** Milliseconds by which a release may lie back and still be one of now. */
const historical = 60_000

/** Evidence of a release is collected at the moment of the release; of one that was long ago there is none. */
export async function collectWhenReleased(
  db: Database,
  { id, released_at }: { readonly id: number; readonly released_at: string },
): Promise<void> {
  const at = new Date(released_at)
  const ahead = at.getTime() - Date.now()
  if (ahead > 0) await enqueue(db.writer, collect, { release: id }, { runAt: at, key: `${collect}:${id}` })
  else if (ahead > -historical) await collectEvidence(db, id)
}

export function evidenceTask(db: Database): Task {
  return { name: collect, run: (payload) => collectEvidence(db, (payload as { release: number }).release) }
}

/** Writes down what the release is now; nothing where it is gone. */
export async function collectEvidence(db: Database, id: number): Promise<void> {
  const { rows } = await sql<{ summary: object }>`
    select json_build_object('release', json_build_object(
      'id', r.id, 'tag_name', r.tag, 'name', coalesce(r.name, r.tag), 'description', r.description, 'sha', r.sha,
      'created_at', r.created_at, 'released_at', r.released_at,
      'project', json_build_object('id', p.id, 'name', p.name, 'description', p.description,
        'created_at', p.created_at),
      'milestones', coalesce((
        select json_agg(json_build_object('id', m.id, 'iid', m.iid, 'title', m.title, 'description', m.description,
          'state', m.state, 'due_date', m.due_date, 'created_at', m.created_at,
          'issues', coalesce((
            select json_agg(json_build_object('id', i.id, 'iid', i.iid, 'title', i.title, 'state', i.state,
              'created_at', i.created_at) order by i.id)
            from issues i where i.milestone_id = m.id), '[]')) order by m.id)
        from release_milestones x join milestones m on m.id = x.milestone_id where x.release_id = r.id), '[]')))
      as summary
    from releases r join projects p on p.id = r.project_id where r.id = ${id}`.execute(db.reader)
  const found = rows[0]
  if (found === undefined) return
  const summary = JSON.stringify(found.summary)
  const sha = createHash('sha256').update(summary).digest('hex')
  await sql`
    insert into release_evidences (release_id, sha, summary)
    select r.id, ${sha}, ${summary} from releases r where r.id = ${id}`.execute(db.writer)
}

export async function findEvidence(db: Reader, releaseId: number, id: number): Promise<string | undefined> {
  const { rows } = await sql<{ summary: string }>`
    select e.summary from release_evidences e where e.release_id = ${releaseId} and e.id = ${id}`.execute(db)
  return rows[0]?.summary
}
