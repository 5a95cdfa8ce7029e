import { entryFor } from '../../src/access/index.ts'
import {
  protectionOf,
  refusal,
  type BranchRule,
  type BranchUpdate,
  type Entry,
} from '../../src/areas/protected-branches/rules.ts'

/** Who moves branches. What each may is written here by hand: it is what the service is held against. */
export type ActorName =
  'developer' | 'maintainer' | 'administrator' | 'named' | 'insider' | 'token' | 'listedKey' | 'otherKey'

export const people = ['developer', 'maintainer', 'administrator', 'named', 'insider'] as const
/** An access token of the project, whose Developer is no person and has no SSH keys. */
export const machines = ['token'] as const
export const keys = ['listedKey', 'otherKey'] as const

const rank: Readonly<Record<ActorName, number>> = {
  developer: 30,
  maintainer: 40,
  administrator: 60,
  named: 30,
  insider: 30,
  token: 30,
  listedKey: -1,
  otherKey: -1,
}

/** Whom an entry names: a level, or one of the actors. `insider` is in the group, `listedKey` the deploy key. */
export type Target = 0 | 30 | 40 | 60 | 'named' | 'group' | 'key'

export interface RuleText {
  /** Behind the prefix of its branches. */
  readonly name: string
  readonly push: readonly Target[]
  readonly merge: readonly (0 | 30 | 40 | 60)[]
  readonly force?: boolean
  /** A rule of the group above the project. */
  readonly inherited?: boolean
}

export type Way =
  | 'http push'
  | 'ssh push'
  | 'http force'
  | 'ssh force'
  | 'http create'
  | 'ssh create'
  | 'http delete'
  | 'ssh delete'
  | 'file'
  | 'commit'
  | 'commit from'
  | 'commit anew'
  | 'cherry-pick'
  | 'revert'
  | 'branch'
  | 'branch delete'
  | 'merge'
  | 'rebase'

export const overHttp = ['http push', 'http force', 'http create', 'http delete'] as const
export const overSsh = ['ssh push', 'ssh force', 'ssh create', 'ssh delete'] as const
export const overApi = [
  'file',
  'commit',
  'commit from',
  'commit anew',
  'cherry-pick',
  'revert',
  'branch',
  'branch delete',
  'merge',
  'rebase',
] as const

/** What a way does to a branch, told as the pure rule takes it. */
const shapes: Readonly<
  Record<Way, Pick<BranchUpdate, 'kind' | 'via'> & { forced?: true; based?: true; merges?: true }>
> = {
  'http push': { kind: 'update', via: 'git' },
  'ssh push': { kind: 'update', via: 'git' },
  'http force': { kind: 'update', via: 'git', forced: true },
  'ssh force': { kind: 'update', via: 'git', forced: true },
  'http create': { kind: 'create', via: 'git' },
  'ssh create': { kind: 'create', via: 'git' },
  'http delete': { kind: 'delete', via: 'git' },
  'ssh delete': { kind: 'delete', via: 'git' },
  file: { kind: 'update', via: 'web' },
  commit: { kind: 'update', via: 'web' },
  'commit from': { kind: 'create', via: 'web' },
  'commit anew': { kind: 'update', via: 'web', forced: true },
  'cherry-pick': { kind: 'update', via: 'web' },
  revert: { kind: 'update', via: 'web' },
  branch: { kind: 'create', via: 'web', based: true },
  'branch delete': { kind: 'delete', via: 'web' },
  merge: { kind: 'update', via: 'web', merges: true },
  rebase: { kind: 'update', via: 'web', forced: true },
}

/** Ways that ask for the right to push before anything is built. */
const writing: readonly Way[] = ['file', 'commit', 'commit from', 'commit anew', 'cherry-pick', 'revert']

export const mayNotWrite = '403 Forbidden - You are not allowed to push into this branch'
/** Who may not merge is told so before anything is looked at. */
export const mayNotMerge = '401 Unauthorized'
/** A rebase is told the same before it is begun. */
export const mayNotRebase = {
  push: '403 Forbidden - Cannot push to source branch',
  force: '403 Forbidden - Source branch is protected from force push',
} as const

/** What the pure rule says: the words of the refusal, or undefined. */
export async function verdictOf(
  branch: string,
  rules: readonly RuleText[],
  actor: ActorName,
  way: Way,
): Promise<string | undefined> {
  const protection = protectionOf(branch, rules.map(asRule))
  const mayPush = admits(protection?.push ?? [], actor)
  const { forced = false, based = false, merges = false, ...shape } = shapes[way]
  if (protection !== undefined && writing.includes(way) && !mayPush) return mayNotWrite
  if (protection !== undefined && way === 'rebase' && !mayPush) return mayNotRebase.push
  const refused = await refusal({
    ...shape,
    branch,
    isDefault: false,
    isForced: () => Promise.resolve(forced),
    onProtectedBranch: () => Promise.resolve(based),
    isMergeResult: () => Promise.resolve(merges),
    protection,
    may: {
      push: mayPush,
      merge: mayPush || admits(protection?.merge ?? [], actor),
      deleteProtected: rank[actor] >= 40,
    },
  })
  if (refused === undefined) return undefined
  return merges ? mayNotMerge : way === 'rebase' ? mayNotRebase.force : refused
}

const ids = { named: 1, group: 2, key: 3 } as const
const reaches: Readonly<Partial<Record<ActorName, Target>>> = {
  named: 'named',
  insider: 'group',
  listedKey: 'key',
}

function admits(entries: readonly Entry[], actor: ActorName): boolean {
  return entries.some(({ accessLevel, userId, groupId, deployKeyId }) => {
    if (accessLevel !== null) return accessLevel > 0 && rank[actor] >= accessLevel
    const target = userId === ids.named ? 'named' : groupId === ids.group ? 'group' : 'key'
    return (deployKeyId ?? groupId ?? userId) !== null && reaches[actor] === target
  })
}

function asRule({ name, push, merge, force = false }: RuleText, id: number): BranchRule {
  const entry = (action: Entry['action'], target: Target): Entry => ({
    id: 0,
    action,
    ...entryFor(
      typeof target === 'number'
        ? { accessLevel: target }
        : target === 'named'
          ? { userId: ids.named }
          : target === 'group'
            ? { groupId: ids.group }
            : { deployKeyId: ids.key },
    ),
  })
  return {
    ...{ id, name, inherited: false, allowForcePush: force, codeOwnerApprovalRequired: false },
    entries: [...push.map((one) => entry('push', one)), ...merge.map((one) => entry('merge', one))],
  }
}

/** The rules that the table is made of; each set has branches of its own. */
export const ruleSets: Readonly<Record<string, readonly RuleText[]>> = {
  free: [],
  maintainers: [{ name: '*', push: [40], merge: [40] }],
  developers: [{ name: '*', push: [30], merge: [30] }],
  'merge-only': [{ name: '*', push: [0], merge: [30] }],
  nobody: [{ name: '*', push: [0], merge: [0] }],
  administrators: [{ name: '*', push: [60], merge: [60] }],
  named: [{ name: '*', push: ['named'], merge: [0] }],
  group: [{ name: '*', push: ['group'], merge: [40] }],
  key: [{ name: '*', push: ['key'], merge: [40] }],
  forced: [{ name: '*', push: [40], merge: [40], force: true }],
  several: [
    { name: '*', push: [0], merge: [0] },
    { name: '*-*', push: [40], merge: [30], force: true },
  ],
  inherited: [
    { name: '*', push: [40], merge: [40] },
    { name: '*', push: [30], merge: [40], inherited: true },
  ],
}
