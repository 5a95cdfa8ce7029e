import type { ProjectSubject } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { compileEntity } from '../../kernel/endpoint/index.ts'
import { PipelineReference, pipelineSummary, type PipelineSummaryRow } from './entities.ts'
import { danglingSources } from './rules.ts'
import { summaryColumns } from './store.ts'

const reference = compileEntity(PipelineReference)

/** The newest pipeline of a commit on any ref, with what is to be said of the commit. */
export async function lastPipelineOf(
  { db, externalUrl }: { db: Database; externalUrl: () => string },
  project: ProjectSubject,
  sha: string,
): Promise<{ status: string; pipeline: unknown } | undefined> {
  const { rows } = await sql<{ row: PipelineSummaryRow }>`
    select to_json(r) as row from (
      select ${summaryColumns} from ci_pipelines p
      where p.project_id = ${project.id} and p.sha = ${sha} and p.source <> 'parent_pipeline'
        and p.source <> all (${[...danglingSources]}::text[])
      order by p.iid desc limit 1) r`.execute(db.reader)
  const row = rows[0]?.row
  return row && { status: row.status, pipeline: reference(pipelineSummary(row, project, externalUrl())) }
}
