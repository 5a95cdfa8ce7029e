import { choices, flag, int } from '../kinds.ts'

/** Imports and exports. */
export const importSettings = {
  bulk_import_enabled: flag(
    false,
    'When false, direct-transfer endpoints (bulk imports and relation exports) answer 404.',
    { strict: true },
  ),
  bulk_import_max_download_file_size: int(
    5120,
    'Largest single file fetched during direct transfer, in MiB; a larger one fails its entity; 0 unlimited.',
    { min: 0 },
  ),
  bulk_import_concurrent_pipeline_batch_limit: int(25, 'Most direct-transfer batches processed at once.', {
    min: 1,
    strict: true,
  }),
  concurrent_relation_batch_export_limit: int(8, 'Most relation export batches processed at once.', {
    min: 1,
    strict: true,
  }),
  concurrent_importer_a_import_jobs_limit: int(1000, 'Most importer A jobs run at once.', {
    min: 1,
    strict: true,
    vendor: 'concurrent_github_import_jobs_limit',
  }),
  concurrent_importer_b_import_jobs_limit: int(100, 'Most importer B (cloud) jobs run at once.', {
    min: 1,
    strict: true,
    vendor: 'concurrent_bitbucket_import_jobs_limit',
  }),
  concurrent_importer_b_server_import_jobs_limit: int(100, 'Most importer B (server) jobs run at once.', {
    min: 1,
    strict: true,
    vendor: 'concurrent_bitbucket_server_import_jobs_limit',
  }),
  max_export_size: int(
    0,
    'A project whose export would be larger, in MiB, is refused when the export is requested; 0 unlimited.',
    { min: 0, strict: true },
  ),
  max_import_size: int(0, 'Largest uploaded import archive, in MiB; larger uploads get 413; 0 unlimited.', {
    min: 0,
    strict: true,
  }),
  max_import_remote_file_size: int(
    10_240,
    'Largest archive fetched for an import from a remote URL, in MiB; 0 unlimited.',
    { min: 0, strict: true },
  ),
  max_decompressed_archive_size: int(
    25_600,
    'An import archive that unpacks to more MiB fails with a size-validation error; 0 unlimited.',
    { min: 0, strict: true },
  ),
  decompress_archive_file_timeout: int(210, 'Unpacking for more seconds fails the import; 0 no limit.', {
    min: 0,
    strict: true,
  }),
  silent_admin_exports_enabled: flag(
    false,
    'When true, exports started or downloaded by administrators write no audit event.',
  ),
  import_sources: choices(
    ['importer_a', 'importer_b', 'importer_b_server', 'fogbugz', 'git', 'export_file', 'gitea', 'manifest'],
    [],
    'Enabled import sources; a disabled one answers 403.',
    {
      commas: true,
      spellings: {
        github: 'importer_a',
        bitbucket: 'importer_b',
        bitbucket_server: 'importer_b_server',
        gitlab_project: 'export_file',
      },
    },
  ),
  project_export_enabled: flag(true, 'When false, the project export endpoints answer 404.', {
    strict: true,
  }),
  allow_contribution_mapping_to_admins: flag(
    false,
    'Lets imported contributions be mapped to administrators.',
  ),
}
