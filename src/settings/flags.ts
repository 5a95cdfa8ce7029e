import { hash } from 'node:crypto'

interface Definition {
  readonly about: string
  /** What it is unless an administrator says otherwise. */
  readonly usual: boolean
}

/** Features that an administrator switches on: for everybody, for some, or for a share. */
export const flags = {
  ci_inputs_for_pipelines: {
    about: '`inputs` of pipelines that are started by hand, by a token or by a schedule.',
    usual: false,
  },
  custom_ability_admin_security_testing: {
    about: 'The permission `admin_security_testing` of custom roles.',
    usual: false,
  },
  two_factor_for_cli: {
    about:
      'Users with a second factor show it, by `ssh git@<host> 2fa_verify`, before git over SSH lets them in.',
    usual: false,
  },
  webui_members_inherited_users: {
    about: 'Members of a place see those of the private groups that were let in, too.',
    usual: true,
  },
} as const satisfies Record<string, Definition>

export type FlagName = keyof typeof flags
/** Which are on for everybody. */
export type Flags = Readonly<Record<FlagName, boolean>>

/** Whom a feature is on for, besides everybody: `Project:7`. */
export type FlagActor =
  `${'User' | 'Group' | 'Project' | 'Namespace' | 'Repository' | 'Runner'}:${number | string}`

/** What was said of a feature; what was not said is left out. */
export interface Gates {
  readonly boolean?: boolean
  readonly percentage_of_time?: number
  readonly percentage_of_actors?: number
  readonly actors?: readonly string[]
  readonly groups?: readonly string[]
}

const prefix = 'flag:'

/** Under this name a feature lies among the stored settings. */
export function storedName(flag: string): string {
  return prefix + flag
}

export interface StoredGates {
  readonly name: string
  readonly gates: Gates
}

/** The features about which something was said, also those that this version does not know. */
export function gatesOf(
  stored: readonly { readonly name: string; readonly value: unknown }[],
): StoredGates[] {
  return stored.flatMap(({ name, value }) => {
    if (!name.startsWith(prefix)) return []
    const flag = name.slice(prefix.length)
    if (typeof value === 'boolean') return [{ name: flag, gates: { boolean: value } }]
    return typeof value === 'object' && value !== null ? [{ name: flag, gates: value }] : []
  })
}

export function flagsOf(found: readonly StoredGates[]): Flags {
  const said = new Map(found.map(({ name, gates }) => [name, gates]))
  const entries = Object.entries(flags).map(([name, { usual }]) => [name, said.get(name)?.boolean ?? usual])
  return Object.fromEntries(entries) as Flags
}

/** Whether a feature is on for somebody; an actor has the same share of actors each time. */
export function isOn(
  flag: FlagName,
  gates: Gates | undefined,
  actors: readonly FlagActor[],
  chance = Math.random() * 100,
): boolean {
  if (gates === undefined || Object.keys(gates).length === 0) return flags[flag].usual
  if (gates.boolean === true) return true
  if (chance < (gates.percentage_of_time ?? 0)) return true
  if (actors.some((actor) => gates.actors?.includes(actor))) return true
  const share = gates.percentage_of_actors ?? 0
  return share > 0 && actors.some((actor) => placeOf(flag, actor) < share)
}

/** From 0 to 100, the same for an actor each time, and another for each feature. */
function placeOf(flag: string, actor: string): number {
  return (parseInt(hash('sha1', `${flag} ${actor}`).slice(0, 8), 16) / 2 ** 32) * 100
}

/** `on` for everybody, `off` for everybody, or as it comes. */
export function stateOf(gates: Gates): 'on' | 'off' | 'conditional' {
  if (gates.boolean === true || gates.percentage_of_time === 100) return 'on'
  const some =
    (gates.percentage_of_time ?? 0) > 0 ||
    (gates.percentage_of_actors ?? 0) > 0 ||
    (gates.actors ?? []).length > 0 ||
    (gates.groups ?? []).length > 0
  return some ? 'conditional' : 'off'
}
