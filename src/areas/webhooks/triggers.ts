import type { KeeperKind } from '../../access/index.ts'

interface Trigger {
  /** Value of the header `X-Gitlab-Event`. */
  readonly header: string
  /** Whose webhooks can be called for it. */
  readonly of: readonly KeeperKind[]
  /** Places whose new webhooks are called for it unless told otherwise. */
  readonly usual?: readonly KeeperKind[]
}

const everywhere: readonly KeeperKind[] = ['project', 'group', 'instance']
const projectsAndGroups: readonly KeeperKind[] = ['project', 'group']

/** What webhooks are called for; the API switches each by `<name>_events` (supporting resources, 6.17). */
export const triggers = {
  push: { header: 'Push Hook', of: everywhere, usual: projectsAndGroups },
  tag_push: { header: 'Tag Push Hook', of: everywhere },
  merge_requests: { header: 'Merge Request Hook', of: everywhere },
  repository_update: { header: 'System Hook', of: everywhere, usual: ['instance'] },
  issues: { header: 'Issue Hook', of: projectsAndGroups },
  confidential_issues: { header: 'Confidential Issue Hook', of: projectsAndGroups },
  note: { header: 'Note Hook', of: projectsAndGroups },
  confidential_note: { header: 'Confidential Note Hook', of: projectsAndGroups },
  job: { header: 'Job Hook', of: projectsAndGroups },
  pipeline: { header: 'Pipeline Hook', of: projectsAndGroups },
  wiki_page: { header: 'Wiki Page Hook', of: projectsAndGroups },
  deployment: { header: 'Deployment Hook', of: projectsAndGroups },
  feature_flag: { header: 'Feature Flag Hook', of: projectsAndGroups },
  releases: { header: 'Release Hook', of: projectsAndGroups },
  milestone: { header: 'Milestone Hook', of: projectsAndGroups },
  emoji: { header: 'Emoji Hook', of: projectsAndGroups },
  resource_access_token: { header: 'Resource Access Token Hook', of: projectsAndGroups },
  vulnerability: { header: 'Vulnerability Hook', of: projectsAndGroups },
  member: { header: 'Member Hook', of: ['group'] },
  project: { header: 'Project Hook', of: ['group'] },
  subgroup: { header: 'Subgroup Hook', of: ['group'] },
} as const satisfies Readonly<Record<string, Trigger>>

export type SwitchedTrigger = keyof typeof triggers
/** `system`: what the webhooks of the instance are always called for. */
export type TriggerName = SwitchedTrigger | 'system'

export const systemHeader = 'System Hook'

export function headerOf(name: TriggerName, kind: KeeperKind): string {
  return kind === 'instance' || name === 'system' ? systemHeader : triggers[name].header
}

/** The triggers that webhooks of this place can be switched to, in the order of the API. */
export function triggersOf(kind: KeeperKind): SwitchedTrigger[] {
  return (Object.entries(triggers) as [SwitchedTrigger, Trigger][])
    .filter(([, { of }]) => of.includes(kind))
    .map(([name]) => name)
}

export function isUsual(name: SwitchedTrigger, kind: KeeperKind): boolean {
  return (triggers[name] as Trigger).usual?.includes(kind) ?? false
}

/** The domain events that webhooks are called for, with the triggers that they may become. */
export const triggersOfEvent = {
  push: ['push', 'tag_push', 'repository_update'],
  issue: ['issues', 'confidential_issues'],
  note: ['note', 'confidential_note'],
  merge_request: ['merge_requests'],
  pipeline: ['pipeline'],
  job: ['job', 'deployment'],
  deployment: ['deployment'],
  wiki_page: ['wiki_page'],
  release: ['releases'],
  feature_flag: ['feature_flag'],
  milestone: ['milestone'],
  emoji: ['emoji'],
  access_token: ['resource_access_token'],
  project: ['project', 'system'],
  group: ['subgroup', 'system'],
  member: ['member', 'system'],
  access_request: ['member', 'system'],
  user: ['system'],
  ssh_key: ['system'],
  failed_login: ['system'],
} as const satisfies Readonly<Record<string, readonly TriggerName[]>>

export type HookedEvent = keyof typeof triggersOfEvent
