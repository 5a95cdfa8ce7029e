import { RE2JS } from 're2js'
import type { KeeperKind } from '../../access/index.ts'
import { ApiError, unprocessable } from '../../kernel/errors/index.ts'
import { matchesWildcard } from '../../kernel/lib/wildcard.ts'
import { addressOf, type FilterStrategy, type Hook, type HookValues, type Pairs } from './hook.ts'

/** How many webhooks a place may have; the instance as many as it likes. */
export const mostHooks: Readonly<Record<KeeperKind, number>> = { project: 100, group: 50, instance: Infinity }

const mostHeaders = 20
const longestTemplate = 4096
const longestText: Readonly<Record<'name' | 'description', number>> = { name: 255, description: 2048 }

function invalid(error: string): ApiError {
  return new ApiError(422, { error })
}

export const invalidUrl = (): ApiError => invalid('Invalid url given')

export function tooMany(kind: KeeperKind): ApiError {
  return unprocessable({ base: [`Maximum number of ${kind} hooks (${mostHooks[kind]}) exceeded`] })
}

/** Throws what is wrong with a webhook; whether its address may be called is looked at besides. */
export function check(values: HookValues): void {
  const address = URL.parse(addressOf(values))
  if (address === null || !/^https?:$/.test(address.protocol) || values.url.length > 2048) throw invalidUrl()
  const unused = Object.keys(values.url_variables).filter((key) => !values.url.includes(`{${key}}`))
  if (unused.length > 0) throw unprocessable({ url_variables: [`${unused[0]} is not used in the URL`] })
  if (!isFilter(values.branch_filter, values.branch_filter_strategy))
    throw invalid('Invalid branch filter given')
  if (!areHeaders(values.custom_headers)) throw invalid('Custom headers validation failed')
  for (const [field, most] of Object.entries(longestText) as ['name' | 'description', number][]) {
    if ((values[field]?.length ?? 0) > most)
      throw unprocessable({ [field]: [`is too long (maximum is ${most} characters)`] })
  }
  if ((values.template?.length ?? 0) > longestTemplate) {
    throw unprocessable({
      custom_webhook_template: [`is too long (maximum is ${longestTemplate} characters)`],
    })
  }
  if (/[\r\n]/.test(values.token ?? '')) throw unprocessable({ token: ['must not contain line breaks'] })
}

export function checkVariableName(key: string): void {
  if (!/^[A-Za-z][\w.-]{0,99}$/.test(key)) throw unprocessable({ url_variables: ['key is invalid'] })
}

function isFilter(filter: string | null, strategy: FilterStrategy): boolean {
  if (filter === null || filter === '' || strategy === 'all_branches') return true
  if (strategy === 'wildcard')
    return filter.length <= 1024 && !/[\s~^:?[\\]|\.\.|^\/|\/$|\/\/|@\{/.test(filter)
  try {
    RE2JS.compile(filter)
    return true
  } catch {
    return false
  }
}

function areHeaders(headers: Pairs): boolean {
  const entries = Object.entries(headers)
  return (
    entries.length <= mostHeaders &&
    entries.every(
      ([key, value]) =>
        /^[A-Za-z][\w.-]{0,254}$/.test(key) && value.length <= 2048 && /^[\x20-\x7e\t]+$/.test(value),
    )
  )
}

/** Whether a push to this branch calls the webhook. */
export function passesFilter(
  {
    branch_filter: filter,
    branch_filter_strategy: strategy,
  }: Pick<Hook, 'branch_filter' | 'branch_filter_strategy'>,
  branch: string,
): boolean {
  if (filter === null || filter === '' || strategy === 'all_branches') return true
  return strategy === 'wildcard'
    ? matchesWildcard(filter, branch)
    : RE2JS.compile(filter).matcher(branch).find()
}

const failuresBeforeRest = 4
const failuresBeforeEnd = 40
const longestRest = 24 * 60

/**
 * Minutes that a webhook rests after so many failures in a row: four in a row make one, each more doubles them, up to a
 * day. Infinity: until a test succeeds.
 */
export function restAfter(failures: number): number {
  if (failures < failuresBeforeRest) return 0
  if (failures >= failuresBeforeEnd) return Infinity
  return Math.min(2 ** (failures - failuresBeforeRest), longestRest)
}

export function alertStatus(
  { failures, disabled_until: until }: Pick<Hook, 'failures' | 'disabled_until'>,
  now: Date,
): { alert_status: 'executable' | 'temporarily_disabled' | 'disabled'; disabled_until: string | null } {
  if (restAfter(failures) === Infinity) return { alert_status: 'disabled', disabled_until: null }
  const rests = until !== null && new Date(until) > now
  return { alert_status: rests ? 'temporarily_disabled' : 'executable', disabled_until: rests ? until : null }
}

export function isResting(hook: Pick<Hook, 'failures' | 'disabled_until'>, now: Date): boolean {
  return alertStatus(hook, now).alert_status !== 'executable'
}
