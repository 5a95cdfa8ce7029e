import {
  Fields,
  Flag,
  Hash,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { statuses, type EntityRow, type FailureRow, type ImportRow } from './import-store.ts'

/** The one kind of source there is, under the name that clients know. */
const sourceType = 'gitlab'

export const Import = Fields({
  id: Id(),
  status: OneOf(...statuses),
  source_type: Text(),
  source_url: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  has_failures: Flag(),
})

export function importEntity(row: ImportRow) {
  return { ...row, source_type: sourceType }
}

export const Failure = Fields({
  relation: Text(),
  step: Text({ description: '`extractor`, `transformer` or `loader`' }),
  exception_message: Text(),
  exception_class: Text(),
  correlation_id_value: Text(),
  created_at: Timestamp(),
  pipeline_class: Text({ deprecated: true }),
  pipeline_step: Text({ deprecated: true }),
  source_url: Nullable(Text()),
  source_title: Nullable(Text()),
})

export function failureEntity(row: FailureRow) {
  return {
    ...row,
    pipeline_class: row.relation,
    pipeline_step: row.step,
    source_url: null,
    source_title: null,
  }
}

const Counts = Fields({ source: Int(), fetched: Int(), imported: Int() })

export const Entity = Fields({
  id: Id(),
  bulk_import_id: Id(),
  status: OneOf(...statuses),
  entity_type: OneOf('group', 'project'),
  source_full_path: Text(),
  destination_full_path: Text(),
  destination_name: Text({ deprecated: true }),
  destination_slug: Text(),
  destination_namespace: Text(),
  parent_id: Nullable(Id()),
  namespace_id: Nullable(Id()),
  project_id: Nullable(Id()),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  failures: ListOf(Failure),
  migrate_projects: Flag(),
  migrate_memberships: Flag(),
  has_failures: Flag(),
  stats: Hash(Counts),
})

export function entityEntity({ kind, failures, ...row }: EntityRow) {
  const { destination_slug: slug, destination_namespace: namespace } = row
  return {
    ...row,
    entity_type: kind,
    destination_full_path: namespace === '' ? slug : `${namespace}/${slug}`,
    destination_name: slug,
    failures: failures.map((failure) => failureEntity(failure)),
  }
}
