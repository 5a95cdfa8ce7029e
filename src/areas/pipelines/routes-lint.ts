import { endpoint, project } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Hash,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { readable, resolveName } from '../repository/index.ts'
import type { PipelineServices } from './index.ts'
import { lint } from './lint.ts'

const LintInclude = Fields({
  type: Text({ description: 'local, file, remote, template, component or artifact' }),
  location: Text(),
  blob: Nullable(Text()),
  raw: Nullable(Text()),
  extra: Hash(Json()),
  context_project: Nullable(Text()),
  context_sha: Nullable(Text()),
})

const LintJob = Fields({
  name: Text(),
  stage: Text(),
  before_script: ListOf(Text()),
  script: ListOf(Text()),
  after_script: ListOf(Text()),
  tag_list: ListOf(Text()),
  only: Optional(Json({ description: 'Not in a dry run' })),
  except: Optional(Json({ description: 'Not in a dry run' })),
  environment: Nullable(Text()),
  when: Text(),
  allow_failure: Flag(),
  needs: Optional(Nullable(ListOf(Json({ description: 'Not in a dry run' })))),
})

const Lint = Fields({
  valid: Flag(),
  merged_yaml: Nullable(Text()),
  errors: ListOf(Text()),
  warnings: ListOf(Text()),
  includes: ListOf(LintInclude),
  jobs: Optional(ListOf(LintJob, { description: 'With include_jobs' })),
})

const options = {
  dry_run: Flag({ default: false, description: 'Go on as for a push to the ref' }),
  include_jobs: Flag({ default: false }),
}

/** What is said of a configuration before anything runs. */
export function lintEndpoints(services: PipelineServices): Endpoint[] {
  const { places } = services
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/ci/lint',
      summary: 'Check the CI/CD configuration of a commit',
      on: project,
      may: 'read_code',
      anonymous: true,
      params: Fields({
        content_ref: Optional(Text({ description: 'Commit, branch or tag; else the default branch' })),
        sha: Optional(Text({ deprecated: true, description: 'Old name of `content_ref`' })),
        dry_run_ref: Optional(Text({ description: 'Branch or tag; else the default branch' })),
        ref: Optional(Text({ deprecated: true, description: 'Old name of `dry_run_ref`' })),
        ...options,
      }),
      rules: {
        mutuallyExclusive: [
          ['content_ref', 'sha'],
          ['dry_run_ref', 'ref'],
        ],
      },
      answers: Lint,
      refuses: { 404: 'Nothing was pushed, or there is no such commit' },
      async handle({ actor, project, params }) {
        const repository = await readable(places, project)
        const sha = await resolveName(repository, params.content_ref ?? params.sha)
        if (sha === undefined) throw notFound(project.repositoryEmpty ? 'Repository' : 'Commit')
        return lint(services, {
          actor,
          project,
          sha,
          ref: params.dry_run_ref ?? params.ref,
          dryRun: params.dry_run,
          includeJobs: params.include_jobs,
        })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/ci/lint',
      summary: 'Check a CI/CD configuration for a project',
      description: 'A configuration with errors is answered with 200 too; `valid` says so.',
      on: project,
      may: 'create_pipeline',
      params: Fields({
        content: Text(),
        ref: Optional(Text({ description: 'Branch or tag; else the default branch' })),
        ...options,
      }),
      answers: Lint,
      status: 200,
      handle: async ({ actor, project, params }) =>
        lint(services, {
          actor,
          project,
          content: params.content,
          ref: params.ref,
          dryRun: params.dry_run,
          includeJobs: params.include_jobs,
        }),
    }),
  ]
}
