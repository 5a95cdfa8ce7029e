/** Features that an administrator switches on, with what they are unless that was done. */
export const flags = {
  /** `inputs` of pipelines that are started by hand, by a token or by a schedule. */
  ci_inputs_for_pipelines: false,
  /** The permission `admin_security_testing` of custom roles. */
  custom_ability_admin_security_testing: false,
} as const satisfies Record<string, boolean>

export type FlagName = keyof typeof flags
export type Flags = Readonly<Record<FlagName, boolean>>

const prefix = 'flag:'

/** Under this name a flag lies among the stored settings. */
export function storedName(flag: FlagName): string {
  return prefix + flag
}

export function flagsOf(stored: readonly { readonly name: string; readonly value: unknown }[]): Flags {
  const known = stored.flatMap(({ name, value }) => {
    const flag = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    return flag in flags && typeof value === 'boolean' ? [[flag, value]] : []
  })
  return { ...flags, ...(Object.fromEntries(known) as Partial<Flags>) }
}
