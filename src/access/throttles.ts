import type { SharedCounts } from '../kernel/db/index.ts'
import { Answer, type Endpoint } from '../kernel/endpoint/endpoint.ts'
import { requestContext } from '../kernel/log/index.ts'
import { entriesOf, type SettingName, type Settings, type SettingValues } from '../settings/index.ts'

/** The kinds of requests that have a throttle of their own. */
export type Family = 'api' | 'packages_api' | 'files_api' | 'deprecated_api' | 'web' | 'git_http' | 'git_lfs'

/** Who is counted: a user by his id, anybody else by the address. */
export type Caller = { readonly user: number } | { readonly address: string }

interface Throttle {
  readonly name: string
  readonly limit: number
  readonly period: number
}

type Named<Pattern extends string> = Extract<SettingName, Pattern>

/** Which family an endpoint of the API belongs to, besides `api`. */
function familyOf({ method, path }: Endpoint): Family {
  if (/^\/(projects\/:id\/|groups\/:id\/-\/)?packages\/[a-z]/.test(path)) return 'packages_api'
  if (/^\/projects\/:id\/repository\/files\//.test(path)) return 'files_api'
  if (method === 'GET' && path === '/groups/:id') return 'deprecated_api'
  return 'api'
}

/**
 * How many requests somebody may make (completions of part 3, section 6). Which settings hold is read from the
 * snapshot, and the counts are shared by all nodes; neither costs a round trip.
 */
export class Throttles {
  readonly #settings: Pick<Settings, 'values'>
  readonly #counts: SharedCounts
  readonly #families = new WeakMap<Endpoint, Family>()
  #known:
    | {
        of: SettingValues
        users: Map<Family, Throttle | undefined>
        addresses: Map<Family, Throttle | undefined>
      }
    | undefined
  #protected: { of: SettingValues; written: readonly string[]; fetched: readonly string[] } | undefined

  constructor(settings: Pick<Settings, 'values'>, counts: SharedCounts) {
    this.#settings = settings
    this.#counts = counts
  }

  /** Counts a call of the API; the answer is the refusal of one too many. */
  ofEndpoint(endpoint: Endpoint, caller: Caller, bag: Readonly<Record<string, unknown>>): Answer | undefined {
    let family = this.#families.get(endpoint)
    if (family === undefined) {
      family = familyOf(endpoint)
      this.#families.set(endpoint, family)
    }
    // Only with its projects is the answer about a group the deprecated one.
    const asked = family === 'deprecated_api' && isFalse(bag['with_projects']) ? 'api' : family
    return this.count(asked, caller)
  }

  /** Whether requests of a family are counted at all. */
  counts(family: 'api' | 'web'): boolean {
    const { values } = this.#settings
    return (
      values[`throttle_unauthenticated_${family}_enabled`] ||
      values[`throttle_authenticated_${family}_enabled`]
    )
  }

  /** Counts a request of a family; where that has no throttle of its own, one of the API. */
  count(family: Family, caller: Caller): Answer | undefined {
    const own = this.#throttle(family, caller)
    const throttle =
      own ??
      (family === 'api' || family === 'web' || family === 'git_http' || family === 'git_lfs'
        ? undefined
        : this.#throttle('api', caller))
    return throttle === undefined ? undefined : this.#use(throttle, caller)
  }

  /** Counts what is sent to, or fetched from, a path that is protected, such as those of sign-in. */
  countProtected(method: string, path: string, address: string): Answer | undefined {
    const { values } = this.#settings
    if (!values.throttle_protected_paths_enabled) return undefined
    const { written, fetched } = this.#protectedPaths(values)
    const paths = method === 'POST' ? written : method === 'GET' ? fetched : []
    if (!paths.some((beginning) => path.startsWith(beginning))) return undefined
    const throttle = {
      name: 'throttle_unauthenticated_protected_paths',
      limit: values.throttle_protected_paths_requests_per_period,
      period: values.throttle_protected_paths_period_in_seconds,
    }
    return this.#use(throttle, { address })
  }

  /** Looked up once for each state of the settings, since every request asks. */
  #throttle(family: Family, caller: Caller): Throttle | undefined {
    const { values } = this.#settings
    if (this.#known?.of !== values) this.#known = { of: values, users: new Map(), addresses: new Map() }
    const known = 'user' in caller ? this.#known.users : this.#known.addresses
    const found = known.get(family)
    if (found !== undefined || known.has(family)) return found
    const name = `throttle_${'user' in caller ? 'authenticated' : 'unauthenticated'}_${family}` as const
    const throttle = values[`${name}_enabled` as Named<`throttle_${string}_enabled`>]
      ? {
          name,
          limit: values[`${name}_requests_per_period` as Named<`throttle_${string}_requests_per_period`>],
          period: values[`${name}_period_in_seconds` as Named<`throttle_${string}_period_in_seconds`>],
        }
      : undefined
    known.set(family, throttle)
    return throttle
  }

  #use({ name, limit, period }: Throttle, caller: Caller): Answer | undefined {
    const now = Date.now()
    const key = 'user' in caller ? caller.user : caller.address
    const { count, endsAt } = this.#counts.add(name, key, period, now)
    const headers = {
      'ratelimit-name': name,
      'ratelimit-limit': String(Math.ceil((limit * 60) / period)),
      'ratelimit-observed': String(count),
      'ratelimit-remaining': String(Math.max(0, limit - count)),
      'ratelimit-reset': String(endsAt),
    }
    if (count > limit) {
      const text = this.#settings.values.rate_limiting_response_text
      const more = {
        'content-type': 'text/plain',
        'ratelimit-resettime': new Date(endsAt * 1000).toUTCString(),
        'retry-after': String(Math.max(1, Math.ceil(endsAt - now / 1000))),
      }
      return new Answer(429, { ...headers, ...more }, `${text ?? 'Retry later'}\n`)
    }
    const context = requestContext()
    if (context !== undefined) context.headers = headers
    return undefined
  }

  #protectedPaths(values: SettingValues) {
    if (this.#protected?.of !== values) {
      this.#protected = {
        of: values,
        written: entriesOf(values.protected_paths_raw),
        fetched: entriesOf(values.protected_paths_for_get_request_raw),
      }
    }
    return this.#protected
  }
}

function isFalse(value: unknown): boolean {
  return value === false || value === 'false' || value === '0' || value === 0
}
