import type { Actor, ProjectSubject } from '../../access/index.ts'
import type { CompiledPipeline } from '../../ci/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { requestContext, type Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'

export interface ValidationServices {
  readonly db: Database
  readonly outbound: Outbound
  readonly settings: Settings
  readonly plan: Plan
  readonly log: Logger
}

export interface PipelineToValidate {
  readonly project: ProjectSubject
  readonly actor: Actor
  readonly ref: string
  readonly sha: string
  readonly source: string
  readonly made: CompiledPipeline
}

/** Seconds that the server may take, unless the settings say how many. */
const usualTimeout = 5
const rejected = 406

/**
 * Asks the server that the settings name whether a pipeline may be made (completions of part 3, 8.5). Only its clear no
 * is one: what is out of order there must not stop everybody's work.
 */
export async function isRejected(
  services: ValidationServices,
  pipeline: PipelineToValidate,
): Promise<boolean> {
  const { outbound, settings, log } = services
  const {
    external_pipeline_validation_service_url: url,
    external_pipeline_validation_service_token: token,
    external_pipeline_validation_service_timeout: timeout,
    silent_mode_enabled: silent,
  } = settings.values
  // In silent mode nothing is posted to anybody.
  if (url === null || silent) return false
  const got = await outbound.postJson(url, await question(services, pipeline), {
    maximumBytes: 0,
    timeout: 1000 * Number(timeout ?? usualTimeout),
    headers: {
      ...(token !== null && { 'x-gitlab-token': token }),
      'x-request-id': requestContext()?.id ?? '',
    },
  })
  if ('status' in got) {
    if (got.status === rejected) return true
    if (got.status === 200) return false
  }
  log.warn({ got, project: pipeline.project.id }, 'the validation of a pipeline did not answer as it should')
  return false
}

async function question(
  { db, plan }: ValidationServices,
  { project, actor, ref, sha, source, made }: PipelineToValidate,
): Promise<unknown> {
  const { rows } = await sql<{ project_created_at: string; user_created_at: string | null }>`
    select to_json(p.created_at) #>> '{}' as project_created_at,
      (select to_json(u.created_at) #>> '{}' from users u where u.id = ${actor.user?.id ?? null}) as user_created_at
    from projects p where p.id = ${project.id}`.execute(db.reader)
  const times = rows[0]
  return {
    project: {
      id: project.id,
      path: project.fullPath,
      created_at: times?.project_created_at ?? null,
      shared_runners_enabled: project.settings['shared_runners_enabled'] !== false,
      group_runners_enabled: project.settings['group_runners_enabled'] !== false,
    },
    user: {
      id: actor.user?.id ?? null,
      username: actor.user?.username ?? null,
      email: actor.user?.email ?? null,
      created_at: times?.user_created_at ?? null,
      current_sign_in_ip: null,
      last_sign_in_ip: null,
      sign_in_count: 0,
    },
    credit_card: { similar_cards_count: 0, similar_holder_names_count: 0 },
    pipeline: { sha, ref, type: source },
    builds: made.jobs.map(({ name, stage, image, services, tags, steps }) => ({
      name,
      stage,
      image: image?.name ?? null,
      services: services.map((service) => service.name),
      tag_list: tags,
      script: steps.flatMap((step) => step.script),
    })),
    total_builds_count: made.jobs.length,
    ...(offers(plan, 'plan_of_namespaces') && { namespace: { plan, trial: false } }),
  }
}
