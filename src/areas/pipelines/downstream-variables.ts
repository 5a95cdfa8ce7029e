import type { ProjectSubject } from '../../access/index.ts'
import {
  environmentVariables,
  expandText,
  expandVariables,
  jobPredefinedVariables,
  variablesFor,
  type Variable,
} from '../../ci/index.ts'
import type { GivenVariable } from './create-pipeline.ts'
import type { BridgeRow } from './downstream-store.ts'
import type { StoredVariable } from './variable-source.ts'

export interface BridgeVariables {
  /** A text of the trigger job with its variables put in. */
  expand(text: string): string
  /** What the downstream pipeline is given. */
  readonly forwarded: readonly GivenVariable[]
}

/** The variables of a trigger job, which no runner sees, and those that it hands on; or why they cannot be known. */
export function bridgeVariables(
  { definition, pipeline }: BridgeRow,
  {
    project,
    externalUrl,
    predefined,
    ofProject,
    given,
  }: {
    readonly project: ProjectSubject
    readonly externalUrl: string
    readonly predefined: readonly Variable[]
    readonly ofProject: readonly StoredVariable[]
    readonly given: readonly GivenVariable[]
  },
): BridgeVariables | { readonly error: string } {
  const { environment } = definition
  const known = expandVariables<Variable>([
    ...predefined,
    { key: 'CI_PIPELINE_ID', value: String(pipeline.id) },
    { key: 'CI_PIPELINE_IID', value: String(pipeline.iid) },
    { key: 'CI_PIPELINE_URL', value: `${externalUrl}/${project.fullPath}/-/pipelines/${pipeline.id}` },
    ...jobPredefinedVariables(definition),
    ...(environment === null ? [] : environmentVariables(environment)),
    ...definition.variables,
    ...variablesFor(environment?.expandedName ?? null, ofProject),
    ...given.map(asVariable),
  ])
  if ('error' in known) return known
  const expand = (text: string): string => expandText(text, known.variables)
  const { forward } = definition.bridge!
  const found = new Map<string, GivenVariable>()
  for (const { key, value, raw = false } of forward.yamlVariables ? definition.variables : []) {
    found.set(key, { key, value: raw ? value : expand(value), variable_type: 'env_var', raw })
  }
  for (const variable of forward.pipelineVariables ? given : []) {
    found.set(variable.key, variable.raw === true ? variable : { ...variable, value: expand(variable.value) })
  }
  return { expand, forwarded: [...found.values()] }
}

function asVariable({ key, value, variable_type, raw = false }: GivenVariable): Variable {
  return { key, value, ...(raw && { raw }), ...(variable_type === 'file' && { file: true }) }
}
