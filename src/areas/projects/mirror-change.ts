import type { Actor } from '../../access/index.ts'
import { changePullMirror, type PullChangeServices } from '../mirrors/index.ts'

/** What requests for a project say of the repository elsewhere that it follows. */
export interface MirrorParams {
  readonly mirror?: boolean | undefined
  readonly import_url?: string | undefined
  readonly mirror_user_id?: number | undefined
  readonly mirror_trigger_builds?: boolean | undefined
  readonly only_mirror_protected_branches?: boolean | undefined
  readonly mirror_overwrites_diverged_branches?: boolean | undefined
  readonly mirror_branch_regex?: string | null | undefined
}

/** Looks at it, and gives what writes it; undefined where there is nothing to write. */
export function mirrorChange(
  services: PullChangeServices,
  actor: Actor,
  projectId: number | undefined,
  params: MirrorParams,
): ReturnType<typeof changePullMirror> {
  const change = {
    enabled: params.mirror,
    url: params.import_url,
    user_id: params.mirror_user_id,
    trigger_builds: params.mirror_trigger_builds,
    only_protected_branches: params.only_mirror_protected_branches,
    overwrites_diverged_branches: params.mirror_overwrites_diverged_branches,
    branch_regex: params.mirror_branch_regex,
  }
  return changePullMirror(services, actor, projectId, change, 'import_url')
}
