import { Fields, Id, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import type { ImportRow } from './import-store.ts'

const identity = {
  id: Id({ description: 'Of the project' }),
  name: Text(),
  full_path: Text({ description: 'With a slash at the beginning' }),
  full_name: Text(),
}
const progress = {
  import_source: Text({ description: 'The repository on the host' }),
  import_status: Text({ description: '`scheduled`, `started`, `finished`, `failed` or `canceled`' }),
  human_import_status_name: Text(),
  provider_link: Text(),
}

export const BegunImport = Fields({
  ...identity,
  refs_url: Text(),
  ...progress,
  relation_type: Nullable(Text()),
  import_warning: Nullable(Text()),
})

export const ImportState = Fields({ ...identity, ...progress, import_error: Optional(Nullable(Text())) })

export function importState(row: ImportRow) {
  return {
    id: row.id,
    name: row.name,
    full_path: `/${row.full_path}`,
    full_name: row.full_name,
    import_source: row.import_source,
    import_status: row.import_status,
    human_import_status_name: row.import_status,
    provider_link: `/${row.import_source}`,
    ...(row.import_status === 'failed' && { import_error: row.import_error }),
  }
}

export function begunImport(row: ImportRow) {
  return {
    ...importState(row),
    refs_url: `/${row.full_path}/refs`,
    relation_type: null,
    import_warning: null,
  }
}
