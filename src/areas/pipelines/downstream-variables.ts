import {
  byPrecedence,
  environmentVariables,
  expandText,
  expandVariables,
  jobPredefinedVariables,
  variablesFor,
  type Variable,
} from '../../ci/index.ts'
import type { GivenVariable } from './pipeline-request.ts'
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
    pipelineUrl,
    predefined,
    dotenv,
    ofProject,
    given,
  }: {
    readonly pipelineUrl: string
    readonly predefined: readonly Variable[]
    /** What jobs before it have reported. */
    readonly dotenv: readonly Variable[]
    readonly ofProject: readonly StoredVariable[]
    readonly given: readonly GivenVariable[]
  },
): BridgeVariables | { readonly error: string } {
  const { environment } = definition
  const known = expandVariables<Variable>(
    byPrecedence<Variable>({
      predefined: [
        ...predefined,
        // Of the parent, which the jobs of a child name when they want what its jobs have made.
        { key: 'CI_PIPELINE_ID', value: String(pipeline.id) },
        { key: 'CI_PIPELINE_URL', value: pipelineUrl },
        ...jobPredefinedVariables(definition),
        ...(environment === null ? [] : environmentVariables(environment)),
      ],
      file: definition.variables,
      dotenv,
      stored: variablesFor(environment?.expandedName ?? null, ofProject),
      given: given.map(asVariable),
    }),
  )
  if ('error' in known) return known
  const expand = (text: string): string => expandText(text, known.variables)
  const { forward } = definition.bridge!
  const found = new Map<string, GivenVariable>()
  for (const { key, value, raw = false } of forward.yamlVariables ? definition.variables : []) {
    found.set(key, { key, value: raw ? value : expand(value), variable_type: 'env_var', raw })
  }
  for (const { key, value } of forward.pipelineVariables ? dotenv : []) {
    found.set(key, { key, value, variable_type: 'env_var', raw: true })
  }
  for (const variable of forward.pipelineVariables ? given : []) {
    found.set(variable.key, variable.raw === true ? variable : { ...variable, value: expand(variable.value) })
  }
  return { expand, forwarded: [...found.values()] }
}

function asVariable({ key, value, variable_type, raw = false }: GivenVariable): Variable {
  return { key, value, ...(raw && { raw }), ...(variable_type === 'file' && { file: true }) }
}
