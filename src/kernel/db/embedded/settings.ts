import { EmbeddedPostgresError } from './error.ts'
import { port } from './folder.ts'

/**
 * For a small machine: idle, the server takes about 20 MB. `settings` of the caller win over these. They are given on
 * the command line, so what stands in postgresql.conf does not matter unless it is named in neither place.
 */
const defaults: Record<string, string> = {
  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  maintenance_work_mem: '64MB',
  max_worker_processes: '4',
  // Parallel queries need shared memory beyond the 64 MB that containers have, and win nothing on point queries.
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  random_page_cost: '1.1',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // No replica hangs on an embedded server.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_wal_size: '512MB',
  // A query whose caller has died stops, so that its locks do.
  client_connection_check_interval: '10s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Errors of statements reach the caller, who logs them; neither statements nor row values belong into a log.
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  cluster_name: 'guildhall',
}

/** Begins every line of the server's log: the SQLSTATE, by which `server-log.ts` tells trouble from noise. */
export const logLinePrefix = '%e '

/** What the supervisor relies on, and nobody may change. */
function fixed(socketFolder: string): Record<string, string> {
  return {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: quotePathList(socketFolder),
    unix_socket_permissions: '0700',
    restart_after_crash: 'on',
    // The log comes to us through stderr, and our logger bounds it.
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: logLinePrefix,
  }
}

/** The setting is a list: a comma or a blank in a path would divide it. */
function quotePathList(path: string): string {
  return `"${path.replaceAll('"', '""')}"`
}

export function serverArguments(options: {
  data: string
  socketFolder: string
  maxConnections: number
  settings: Record<string, string>
}): string[] {
  const ours = fixed(options.socketFolder)
  const forbidden = [...Object.keys(ours), 'data_directory', 'external_pid_file']
  for (const name of Object.keys(options.settings)) {
    if (forbidden.includes(name.toLowerCase()) || !/^[a-z_][a-z0-9_.]*$/i.test(name)) {
      throw new EmbeddedPostgresError(
        `The setting "${name}" of the embedded database cannot be changed: remove it from the configuration.`,
      )
    }
  }
  const all = { ...defaults, max_connections: String(options.maxConnections), ...options.settings, ...ours }
  return ['-D', options.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
