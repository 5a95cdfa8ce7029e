import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Properties } from './integrations/catalogue.ts'
import type { Configured } from './integrations/rules.ts'
import type { TriggerName } from './triggers.ts'

export const filterStrategies = ['wildcard', 'regex', 'all_branches'] as const
export type FilterStrategy = (typeof filterStrategies)[number]

/** Names with secret values. */
export type Pairs = Readonly<Record<string, string>>

/** A webhook as its owner set it. */
export interface HookValues {
  readonly name: string | null
  readonly description: string | null
  /** May hold `{variable}`s. */
  readonly url: string
  readonly token: string | null
  readonly triggers: readonly TriggerName[]
  readonly branch_filter: string | null
  readonly branch_filter_strategy: FilterStrategy
  readonly ssl_verification: boolean
  /** Body to send, with `{{key.of.the.payload}}`s. */
  readonly template: string | null
  readonly custom_headers: Pairs
  readonly url_variables: Pairs
}

export interface Hook extends HookValues {
  readonly id: number
  readonly project_id: number | null
  readonly namespace_id: number | null
  readonly uuid: string
  /** What it is called as, where it is no plain webhook. */
  readonly integration: Configured | null
  /** Calls in a row that went wrong. */
  readonly failures: number
  readonly disabled_until: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface StoredIntegration {
  readonly integration: string | null
  /** Sealed. */
  readonly properties: string | null
}

/** As it is stored: address, token, headers and variables are sealed. */
export interface StoredHook
  extends Omit<Hook, 'custom_headers' | 'url_variables' | 'integration'>, StoredIntegration {
  readonly custom_headers: string | null
  readonly url_variables: string | null
}

export type StoredValues = Omit<HookValues, 'custom_headers' | 'url_variables'> &
  Pick<StoredHook, 'custom_headers' | 'url_variables'>

export const contexts = {
  url: 'webhooks.url',
  token: 'webhooks.token',
  custom_headers: 'webhooks.custom_headers',
  url_variables: 'webhooks.url_variables',
  properties: 'webhooks.properties',
} as const

export function openHook(row: StoredHook, cipher: Cipher): Hook {
  const pairs = (sealed: string | null, context: string): Pairs =>
    sealed === null ? {} : (JSON.parse(cipher.open(sealed, context)) as Pairs)
  return {
    ...row,
    url: cipher.open(row.url, contexts.url),
    token: row.token === null ? null : cipher.open(row.token, contexts.token),
    custom_headers: pairs(row.custom_headers, contexts.custom_headers),
    url_variables: pairs(row.url_variables, contexts.url_variables),
    integration: openIntegration(row, cipher),
  }
}

export function openIntegration(
  { integration: name, properties }: StoredIntegration,
  cipher: Cipher,
): Configured | null {
  if (name === null || properties === null) return null
  return { name, properties: JSON.parse(cipher.open(properties, contexts.properties)) as Properties }
}

export function sealHook(values: HookValues, cipher: Cipher): StoredValues {
  const pairs = (value: Pairs, context: string): string | null =>
    Object.keys(value).length === 0 ? null : cipher.seal(JSON.stringify(value), context)
  return {
    ...values,
    url: cipher.seal(values.url, contexts.url),
    token: values.token === null ? null : cipher.seal(values.token, contexts.token),
    custom_headers: pairs(values.custom_headers, contexts.custom_headers),
    url_variables: pairs(values.url_variables, contexts.url_variables),
  }
}

/** The address that is called. */
export function addressOf({
  url,
  url_variables: variables,
}: Pick<HookValues, 'url' | 'url_variables'>): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => variables[name] ?? whole)
}
