import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
  type TSchema,
} from '../../kernel/endpoint/index.ts'
import type { KeeperKind } from '../../access/index.ts'
import type { Hook } from './hook.ts'
import { alertStatus } from './rules.ts'
import { triggersOf } from './triggers.ts'

const Keys = ListOf(Fields({ key: Text() }))

/** `<trigger>_events` of a place, each declared by `of`. */
export function switches<T extends TSchema>(kind: KeeperKind, of: () => T): Record<string, T> {
  return Object.fromEntries(triggersOf(kind).map((name) => [`${name}_events`, of()]))
}

export function hookSchema(kind: KeeperKind) {
  return Fields({
    id: Id(),
    url: Text(),
    name: Nullable(Text()),
    description: Nullable(Text()),
    created_at: Timestamp(),
    ...switches(kind, () => Flag()),
    enable_ssl_verification: Flag(),
    alert_status: Text({ description: 'executable, temporarily_disabled or disabled' }),
    disabled_until: Nullable(Timestamp()),
    url_variables: Keys,
    push_events_branch_filter: Nullable(Text()),
    branch_filter_strategy: Text(),
    custom_webhook_template: Nullable(Text()),
    custom_headers: Keys,
    organization_id: Int(),
    ...(kind === 'project' && { project_id: Optional(Id()) }),
    ...(kind === 'group' && { group_id: Optional(Id()) }),
  })
}

const keysOf = (pairs: Readonly<Record<string, string>>): { key: string }[] =>
  Object.keys(pairs).map((key) => ({ key }))

/** Token, and values of headers and variables, are never shown again. */
export function hookEntity(hook: Hook, kind: KeeperKind): Record<string, unknown> {
  const on = new Set<string>(hook.triggers)
  return {
    id: hook.id,
    url: hook.url,
    name: hook.name,
    description: hook.description,
    created_at: hook.created_at,
    ...Object.fromEntries(triggersOf(kind).map((name) => [`${name}_events`, on.has(name)])),
    enable_ssl_verification: hook.ssl_verification,
    ...alertStatus(hook, new Date()),
    url_variables: keysOf(hook.url_variables),
    push_events_branch_filter: hook.branch_filter,
    branch_filter_strategy: hook.branch_filter_strategy,
    custom_webhook_template: hook.template,
    custom_headers: keysOf(hook.custom_headers),
    organization_id: 1,
    ...(kind === 'project' && { project_id: hook.project_id }),
    ...(kind === 'group' && { group_id: hook.namespace_id }),
  }
}
