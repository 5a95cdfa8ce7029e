import { Fields, Json, ListOf, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import { projectIdentity } from '../namespaces/index.ts'
import type { StatusRow } from './store.ts'

export const ExportStatus = Fields({
  ...projectIdentity,
  export_status: Text({ description: '`none`, `queued`, `started`, `finished` or `failed`' }),
  _links: Optional(Fields({ api_url: Text(), web_url: Text() })),
})

export const ImportStatus = Fields({
  ...projectIdentity,
  import_status: Text({ description: '`none`, `scheduled`, `started`, `finished` or `failed`' }),
  import_type: Nullable(Text()),
  correlation_id: Nullable(Text()),
  failed_relations: ListOf(Json({ description: 'Records that could not be taken: file, line and reason' })),
  import_error: Nullable(Text()),
  stats: Optional(Json({ description: 'Records of each kind, in the archive and taken' })),
})

function identityOf(row: StatusRow) {
  return {
    id: row.id,
    description: row.description,
    name: row.name,
    name_with_namespace: `${row.namespace_name} / ${row.name}`,
    path: row.path,
    path_with_namespace: row.full_path,
    created_at: row.created_at,
  }
}

export function exportStatus(row: StatusRow, externalUrl: string) {
  const address = `${externalUrl}/api/v4/projects/${row.id}/export/download`
  return {
    ...identityOf(row),
    export_status: row.export_status,
    ...(row.export_status === 'finished' && { _links: { api_url: address, web_url: address } }),
  }
}

export function importStatus(row: StatusRow) {
  return {
    ...identityOf(row),
    import_status: row.import_status,
    import_type: row.import_type,
    correlation_id: row.correlation_id,
    failed_relations: row.failed ?? [],
    import_error: row.import_error,
    ...(row.import_status === 'finished' && { stats: row.stats ?? {} }),
  }
}
