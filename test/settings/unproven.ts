/**
 * Settings that are stored, checked and shown, and whose effect nothing shows yet, with what is not there that they are
 * about. The manual says so of each.
 */
export const unproven: ReadonlyMap<string, string> = new Map([
  ['bulk_import_max_download_file_size', 'direct transfers'],
  ['bulk_import_concurrent_pipeline_batch_limit', 'direct transfers'],
])
