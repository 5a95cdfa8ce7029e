import type { RawBuilder } from 'kysely'
import { orderBySpecificity, type ScopedVariable } from '../../ci/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { isFrozen, type FreezePeriod } from '../freeze-periods/index.ts'
import { variableSecretContext } from '../variables/index.ts'
import type { ProjectFacts } from './predefined.ts'

/** A variable kept by a project or given to a pipeline, opened. */
export interface StoredVariable extends ScopedVariable {
  readonly masked: boolean
  /** Where it is kept; left out for those of the pipeline. */
  readonly place?: VariablePlace
}

/** The instance (0), then the groups from the top one down, then the project. */
export interface VariablePlace {
  readonly level: number
  /** Null: not of a group. */
  readonly groupId: number | null
  readonly projectId: number | null
  readonly hidden: boolean
  readonly protected: boolean
}

/** The place the values of pipeline variables are sealed for. */
export const pipelineSecretContext = 'ci_pipeline_variables.secret'

interface VariableRow {
  /** 0 for the instance, then the groups from the top one down, then the project. */
  readonly level: number
  readonly key: string
  readonly secret: string
  readonly variable_type: string
  readonly environment_scope: string
  readonly masked: boolean
  readonly raw: boolean
  readonly hidden: boolean
  readonly protected: boolean
  readonly project_id: number | null
  readonly namespace_id: number | null
}

/** What `projectFactsJson` brings. */
export interface FactsRow {
  readonly description: string | null
  readonly topics: string[]
  readonly languages: string[]
  readonly namespace: string
  readonly release_description: string | null
  readonly next_iid: number
  readonly open_merge_requests: string[]
  readonly freeze_periods: FreezePeriod[]
  readonly variables: VariableRow[]
}

const columns = sql`v.id, v.key, v.secret, v.variable_type, v.environment_scope, v.masked, v.raw, v.protected, v.hidden,
  v.project_id, v.namespace_id`

/** The variables that reach project `p` of namespace `n`; one branch for each index. */
const reaching = sql`
  select 0 as level, ${columns} from ci_variables v where v.project_id is null and v.namespace_id is null
  union all
  select array_position(n.traversal_ids, v.namespace_id) as level, ${columns}
  from ci_variables v where v.project_id is null and v.namespace_id = any (n.traversal_ids)
  union all
  select cardinality(n.traversal_ids) + 1 as level, ${columns}
  from ci_variables v where v.project_id = p.id and v.namespace_id is null`

/** Which pipeline it is for. */
interface FactsFor {
  readonly protectedRef: RawBuilder<unknown>
  /** Null: of no tag. */
  readonly tag: RawBuilder<unknown>
  /** Null: of no branch. */
  readonly branch: RawBuilder<unknown>
}

/** What a project brings to a pipeline, sealed, in a statement that knows the project's id. */
export function projectFactsJson(
  projectId: RawBuilder<unknown>,
  { protectedRef, tag, branch }: FactsFor,
): RawBuilder<FactsRow> {
  return sql`(
    select json_build_object('description', p.description, 'topics', p.topics, 'namespace', n.full_path,
      'languages', coalesce((
        select json_agg(lower(s.key) order by s.value::float8 desc)
        from project_languages l, jsonb_each_text(l.shares) s where l.project_id = p.id), '[]'),
      'release_description', (select r.description from releases r where r.project_id = p.id and r.tag = ${tag}),
      'open_merge_requests', coalesce((
        select json_agg(o.path || '!' || o.iid order by o.id desc) from (
          select m.id, m.iid, t.full_path as path from merge_requests m join projects t on t.id = m.project_id
          where m.source_project_id = p.id and m.source_branch = ${branch} and m.state = 'opened'
          order by m.id desc limit 4) o), '[]'),
      'freeze_periods', coalesce((
        select json_agg(json_build_object('freeze_start', f.freeze_start, 'freeze_end', f.freeze_end,
          'cron_timezone', f.cron_timezone)) from freeze_periods f where f.project_id = p.id), '[]'),
      'next_iid', coalesce((
        select c.last_iid from project_counters c where c.project_id = p.id and c.kind = 'pipeline'), 0) + 1,
      'variables', coalesce((
        select json_agg(json_build_object('level', v.level, 'key', v.key, 'secret', v.secret,
          'variable_type', v.variable_type, 'environment_scope', v.environment_scope, 'masked', v.masked,
          'raw', v.raw, 'hidden', v.hidden, 'protected', v.protected, 'project_id', v.project_id,
          'namespace_id', v.namespace_id) order by v.level, v.id)
        from (${reaching}) v where ${protectedRef} or not v.protected), '[]'))
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId})`
}

/**
 * What a project brings to a pipeline: its description, and the variables of the instance, its groups and its own, low
 * to high. One statement.
 */
export async function projectFacts(
  db: Reader,
  cipher: Cipher,
  projectId: number,
  { protectedRef, ref }: { protectedRef: boolean; ref: { name: string; tag: boolean } },
): Promise<OpenedFacts> {
  const about = {
    protectedRef: sql`${protectedRef}::boolean`,
    tag: sql`${ref.tag ? ref.name : null}::text`,
    branch: sql`${ref.tag ? null : ref.name}::text`,
  }
  const { rows } = await sql<{ facts: FactsRow | null }>`
    select ${projectFactsJson(sql`${projectId}`, about)} as facts`.execute(db)
  const row = rows[0]?.facts
  if (row == null) throw new Error('the project is gone')
  return openFacts(cipher, row)
}

export interface OpenedFacts {
  readonly facts: ProjectFacts
  readonly variables: StoredVariable[]
  /** Of the next pipeline, if nobody makes one before. */
  readonly nextIid: number
}

export function openFacts(cipher: Cipher, row: FactsRow): OpenedFacts {
  return {
    nextIid: row.next_iid,
    facts: {
      description: row.description,
      topics: row.topics,
      languages: row.languages,
      namespace: row.namespace,
      rootNamespace: row.namespace.split('/', 1)[0]!,
      releaseDescription: row.release_description,
      openMergeRequests: row.open_merge_requests,
      frozen: isFrozen(row.freeze_periods, new Date()),
    },
    // Who is nearer wins whatever the scopes; these only decide between variables of one place.
    variables: [...Map.groupBy(row.variables, ({ level }) => level).values()].flatMap((ofPlace) =>
      orderBySpecificity(
        ofPlace.map((variable) => ({
          key: variable.key,
          value: cipher.open(variable.secret, variableSecretContext),
          raw: variable.raw,
          file: variable.variable_type === 'file',
          environmentScope: variable.environment_scope,
          masked: variable.masked,
          place: {
            level: variable.level,
            groupId: variable.namespace_id,
            projectId: variable.project_id,
            hidden: variable.hidden,
            protected: variable.protected,
          },
        })),
      ),
    ),
  }
}
