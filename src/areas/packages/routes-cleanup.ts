import { sql } from '../../kernel/db/index.ts'
import { endpoint, project } from '../../access/index.ts'
import { Fields, Nullable, OneOf, rows, Timestamp, type Endpoint } from '../../kernel/endpoint/index.ts'
import type { PackageServices } from './index.ts'

const kept = ['all', '1', '10', '20', '30', '40', '50'] as const

interface PolicyRow {
  readonly kept_duplicates: number | null
  readonly next_run_at: string | null
}

const Policy = Fields({
  keep_n_duplicated_package_files: OneOf(kept, {}),
  next_run_at: Nullable(Timestamp()),
})

const policyEntity = ({ kept_duplicates, next_run_at }: PolicyRow) => ({
  keep_n_duplicated_package_files: kept_duplicates === null ? 'all' : String(kept_duplicates),
  next_run_at: kept_duplicates === null ? null : next_run_at,
})

/** How many files of one name a package keeps. */
export function cleanupEndpoints({ db }: PackageServices): Endpoint[] {
  const common = {
    on: project,
    path: '/projects/:id/packages/cleanup_policy',
    may: 'destroy_package',
    answers: Policy,
  } as const
  return [
    endpoint({
      ...common,
      method: 'GET',
      summary: 'Get the cleanup policy of the packages of a project',
      read: () =>
        rows<PolicyRow>(sql`
          select c.kept_duplicates, c.next_run_at from (select) one
          left join package_cleanup_policies c on c.project_id = subject.id`),
      handle: async ({ rows: [policy] }) => policyEntity(policy!),
    }),

    endpoint({
      ...common,
      method: 'PUT',
      summary: 'Change the cleanup policy of the packages of a project',
      params: Fields({ keep_n_duplicated_package_files: OneOf(kept, {}) }),
      async handle({ project, params: { keep_n_duplicated_package_files: chosen } }) {
        const { rows: changed } = await sql<PolicyRow>`
          insert into package_cleanup_policies as c (project_id, kept_duplicates, next_run_at)
          values (${project.id}, ${chosen === 'all' ? null : Number(chosen)}, now() + interval '12 hours')
          on conflict (project_id) do update set kept_duplicates = excluded.kept_duplicates,
            next_run_at = case when c.kept_duplicates is null then excluded.next_run_at else c.next_run_at end
          returning c.kept_duplicates, c.next_run_at`.execute(db.writer)
        return policyEntity(changed[0]!)
      },
    }),
  ]
}
