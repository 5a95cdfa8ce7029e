import { sql } from '../../../kernel/db/index.ts'
import { endpoint, project } from '../../../access/index.ts'
import { repositoryExists, repositoryHealth, type RepositoryHealth } from '../../../git/index.ts'
import {
  Fields,
  Flag,
  Int,
  Json,
  Nullable,
  Text,
  Timestamp,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { RateLimit } from '../../../kernel/lib/rate-limit.ts'
import type { RepositoryServices } from '../services.ts'

const Bitmap = Fields({ has_hash_cache: Flag(), has_lookup_table: Flag(), version: Int() })

const Health = Fields({
  size: Int(),
  references: Fields({ loose_count: Int(), packed_size: Int(), reference_backend: Text() }),
  objects: Fields({
    size: Int(),
    recent_size: Int(),
    stale_size: Int(),
    keep_size: Int(),
    packfile_count: Int(),
    reverse_index_count: Int(),
    cruft_count: Int(),
    keep_count: Int(),
    loose_objects_count: Int(),
    stale_loose_objects_count: Int(),
    loose_objects_garbage_count: Int(),
  }),
  commit_graph: Fields({
    commit_graph_chain_length: Int(),
    has_bloom_filters: Flag(),
    has_generation_data: Flag(),
    has_generation_data_overflow: Flag(),
  }),
  bitmap: Nullable(Bitmap),
  multi_pack_index: Nullable(Fields({ packfile_count: Int(), version: Int() })),
  multi_pack_index_bitmap: Nullable(Bitmap),
  alternates: Json({ description: 'Null: no repository borrows objects of another' }),
  is_object_pool: Flag(),
  last_full_repack: Json({ description: 'Null: packs are put together by their sizes, never all of them' }),
  updated_at: Timestamp(),
})

/** Reports that may be made of one project in an hour: each looks at all files of the repository. */
const mostReports = 5

/** How the repositories of projects are kept, for those who wonder why one is slow or large. */
export function healthEndpoints({ db, places }: RepositoryServices): Endpoint[] {
  const limit = new RateLimit(mostReports, 3600)
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/health',
      summary: 'Get a report about how the repository of a project is kept',
      on: project,
      may: 'admin_project',
      params: Fields({
        generate: Flag({ default: false, description: 'Make a new report, not the last one' }),
      }),
      answers: Health,
      refuses: {
        404: 'There is no repository, or no report yet',
        429: 'More than five reports were made of the project within an hour',
      },
      async handle({ project: subject, params }) {
        const repository = places.of(subject)
        if (!(await repositoryExists(repository))) throw notFound('Repository')
        if (params.generate) {
          limit.use(subject.id)
          const report = JSON.stringify(shown(await repositoryHealth(repository)))
          await sql`
            insert into repository_health (project_id, report)
            select p.id, ${report}::jsonb from projects p where p.id = ${subject.id} for key share
            on conflict (project_id) do update set report = excluded.report, updated_at = now()`.execute(
            db.writer,
          )
        }
        const { rows } = await sql<{ report: ReturnType<typeof shown>; updated_at: string }>`
          select h.report, h.updated_at from repository_health h where h.project_id = ${subject.id}`.execute(
          params.generate ? db.writer : db.reader,
        )
        const [kept] = rows
        if (kept === undefined) throw notFound('Repository Health Report')
        return { ...kept.report, updated_at: kept.updated_at }
      },
    }),
  ]
}

function shown({ references, objects, commitGraph, multiPackIndex: index, ...rest }: RepositoryHealth) {
  return {
    size: rest.size,
    references: {
      loose_count: references.loose,
      packed_size: references.packedSize,
      reference_backend: `REFERENCE_BACKEND_${references.backend.toUpperCase()}`,
    },
    objects: {
      size: objects.size,
      recent_size: objects.size - objects.staleSize,
      stale_size: objects.staleSize,
      keep_size: objects.keptSize,
      packfile_count: objects.packs,
      reverse_index_count: objects.reverseIndexes,
      cruft_count: objects.cruftPacks,
      keep_count: objects.keptPacks,
      loose_objects_count: objects.loose,
      stale_loose_objects_count: objects.staleLoose,
      loose_objects_garbage_count: objects.garbage,
    },
    commit_graph: {
      commit_graph_chain_length: commitGraph.layers,
      has_bloom_filters: commitGraph.bloomFilters,
      has_generation_data: commitGraph.generations,
      has_generation_data_overflow: commitGraph.generationOverflow,
    },
    bitmap: shownBitmap(rest.bitmap),
    multi_pack_index: index === undefined ? null : { packfile_count: index.packs, version: index.version },
    multi_pack_index_bitmap: shownBitmap(rest.multiPackBitmap),
    alternates: null,
    is_object_pool: false,
    last_full_repack: null,
  }
}

function shownBitmap(bitmap: RepositoryHealth['bitmap']) {
  return bitmap === undefined
    ? null
    : {
        has_hash_cache: bitmap.hashCache,
        has_lookup_table: bitmap.lookupTable,
        version: bitmap.version,
      }
}
