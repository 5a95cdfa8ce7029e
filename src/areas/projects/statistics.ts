import { endpoint, project } from '../../access/index.ts'
import { countCommits, findCommit, parseRev, storedSize } from '../../git/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { Fields, Int, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { enqueue, type Events, type Schedule, type Task } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'

export interface StatisticsServices {
  readonly db: Database
  readonly events: Events
  readonly places: RepositoryPlaces
}

const measureTask = 'projects:measure'
const measureAll = 'projects:measure-all'
const projectsAtOnce = 500

const sizes = [
  'repository_size',
  'wiki_size',
  'lfs_objects_size',
  'job_artifacts_size',
  'pipeline_artifacts_size',
  'packages_size',
  'snippets_size',
  'uploads_size',
  'container_registry_size',
] as const

const sizeFields = Object.fromEntries(sizes.map((name) => [name, Int()])) as Record<
  (typeof sizes)[number],
  ReturnType<typeof Int>
>

export const Statistics = Fields({
  commit_count: Int(),
  storage_size: Int({ description: 'All sizes together, in bytes' }),
  ...sizeFields,
})

export const GroupStatistics = Fields({
  storage_size: Int({ description: 'All sizes together, in bytes' }),
  ...sizeFields,
})

export type GroupStatisticsRow = Readonly<Record<(typeof sizes)[number], number>>
export type StatisticsRow = Readonly<Record<(typeof sizes)[number] | 'commit_count', number>>

/** Of project `p`: what was measured last, zeroes before that. Pipelines keep no files of their own. */
export const statisticsColumn = sql`(
  select json_build_object('commit_count', coalesce(s.commit_count, 0),
    'repository_size', coalesce(s.repository_size, 0), 'wiki_size', coalesce(w.size, 0),
    'lfs_objects_size', coalesce(s.lfs_objects_size, 0), 'job_artifacts_size', coalesce(s.job_artifacts_size, 0),
    'pipeline_artifacts_size', 0, 'packages_size', coalesce(s.packages_size, 0), 'snippets_size', coalesce(s.snippets_size, 0),
    'uploads_size', coalesce(s.uploads_size, 0), 'container_registry_size', coalesce(s.container_registry_size, 0))
  from (select 1) one left join project_statistics s on s.project_id = p.id left join wikis w on w.project_id = p.id
  ) as statistics`

/** Of group `n` with all that lies below, of what was measured last. */
export const groupStatisticsColumn = sql`(
  select json_build_object('repository_size', coalesce(sum(s.repository_size), 0), 'wiki_size', coalesce(sum(w.size), 0),
    'lfs_objects_size', coalesce(sum(s.lfs_objects_size), 0),
    'job_artifacts_size', coalesce(sum(s.job_artifacts_size), 0), 'pipeline_artifacts_size', 0,
    'packages_size', coalesce(sum(s.packages_size), 0), 'snippets_size', coalesce(sum(s.snippets_size), 0),
    'uploads_size', coalesce(sum(s.uploads_size), 0),
    'container_registry_size', coalesce(sum(s.container_registry_size), 0))
  from namespaces below join projects p on p.namespace_id = below.id
  left join project_statistics s on s.project_id = p.id left join wikis w on w.project_id = p.id
  where below.traversal_ids @> array[n.id])`

export function groupStatisticsEntity(row: GroupStatisticsRow): Record<string, number> {
  return { storage_size: Object.values(row).reduce((sum, size) => sum + size, 0), ...row }
}

export function statisticsEntity(row: StatisticsRow): Record<string, number> {
  const { commit_count, ...rest } = row
  const storage_size = Object.values(rest).reduce((sum, size) => sum + size, 0)
  return { commit_count, storage_size, ...rest }
}

/** Projects are measured when something was pushed to them, and every night for what else came in. */
export function statisticsTasks(services: StatisticsServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const { db, events } = services
  events.subscribe('push', 'projects:measure-pushed', async ({ projectId }) => {
    if (projectId === null) return
    // Of many pushes in a row the last one's is enough.
    await enqueue(db.writer, measureTask, { id: projectId }, { key: `${measureTask} ${projectId}` })
  })
  return {
    endpoints: [
      endpoint({
        method: 'POST',
        path: '/projects/:id/repository_size',
        summary: 'Measure anew what a project takes',
        on: project,
        may: 'admin_project',
        answers: Statistics,
        async handle({ project: { id } }) {
          await measure(services, id)
          const [row] = await db.rows(
            sql<{ statistics: StatisticsRow }>`select ${statisticsColumn} from projects p where p.id = ${id}`,
          )
          if (row === undefined) throw notFound('Project')
          return statisticsEntity(row.statistics)
        },
      }),
    ],
    tasks: [
      { name: measureTask, run: (payload) => measure(services, (payload as { id: number }).id) },
      {
        name: measureAll,
        async run() {
          for (let last = 0; ;) {
            const { rows } = await sql<{ id: number }>`
              select p.id from projects p where p.id > ${last} order by p.id limit ${projectsAtOnce}`.execute(
              db.reader,
            )
            for (const { id } of rows) await measure(services, id)
            if (rows.length < projectsAtOnce) return
            last = rows.at(-1)!.id
          }
        },
      },
    ],
    schedules: [{ task: measureAll, pattern: '33 2 * * *' }],
  }
}

async function measure({ db, places }: StatisticsServices, id: number): Promise<void> {
  const { rows } = await sql<{ storage: string; snippets: { id: number; storage: string }[] | null }>`
    select p.storage, (
      select json_agg(json_build_object('id', s.id, 'storage', s.storage)) from snippets s where s.project_id = p.id
      ) as snippets
    from projects p where p.id = ${id}`.execute(db.reader)
  const project = rows[0]
  if (project === undefined) return
  const repository = places.of({ id, storage: project.storage })
  const repositorySize = await storedSize(repository)
  let snippetsSize = 0
  for (const { id: snippet, storage } of project.snippets ?? [])
    snippetsSize += await storedSize(places.of({ id: `snippet-${snippet}`, storage }))
  const head = repositorySize === 0 ? undefined : await findCommit(repository, parseRev('HEAD')!)
  const commits = head === undefined ? 0 : await countCommits(repository, { revs: [head.oid] })
  await keep(db, id, { commits, repositorySize, snippetsSize })
}

interface Measured {
  readonly commits: number
  readonly repositorySize: number
  readonly snippetsSize: number
}

/** Together with what the database knows itself; what lists are ordered by goes to the project. */
async function keep(
  db: Database,
  id: number,
  { commits, repositorySize, snippetsSize }: Measured,
): Promise<void> {
  await sql`
    with measured as (
      select p.id, ${commits}::bigint as commit_count, ${repositorySize}::bigint as repository_size,
        ${snippetsSize}::bigint as snippets_size,
        coalesce((select w.size from wikis w where w.project_id = p.id), 0) as wiki_size,
        (select coalesce(sum(o.size), 0) from lfs_links l join lfs_objects o on o.oid = l.oid
          where l.project_id = p.id) as lfs_objects_size,
        (select coalesce(sum(a.size), 0) from ci_job_artifacts a where a.project_id = p.id) as job_artifacts_size,
        (select coalesce(sum(u.size), 0) from uploads u where u.project_id = p.id) as uploads_size,
        (select coalesce(sum(f.size), 0) from packages k join package_files f on f.package_id = k.id
          where k.project_id = p.id) as packages_size,
        (select coalesce(sum(b.size), 0) from container_blobs b where b.digest in (
          select l.digest from container_blob_links l join container_repositories r on r.id = l.repository_id
          where r.project_id = p.id)) as container_registry_size
      -- Held, so that it is not deleted in this very moment.
      from projects p where p.id = ${id} for no key update of p),
    ordered as (
      update projects p set repository_size = m.repository_size, wiki_size = m.wiki_size,
        packages_size = m.packages_size, storage_size = m.repository_size + m.wiki_size + m.lfs_objects_size
          + m.job_artifacts_size + m.packages_size + m.snippets_size + m.uploads_size + m.container_registry_size
      from measured m where p.id = m.id)
    insert into project_statistics (project_id, commit_count, repository_size, snippets_size, lfs_objects_size,
      job_artifacts_size, uploads_size, packages_size, container_registry_size)
    select m.id, m.commit_count, m.repository_size, m.snippets_size, m.lfs_objects_size, m.job_artifacts_size,
      m.uploads_size, m.packages_size, m.container_registry_size
    from measured m
    on conflict (project_id) do update set commit_count = excluded.commit_count,
      repository_size = excluded.repository_size, snippets_size = excluded.snippets_size,
      lfs_objects_size = excluded.lfs_objects_size, job_artifacts_size = excluded.job_artifacts_size,
      uploads_size = excluded.uploads_size, packages_size = excluded.packages_size,
      container_registry_size = excluded.container_registry_size,
      measured_at = now()`.execute(db.writer)
}
