import { Fields, Flag, Id, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import type { PullMirrorRow } from './pull-store.ts'

export const PullMirror = Fields({
  id: Id(),
  last_error: Nullable(Text()),
  last_successful_update_at: Nullable(Timestamp()),
  last_update_at: Nullable(Timestamp()),
  last_update_started_at: Nullable(Timestamp()),
  update_status: Text({ description: '`none`, `scheduled`, `started`, `finished` or `failed`' }),
  url: Text({ description: 'Without the login' }),
  enabled: Flag(),
  mirror_trigger_builds: Flag(),
  only_mirror_protected_branches: Flag(),
  mirror_overwrites_diverged_branches: Flag(),
  mirror_branch_regex: Nullable(Text()),
})

export function pullMirror(row: PullMirrorRow) {
  return {
    ...row,
    url: row.shown_address,
    mirror_trigger_builds: row.trigger_builds,
    only_mirror_protected_branches: row.only_protected_branches,
    mirror_overwrites_diverged_branches: row.overwrites_diverged_branches,
    mirror_branch_regex: row.branch_regex,
  }
}
