/** A drawing of who belongs where; everything is named by its place in its list. */
export interface Forest {
  /** Of each group; undefined at the top. */
  readonly parents: readonly (number | undefined)[]
  /** Groups that keep the projects in them from being shared. */
  readonly locks: readonly number[]
  /** The group of each project. */
  readonly homes: readonly number[]
  readonly members: readonly {
    readonly user: number
    readonly place: Place
    readonly level: number
    readonly role: Role
    readonly active: boolean
    readonly expires: number | null
  }[]
  /** `from` is the group that is let in. */
  readonly groupShares: readonly Share[]
  readonly projectShares: readonly Share[]
}

/** A custom role, as its number; null: none. */
export type Role = number | null

export interface Place {
  readonly kind: 'group' | 'project'
  readonly at: number
}

interface Share {
  readonly to: number
  readonly from: number
  readonly level: number
  readonly role: Role
  /** Days from today; null: never. */
  readonly expires: number | null
}

export function dayFromToday(days: number | null): string | null {
  return days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}

/** On the day itself the access is gone. */
const lasts = ({ expires }: { readonly expires: number | null }): boolean => expires === null || expires > 0

const highest = (levels: readonly number[]): number => Math.max(0, ...levels)

type State = 'active' | 'awaiting'

function line({ parents }: Forest, group: number): number[] {
  const parent = parents[group]
  return parent === undefined ? [group] : [...line({ parents } as Forest, parent), group]
}

/** The level that a user was given in this very place; 0 without one. */
function direct({ members }: Forest, user: number, { kind, at }: Place, state: State): number {
  const own = members.find((one) => one.user === user && one.place.kind === kind && one.place.at === at)
  return own !== undefined && own.active === (state === 'active') && lasts(own) ? own.level : 0
}

const notMinimal = (level: number): number => (level > 5 ? level : 0)

/** All levels that a user has in a group, one a way; minimal access counts only where it was given. */
function waysIntoGroup(forest: Forest, user: number, group: number, state: State): number[] {
  const own = direct(forest, user, { kind: 'group', at: group }, state)
  const passedOn = line(forest, group).flatMap((above) => [
    notMinimal(direct(forest, user, { kind: 'group', at: above }, state)),
    ...forest.groupShares
      .filter((share) => share.to === above && lasts(share))
      .map((share) =>
        Math.min(share.level, notMinimal(direct(forest, user, { kind: 'group', at: share.from }, state))),
      ),
  ])
  return [own, ...passedOn]
}

/** Likewise; a locked group lets shares stand but nobody in: -1. */
function waysIntoProject(forest: Forest, user: number, project: number, state: State): number[] {
  const home = forest.homes[project]!
  const locked = line(forest, home).some((above) => forest.locks.includes(above))
  return [
    direct(forest, user, { kind: 'project', at: project }, state),
    ...waysIntoGroup(forest, user, home, state).map(notMinimal),
    ...forest.projectShares
      .filter((share) => share.to === project && lasts(share))
      .flatMap((share) =>
        waysIntoGroup(forest, user, share.from, state)
          .map(notMinimal)
          .map((level) => (level === 0 ? 0 : locked ? -1 : Math.min(share.level, level))),
      ),
  ]
}

function ways(forest: Forest, user: number, { kind, at }: Place, state: State): number[] {
  return kind === 'group' ? waysIntoGroup(forest, user, at, state) : waysIntoProject(forest, user, at, state)
}

/** The level that decides about access. */
export function levelIn(forest: Forest, user: number, place: Place): number {
  return highest(ways(forest, user, place, 'active'))
}

/** Whether a user may know of a group for being a member: of it, or of something inside. */
export function knows(forest: Forest, user: number, group: number): boolean {
  const inside = (other: number): boolean => line(forest, other).includes(group)
  return (
    forest.parents.some(
      (_, other) => inside(other) && levelIn(forest, user, { kind: 'group', at: other }) > 0,
    ) ||
    forest.homes.some(
      (home, project) => inside(home) && levelIn(forest, user, { kind: 'project', at: project }) > 0,
    )
  )
}

/** Everybody who is listed: the user, the level shown and the state; who has access and waits besides, by the access. */
export function membersOf(forest: Forest, place: Place): [number, number, State][] {
  const users = [...new Set(forest.members.map(({ user }) => user))].toSorted((a, b) => a - b)
  return users.flatMap((user): [number, number, State][] => {
    for (const state of ['active', 'awaiting'] as const) {
      const found = ways(forest, user, place, state).filter((level) => level !== 0)
      if (found.length > 0) return [[user, highest(found), state]]
    }
    return []
  })
}

/** A way into a place: the level and the custom role that it brings. */
interface Way {
  readonly level: number
  readonly role: Role
}

function given({ members }: Forest, user: number, { kind, at }: Place): Way[] {
  return members
    .filter((one) => one.user === user && one.place.kind === kind && one.place.at === at)
    .filter((one) => one.active && lasts(one))
}

/** Who keeps his level on the way through a share keeps his role; whom it lowers gets the role of the share. */
function through(share: Way, way: Way): Way {
  return way.level <= share.level ? way : share
}

function rolesWaysIntoGroup(forest: Forest, user: number, group: number): Way[] {
  return line(forest, group).flatMap((above) => [
    ...given(forest, user, { kind: 'group', at: above }).filter((way) => way.level > 5 || above === group),
    ...forest.groupShares
      .filter((share) => share.to === above && lasts(share))
      .flatMap((share) =>
        given(forest, user, { kind: 'group', at: share.from })
          .filter((way) => way.level > 5)
          .map((way) => through(share, way)),
      ),
  ])
}

/** The custom roles that somebody has in a place, in any way. */
export function rolesIn(forest: Forest, user: number, place: Place): number[] {
  const ways = place.kind === 'group' ? rolesWaysIntoGroup(forest, user, place.at) : intoProject()
  return [...new Set(ways.flatMap(({ role }) => role ?? []))].toSorted((a, b) => a - b)

  function intoProject(): Way[] {
    const home = forest.homes[place.at]!
    const locked = line(forest, home).some((above) => forest.locks.includes(above))
    const shared = forest.projectShares
      .filter((share) => share.to === place.at && lasts(share) && !locked)
      .flatMap((share) =>
        rolesWaysIntoGroup(forest, user, share.from)
          .filter((way) => way.level > 5)
          .map((way) => through(share, way)),
      )
    return [
      ...given(forest, user, place),
      ...rolesWaysIntoGroup(forest, user, home).filter((way) => way.level > 5),
      ...shared,
    ]
  }
}
