import { members, type Kind } from '../relation-exports/index.ts'

/** What is done first for each entity: the source is looked at, and asked to write; then that is waited for. */
export const looking = 'entity'
export const waiting = 'export'

/** Parents of epics, which are in the same file as the epics. */
export const epicParents = 'epic_parents'

/** What has to be there before the rest: the higher stage waits for the lower. */
const stages: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  group: { [members.group]: 2, labels: 2, milestones: 2, epics: 3 },
  project: {
    [members.project]: 2,
    repository: 2,
    uploads: 2,
    lfs_objects: 2,
    labels: 3,
    milestones: 3,
    kept_commits: 3,
    badges: 3,
    issues: 4,
    releases: 4,
    wiki: 4,
    merge_requests: 5,
    protected_tags: 6,
    protected_branches: 6,
  },
}

/** Undefined: nothing that is known here. */
export function stageOf(kind: Kind, relation: string): number | undefined {
  return Object.hasOwn(stages[kind], relation) ? stages[kind][relation] : undefined
}

/** The relation of the source that a step fetches. */
export const fetchedFor = (relation: string): string => (relation === epicParents ? 'epics' : relation)
