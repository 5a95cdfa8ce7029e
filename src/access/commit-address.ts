import type { SettingValues } from '../settings/index.ts'

/** Stands for an address that tells nothing of its holder, in place of one of his own. */
export const privateAddress = '_private'

interface House {
  readonly settings: { readonly values: Pick<SettingValues, 'commit_email_hostname'> }
  readonly externalUrl: () => string
}

interface Holder {
  readonly id: number
  readonly username: string
  readonly email: string
  readonly commitEmail: string | null
}

/** The host of private addresses. */
export function privateHost({ settings, externalUrl }: House): string {
  const { commit_email_hostname: own } = settings.values
  return own === null || own === '' ? `users.noreply.${new URL(externalUrl()).hostname}` : own
}

/** The address of commits that a user makes here. */
export function commitAddress(house: House, { id, username, email, commitEmail }: Holder): string {
  if (commitEmail === privateAddress) return `${id}-${username}@${privateHost(house)}`
  return commitEmail ?? email
}

/** The user whose private address this is, as its text says; his name may have been another one then. */
export function holderOfPrivate(house: House, address: string): number | undefined {
  const [, id, host] = /^(\d{1,15})-[^@]*@(.+)$/.exec(address) ?? []
  return host?.toLowerCase() === privateHost(house).toLowerCase() ? Number(id) : undefined
}
