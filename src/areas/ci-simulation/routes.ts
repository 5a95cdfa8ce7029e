import { endpoint, may, project } from '../../access/index.ts'
import {
  Either,
  Fields,
  Hash,
  Json,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { pipelineSources } from '../pipelines/index.ts'
import { onlyVariable, variable, Variable, variableFilter, variablesOfKey } from '../variables/index.ts'
import { ExplainedVariable, Simulation } from './entities.ts'
import { explainVariables } from './explain.ts'
import type { SimulationServices } from './index.ts'
import { simulate } from './simulate.ts'

const refuses = { 400: 'You may not run a pipeline there, or there is no such ref; `base` says why' }

export function simulationEndpoints(services: SimulationServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/ci/simulate',
      summary: 'Tell which pipeline would come to be, and why',
      description:
        'Nothing is stored. Every rule is told with what it looked at; values of masked variables never are. A ' +
        'configuration with errors is answered with 200 too; `valid` says so.',
      on: project,
      may: 'create_pipeline',
      params: Fields({
        ref: Text({ blank: false, description: 'Branch or tag' }),
        source: OneOf([...pipelineSources], { default: 'push' }),
        variables: Optional(
          ListOf(
            Fields({
              key: Text(),
              value: Text(),
              variable_type: OneOf(['env_var', 'file'], { default: 'env_var' }),
            }),
          ),
        ),
        changed_files: Optional(
          ListOf(Text(), {
            description: 'Paths that count as changed; without it there is nothing to compare with',
          }),
        ),
        content: Optional(Text({ description: 'Stands in for the configuration of the commit' })),
        inputs: Optional(Hash(Json(), { description: 'Needs the flag ci_inputs_for_pipelines' })),
      }),
      answers: Simulation,
      status: 200,
      refuses,
      handle: async ({ actor, project, params }) =>
        simulate(services, {
          actor,
          project,
          ref: params.ref,
          source: params.source,
          variables: params.variables,
          changedFiles: params.changed_files ?? null,
          content: params.content,
          inputs: params.inputs,
        }),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/variables/explain',
      summary: 'Tell which value each variable would have in a job, and which values it hides',
      description:
        'From low to high precedence as jobs get them. Values are told to those who may see the variables of the ' +
        'project, group or instance that keeps them. Without parameters it is the variable of the key `explain`, where ' +
        'the project has one and the caller may read it.',
      on: project,
      may: 'create_pipeline',
      params: Fields({
        ref: Optional(Text({ description: 'Branch or tag; else the default branch' })),
        job: Optional(Text({ description: 'Name of a job of the configuration; else those of any job' })),
        environment: Optional(Text({ description: "Instead of the job's own" })),
        key: Optional(Text({ description: 'Only this variable' })),
        ...variableFilter,
      }),
      answers: Either(ListOf(ExplainedVariable), Variable),
      refuses: { ...refuses, 404: 'The configuration has no such job' },
      read: () => variablesOfKey('project', 'explain'),
      async handle({ actor, project, params: { filter, ...params }, rows }) {
        const bare = (params.ref ?? params.job ?? params.environment ?? params.key) === undefined
        if (bare && rows.length > 0 && may(actor, 'read_cicd_variables', project)) {
          return variable(onlyVariable('project', rows, filter?.environment_scope), services.cipher)
        }
        const explained = await explainVariables(services, {
          actor,
          project,
          ref: params.ref ?? project.defaultBranch ?? '',
          source: 'push',
          job: params.job ?? null,
          environment: params.environment ?? null,
        })
        return params.key === undefined ? explained : explained.filter(({ key }) => key === params.key)
      },
    }),
  ]
}
