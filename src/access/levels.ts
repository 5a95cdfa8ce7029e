import { offers, type Plan } from '../kernel/config/index.ts'

/** Roles as numbers, as the API writes them. */
export const Role = {
  none: 0,
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
  /** Only in rules (protected branches): instance administrators. */
  administrator: 60,
} as const

const roleNames: Readonly<Record<number, string>> = {
  5: 'Minimal Access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
}

export function roleName(level: number): string {
  return roleNames[level] ?? `level ${level}`
}

/** Whose highest level anywhere is no higher takes no seat: on the top plan guests are free. */
export function levelsWithoutSeat(plan: Plan): number {
  return offers(plan, 'free_guests') ? Role.guest : Role.none
}

export const Visibility = { private: 0, internal: 10, public: 20 } as const
export type VisibilityName = keyof typeof Visibility
export const visibilityNames = ['private', 'internal', 'public'] as const

export function visibilityName(level: number): VisibilityName {
  return level === Visibility.public ? 'public' : level === Visibility.internal ? 'internal' : 'private'
}

/** Who may use a feature of a project: nobody, its members, everyone with access, everyone. */
export const FeatureLevel = { disabled: 0, private: 10, enabled: 20, public: 30 } as const
export type FeatureLevelName = keyof typeof FeatureLevel
