import { entriesUpTo } from '../formats.ts'
import { flag, int, text, textOrNull } from '../kinds.ts'
import type { Setting } from '../setting.ts'

type Throttle<Name extends string> = {
  readonly [Key in `throttle_${Name}_enabled`]: Setting<boolean>
} & {
  readonly [
    Key in `throttle_${Name}_period_in_seconds` | `throttle_${Name}_requests_per_period`
  ]: Setting<number>
}

/** A switch, the length of the window in seconds, and the requests that one caller may make within it. */
function throttle<const Name extends string>(
  name: Name,
  what: string,
  [requests, period]: readonly [requests: number, period: number],
): Throttle<Name> {
  const by = name.startsWith('authenticated_')
    ? 'user'
    : name.startsWith('un')
      ? 'address'
      : 'user or address'
  return {
    [`throttle_${name}_enabled`]: flag(
      false,
      `Whether ${what} are limited for each ${by}; those beyond get 429.`,
    ),
    [`throttle_${name}_period_in_seconds`]: int(period, `Seconds in which ${what} are counted together.`, {
      min: 1,
    }),
    [`throttle_${name}_requests_per_period`]: int(
      requests,
      `How many ${what} each ${by} may make in that time.`,
      { min: 1 },
    ),
  } as Throttle<Name>
}

const protectedPaths = [
  '/users/password',
  '/users/sign_in',
  '/api/v3/session.json',
  '/api/v3/session',
  '/api/v4/session.json',
  '/api/v4/session',
  '/users',
  '/users/confirmation',
  '/unsubscribes/',
  '/import/importer_a/personal_access_token',
  '/admin/session',
]

/** How many requests of a kind somebody may make. */
export const throttleSettings = {
  ...throttle('authenticated_api', 'API requests with credentials', [7200, 3600]),
  ...throttle('unauthenticated_api', 'API requests without credentials', [3600, 3600]),
  ...throttle('authenticated_web', 'requests for pages with credentials', [7200, 3600]),
  ...throttle('unauthenticated_web', 'requests for pages without credentials', [3600, 3600]),
  ...throttle('authenticated_packages_api', 'package requests with credentials', [1000, 15]),
  ...throttle('unauthenticated_packages_api', 'package requests without credentials', [800, 15]),
  ...throttle('authenticated_git_http', 'git requests over HTTP with credentials', [3600, 3600]),
  ...throttle('unauthenticated_git_http', 'git requests over HTTP without credentials', [3600, 3600]),
  ...throttle('authenticated_git_lfs', 'Git LFS requests with credentials', [1000, 60]),
  ...throttle('authenticated_files_api', 'requests of repository files with credentials', [500, 15]),
  ...throttle('unauthenticated_files_api', 'requests of repository files without credentials', [125, 15]),
  ...throttle(
    'authenticated_deprecated_api',
    'requests of deprecated endpoints (a group with its projects) with credentials',
    [3600, 3600],
  ),
  ...throttle(
    'unauthenticated_deprecated_api',
    'requests of deprecated endpoints without credentials',
    [1800, 3600],
  ),
  ...throttle(
    'protected_paths',
    'requests of protected paths (sign-in, password reset and the like)',
    [10, 60],
  ),
  rate_limiting_response_text: textOrNull(
    null,
    'Text of every 429 of these limits; `Retry later` when it is empty.',
    { longest: 255 },
  ),
  protected_paths_raw: text(
    protectedPaths.join('\n'),
    'Beginnings of the paths that count as protected when something is posted there.',
    { format: entriesUpTo(100) },
  ),
  protected_paths_for_get_request_raw: text(
    '',
    'Beginnings of the paths that count as protected when they are fetched.',
    { format: entriesUpTo(100) },
  ),
}
