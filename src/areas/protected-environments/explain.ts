import { endpoint, enterById, may, project, userOf, type ProjectSubject } from '../../access/index.ts'
import { guessTier } from '../../ci/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { entryFields, shownEntries, type EntryRow } from './entities.ts'
import type { ProtectionServices } from './index.ts'

const admits = { admits: Flag({ description: 'Lets the user in' }) }

const Explanation = Fields({
  environment: Text(),
  tier: Text({ description: 'By which rules of groups are found' }),
  user_id: Id(),
  allowed: Flag({ description: 'The user may start jobs that deploy there' }),
  rules: ListOf(
    Fields({
      source_type: OneOf('project', 'group'),
      source_full_path: Text(),
      allowed: Flag({ description: 'As far as this rule is concerned' }),
      required_approval_count: Int(),
      deploy_access_levels: ListOf(Fields({ ...entryFields, ...admits })),
      approval_rules: ListOf(Fields({ ...entryFields, required_approvals: Int(), ...admits })),
    }),
    { description: 'Of the project and of the groups above it; all of them have to let the user in' },
  ),
})

/** Whether a user may deploy to an environment: the decision that jobs meet, and the entries that it hangs on. */
export function explanationEndpoint({ db }: ProtectionServices): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/projects/:id/protected_environments/:name/explain',
    summary: 'Explain why a user may deploy to an environment, or may not',
    description: 'The environment need be neither there nor protected.',
    on: project,
    may: 'read_protected_environment',
    plan: planOf.protected_environments,
    checks: ['params', 'credentials', 'subject', 'may'],
    params: Fields({ name: Text(), user_id: Optional(Id({ description: 'The caller otherwise' })) }),
    answers: Explanation,
    refuses: { 404: 'No such user' },
    async handle({ actor, project: { id }, params: { name, user_id: asked } }) {
      const userId = asked ?? userOf(actor).id
      const entered = await enterById<ProjectSubject>(db, project, userId, {
        id: String(id),
        secretDigest: undefined,
      })
      const found = await rulesFor(db.reader, { projectId: id, name }, userId)
      if (entered.actor === undefined || found === undefined) throw notFound('User')
      const { subject } = entered
      const rules = found.rules.map(({ entries, ...rule }) => ({
        ...rule,
        ...shownEntries(entries),
        allowed: entries.some((entry) => entry.action === 'deploy' && entry.admits),
      }))
      const ability = rules.length > 0 ? 'start_job' : 'update_pipeline'
      return {
        environment: name,
        tier: found.tier,
        user_id: userId,
        allowed:
          subject !== undefined &&
          entered.visible &&
          may(entered.actor, ability, subject) &&
          rules.every(({ allowed }) => allowed),
        rules,
      }
    },
  })
}

interface Found {
  readonly tier: string
  readonly rules: readonly {
    readonly source_type: 'project' | 'group'
    readonly source_full_path: string
    readonly required_approval_count: number
    readonly entries: readonly (EntryRow & { readonly admits: boolean })[]
  }[]
}

/** The rules for an environment, and which of their entries let a user in; undefined where there is no such user. */
async function rulesFor(
  db: Reader,
  { projectId, name }: { readonly projectId: number; readonly name: string },
  userId: number,
): Promise<Found | undefined> {
  const { rows } = await sql<Found>`
    select place.tier, coalesce((
      select json_agg(json_build_object('source_type', case when p.id is null then 'group' else 'project' end,
        'source_full_path', coalesce(p.full_path, n.full_path), 'required_approval_count', r.required_approval_count,
        'entries', coalesce((
          select json_agg(json_build_object('id', l.id, 'action', l.action, 'access_level', l.access_level,
            'user_id', l.user_id, 'group_id', l.group_id, 'group_inheritance_type', l.group_inheritance_type,
            'required_approvals', l.required_approvals, 'name', coalesce(lu.name, lg.name),
            'admits', u.admin or environment_entry_admits(l.id, u.id)) order by l.id)
          from protected_environment_entries l left join users lu on lu.id = l.user_id
            left join namespaces lg on lg.id = l.group_id
          where l.protected_environment_id = r.id), '[]')) order by r.id)
      from environment_protections(${projectId}, ${name}, place.tier) x
        join protected_environments r on r.id = x left join projects p on p.id = r.project_id
        left join namespaces n on n.id = r.namespace_id), '[]') as rules
    from users u, lateral (
      select coalesce((
        select e.tier from environments e where e.project_id = ${projectId} and e.name = ${name}),
        ${guessTier(name)}::text) as tier) place
    where u.id = ${userId}`.execute(db)
  return rows[0]
}
