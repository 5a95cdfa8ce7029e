import type { Cipher } from '../../../kernel/lib/secrets.ts'
import type { Settings } from '../../../settings/index.ts'
import type { DomainEvent } from '../../../tasks/index.ts'
import type { HookedEvent } from '../triggers.ts'
import { buildAccessToken } from './access-token.ts'
import { buildDeployment } from './deployment.ts'
import { buildEmoji } from './emoji.ts'
import { buildFeatureFlag } from './feature-flag.ts'
import { buildIssue } from './issue.ts'
import { buildMergeRequest } from './merge-request.ts'
import { buildMilestone } from './milestone.ts'
import { buildNote } from './note.ts'
import type { Builder, Built, PayloadServices } from './parts.ts'
import { buildJobs, pipelineBuilder } from './pipeline.ts'
import { pushBuilder } from './push.ts'
import {
  buildAccessRequest,
  buildFailedLogin,
  buildGroup,
  buildMember,
  buildProject,
  buildSshKey,
  buildUser,
} from './records.ts'
import { buildRelease } from './release.ts'
import { buildWikiPage } from './wiki-page.ts'

interface BuilderServices extends PayloadServices {
  readonly cipher: Cipher
  readonly settings: Settings
}

/** How the payload of each kind of event is made. */
export function builders(services: BuilderServices): (event: DomainEvent) => Promise<readonly Built[]> {
  const { settings, cipher } = services
  const byKind: Record<HookedEvent, Builder> = {
    push: pushBuilder(() => settings.values.push_event_hooks_limit),
    issue: buildIssue,
    note: buildNote,
    merge_request: buildMergeRequest,
    pipeline: pipelineBuilder(cipher),
    job: buildJobs,
    deployment: buildDeployment,
    wiki_page: buildWikiPage,
    release: buildRelease,
    feature_flag: buildFeatureFlag,
    milestone: buildMilestone,
    emoji: buildEmoji,
    access_token: buildAccessToken,
    project: buildProject,
    group: buildGroup,
    member: buildMember,
    access_request: buildAccessRequest,
    user: buildUser,
    ssh_key: buildSshKey,
    failed_login: buildFailedLogin,
  }
  return async (event) => {
    const builder = byKind[event.kind as HookedEvent] as Builder<unknown>
    return builder(services, event)
  }
}
