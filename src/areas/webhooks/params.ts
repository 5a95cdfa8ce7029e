import type { KeeperKind } from '../../access/index.ts'
import { Fields, Flag, ListOf, Nullable, OneOf, Optional, Text } from '../../kernel/endpoint/index.ts'
import { switches } from './entities.ts'
import { filterStrategies, type FilterStrategy, type HookValues, type Pairs } from './hook.ts'
import { isUsual, triggersOf, type TriggerName } from './triggers.ts'

const KeyValues = ListOf(Fields({ key: Text(), value: Text() }))

interface Sent {
  readonly url?: string | undefined
  readonly name?: string | null | undefined
  readonly description?: string | null | undefined
  readonly token?: string | null | undefined
  readonly push_events_branch_filter?: string | null | undefined
  readonly branch_filter_strategy?: FilterStrategy | undefined
  readonly enable_ssl_verification?: boolean | undefined
  readonly custom_webhook_template?: string | null | undefined
  readonly custom_headers?: readonly { key: string; value: string }[] | undefined
  readonly url_variables?: readonly { key: string; value: string }[] | undefined
}

/** All that can be said of a webhook but its address. */
export function hookParams(kind: KeeperKind) {
  return {
    name: Optional(Nullable(Text())),
    description: Optional(Nullable(Text())),
    token: Optional(Nullable(Text({ description: 'Sent along as `X-Gitlab-Token`; never shown again' }))),
    ...switches(kind, () => Optional(Flag())),
    push_events_branch_filter: Optional(Nullable(Text())),
    branch_filter_strategy: Optional(OneOf(filterStrategies, {})),
    enable_ssl_verification: Optional(Flag()),
    custom_webhook_template: Optional(
      Nullable(
        Text({ description: 'Body to send; `{{object_kind}}` stands for what the payload holds there' }),
      ),
    ),
    custom_headers: Optional(KeyValues),
    url_variables: Optional(KeyValues),
  }
}

const pairsOf = (entries: readonly { key: string; value: string }[]): Pairs =>
  Object.fromEntries(entries.map(({ key, value }) => [key, value]))

/** A new webhook before anything is said of it. */
export function blankHook(kind: KeeperKind): HookValues {
  return {
    name: null,
    description: null,
    url: '',
    token: null,
    triggers: triggersOf(kind).filter((name) => isUsual(name, kind)),
    branch_filter: null,
    branch_filter_strategy: 'wildcard',
    ssl_verification: true,
    template: null,
    custom_headers: {},
    url_variables: {},
  }
}

export function changed(kind: KeeperKind, before: HookValues, sent: Sent): HookValues {
  const said = sent as Readonly<Record<string, unknown>>
  const switched: TriggerName[] = triggersOf(kind).filter(
    (name) => (said[`${name}_events`] as boolean | undefined) ?? before.triggers.includes(name),
  )
  return {
    name: given(sent.name, before.name),
    description: given(sent.description, before.description),
    url: sent.url?.trim() ?? before.url,
    token: given(sent.token, before.token),
    triggers: kind === 'instance' ? [...switched, 'system'] : switched,
    branch_filter: given(sent.push_events_branch_filter, before.branch_filter),
    branch_filter_strategy: sent.branch_filter_strategy ?? before.branch_filter_strategy,
    ssl_verification: sent.enable_ssl_verification ?? before.ssl_verification,
    template: given(sent.custom_webhook_template, before.template),
    custom_headers: sent.custom_headers === undefined ? before.custom_headers : pairsOf(sent.custom_headers),
    url_variables: sent.url_variables === undefined ? before.url_variables : pairsOf(sent.url_variables),
  }
}

/** null takes away what was said before. */
function given(sent: string | null | undefined, before: string | null): string | null {
  return sent === undefined ? before : sent
}
