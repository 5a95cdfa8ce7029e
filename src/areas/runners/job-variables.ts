import { jobLogin, type ProjectSubject } from '../../access/index.ts'
import {
  byPrecedence,
  environmentVariables,
  expandVariables,
  jobPredefinedVariables,
  sitePrefix,
  variablesFor,
  type CompiledJob,
  type Variable,
} from '../../ci/index.ts'
import type { StoredVariable } from '../pipelines/index.ts'
import type { HandedJob } from './job-row.ts'

export interface PayloadVariable extends Variable {
  /** False: not to be shown. */
  readonly public: boolean
  readonly masked: boolean
}

export interface JobDeployToken {
  readonly username: string
  readonly token: string
}

export interface VariableParts {
  readonly job: HandedJob
  readonly token: string
  readonly externalUrl: string
  readonly repositoryUrl: string
  /** Host of the registry of images; undefined where it is off. */
  readonly registry: string | undefined
  /** A token of the project or a group above that is meant for jobs. */
  readonly deployToken: JobDeployToken | undefined
  readonly project: ProjectSubject
  /** Known before the pipeline was. */
  readonly predefined: readonly Variable[]
  readonly dotenv: readonly Variable[]
  readonly ofProject: readonly StoredVariable[]
  /** Given to the pipeline, then to the job. */
  readonly given: readonly Variable[]
}

/** The job's variables from low to high precedence (completions, 2.7), each once, expanded; or why they cannot be. */
export function jobVariables(parts: VariableParts): { variables: PayloadVariable[] } | { error: string } {
  const { job, token } = parts
  const { definition } = job
  const shown = (variable: Variable): PayloadVariable => ({ ...variable, public: true, masked: false })
  const hidden = (variable: Variable, masked = false): PayloadVariable => ({
    ...variable,
    public: false,
    masked,
  })
  const environment = definition.environment
  const ofProject = variablesFor(environment?.expandedName ?? null, parts.ofProject)
  const persisted = [
    { key: 'CI_JOB_ID', value: String(job.id) },
    { key: 'CI_JOB_URL', value: `${parts.externalUrl}/${parts.project.fullPath}/-/jobs/${job.id}` },
  ]
  const result = expandVariables(
    byPrecedence<PayloadVariable>({
      predefined: [
        ...parts.predefined.map(shown),
        ...pipelineVariables(parts).map(shown),
        ...jobPredefinedVariables(definition).map(shown),
        ...runnerVariables(parts).map(shown),
        ...jobFacts(parts).map(shown),
        hidden({ key: 'CI_REPOSITORY_URL', value: parts.repositoryUrl }),
        ...(environment === null ? [] : environmentVariables(environment).map(shown)),
        ...storedEnvironment(job).map(shown),
      ],
      file: definition.variables.map(shown),
      dotenv: parts.dotenv.map(shown),
      stored: ofProject.map(({ environmentScope: _, place: _place, masked, ...variable }) =>
        hidden(variable, masked),
      ),
      given: parts.given.map((variable) => hidden(variable)),
      persisted: [
        ...persisted.map(shown),
        hidden({ key: 'CI_JOB_TOKEN', value: token }, true),
        ...(parts.registry === undefined
          ? []
          : [
              shown({ key: 'CI_REGISTRY_USER', value: jobLogin }),
              hidden({ key: 'CI_REGISTRY_PASSWORD', value: token }, true),
            ]),
        ...(parts.deployToken === undefined
          ? []
          : [
              shown({ key: 'CI_DEPLOY_USER', value: parts.deployToken.username }),
              hidden({ key: 'CI_DEPLOY_PASSWORD', value: parts.deployToken.token }, true),
            ]),
      ],
    }),
  )
  return 'error' in result ? result : { variables: result.variables }
}

/** What only the environment itself knows. */
function storedEnvironment({ environment, definition }: HandedJob): Variable[] {
  if (environment === null) return []
  const { id, tier, external_url: url } = environment
  return [
    { key: 'CI_ENVIRONMENT_ID', value: String(id) },
    ...(definition.environment?.deploymentTier == null ? [{ key: 'CI_ENVIRONMENT_TIER', value: tier }] : []),
    ...(definition.environment?.url == null && url !== null
      ? [{ key: 'CI_ENVIRONMENT_URL', value: url }]
      : []),
  ]
}

function pipelineVariables({ job, project, externalUrl }: VariableParts): Variable[] {
  const { pipeline } = job
  return [
    { key: 'CI_PIPELINE_ID', value: String(pipeline.id) },
    { key: 'CI_PIPELINE_URL', value: `${externalUrl}/${project.fullPath}/-/pipelines/${pipeline.id}` },
    { key: 'CI_PIPELINE_CREATED_AT', value: instant(pipeline.created_at) },
    ...(pipeline.name === null ? [] : [{ key: 'CI_PIPELINE_NAME', value: pipeline.name }]),
    ...(pipeline.trigger_hint === null
      ? []
      : [{ key: 'CI_TRIGGER_SHORT_TOKEN', value: pipeline.trigger_hint }]),
  ]
}

function jobFacts({ job, predefined }: VariableParts): Variable[] {
  const startedAt = instant(job.started_at)
  const { image, when, pages } = job.definition
  return [
    { key: 'CI_SERVER', value: 'yes' },
    { key: 'CI_JOB_STARTED_AT', value: startedAt },
    { key: 'CI_JOB_STARTED_AT_SLUG', value: startedAt.toLowerCase().replaceAll(/[^a-z0-9]/g, '-') },
    { key: 'CI_JOB_TIMEOUT', value: String(job.timeout) },
    ...(image === null ? [] : [{ key: 'CI_JOB_IMAGE', value: image.name }]),
    ...siteVariables(pages, predefined),
    ...(when === 'manual' ? [{ key: 'CI_JOB_MANUAL', value: 'true' }] : []),
  ]
}

/** What a job publishes below a prefix is not where the site of its project is. */
function siteVariables(pages: CompiledJob['pages'], predefined: readonly Variable[]): Variable[] {
  const prefix = pages === null || pages === true ? undefined : pages['pathPrefix']
  const site = predefined.find(({ key }) => key === 'CI_PAGES_URL')
  if (typeof prefix !== 'string' || sitePrefix(prefix) === '' || site === undefined) return []
  return [{ key: site.key, value: `${site.value}/${sitePrefix(prefix)}` }]
}

function runnerVariables({ job: { runner } }: VariableParts): Variable[] {
  return [
    { key: 'CI_RUNNER_ID', value: String(runner.id) },
    { key: 'CI_RUNNER_DESCRIPTION', value: runner.description ?? '' },
    { key: 'CI_RUNNER_TAGS', value: JSON.stringify(runner.tag_list) },
    { key: 'CI_RUNNER_SHORT_TOKEN', value: runner.token_hint },
    ...(runner.version === null ? [] : [{ key: 'CI_RUNNER_VERSION', value: runner.version }]),
    ...(runner.revision === null ? [] : [{ key: 'CI_RUNNER_REVISION', value: runner.revision }]),
    ...(runner.platform === null || runner.architecture === null
      ? []
      : [{ key: 'CI_RUNNER_EXECUTABLE_ARCH', value: `${runner.platform}/${runner.architecture}` }]),
  ]
}

function instant(time: string): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
