import { sql } from 'kysely'
import { orderBySpecificity, type ScopedVariable } from '../../ci/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
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

interface FactsRow {
  readonly description: string | null
  readonly topics: string[]
  readonly namespace: string
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

/**
 * What a project brings to a pipeline: its description, and the variables of the instance, its groups and its own, low
 * to high. One statement.
 */
export async function projectFacts(
  db: Reader,
  cipher: Cipher,
  projectId: number,
  { protectedRef }: { protectedRef: boolean },
): Promise<{ facts: ProjectFacts; variables: StoredVariable[] }> {
  const { rows } = await sql<FactsRow>`
    select p.description, p.topics, n.full_path as namespace, coalesce((
      select json_agg(json_build_object('level', v.level, 'key', v.key, 'secret', v.secret,
        'variable_type', v.variable_type, 'environment_scope', v.environment_scope, 'masked', v.masked,
        'raw', v.raw, 'hidden', v.hidden, 'protected', v.protected, 'project_id', v.project_id,
        'namespace_id', v.namespace_id) order by v.level, v.id)
      from (${reaching}) v where ${protectedRef} or not v.protected), '[]') as variables
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`.execute(db)
  const row = rows[0]
  if (row === undefined) throw new Error('the project is gone')
  return {
    facts: {
      description: row.description,
      topics: row.topics,
      namespace: row.namespace,
      rootNamespace: row.namespace.split('/', 1)[0]!,
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
