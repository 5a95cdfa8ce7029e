import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import * as store from './releases-store.ts'

export interface ReleaseServices {
  readonly db: Database
  readonly log: Logger
  readonly outbound: Outbound
  readonly settings: Pick<Settings, 'values'>
  /** Undefined: none is asked. */
  readonly runnerReleasesUrl: URL | undefined
}

const fetching = 'runners:releases'
const mostPages = 50
/** Of a page. */
const mostBytes = 20_000_000
/** Milliseconds for a page. */
const timeout = 30_000

/** Whether runners are compared with what was released. */
export function comparesReleases({
  settings,
  runnerReleasesUrl,
}: Pick<ReleaseServices, 'settings' | 'runnerReleasesUrl'>): boolean {
  return settings.values.update_runner_versions_enabled && runnerReleasesUrl !== undefined
}

/** Fetches once a day which versions of the runner were released; what was known stays where that fails. */
export function runnerReleases(services: ReleaseServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, log, runnerReleasesUrl: url } = services
  return {
    tasks: [
      {
        name: fetching,
        async run() {
          if (url === undefined || !comparesReleases(services)) {
            await store.forget(db.writer)
            return
          }
          const versions = await fetchVersions(services, url)
          if (versions.length > 0) await store.keep(db, versions)
          else log.warn('the feed of runner releases tells no versions')
        },
      },
    ],
    schedules: [{ task: fetching, pattern: '23 3 * * *' }],
  }
}

/** Of all pages; none where a page cannot be read. */
async function fetchVersions({ outbound, log }: ReleaseServices, url: URL): Promise<store.Version[]> {
  const versions: store.Version[] = []
  for (let page = 1; page <= mostPages; page += 1) {
    const address = new URL(url)
    address.searchParams.set('per_page', '100')
    address.searchParams.set('page', String(page))
    const got = await outbound.getText(address.href, { maximumBytes: mostBytes, timeout })
    const releases = 'status' in got && got.status === 200 ? listIn(got.text) : undefined
    if (!('status' in got) || releases === undefined) {
      log.warn({ got: 'status' in got ? { status: got.status } : got }, 'no runner releases could be read')
      return []
    }
    versions.push(...releases.map(versionOf).filter((version) => version !== undefined))
    if (Number(got.headers['x-next-page']) !== page + 1) break
  }
  return versions
}

function listIn(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Only of what is released, not of what comes before it (`v17.1.0-rc1`). */
function versionOf(release: unknown): store.Version | undefined {
  const { tag_name: tag } = (release ?? {}) as { tag_name?: unknown }
  const [, major, minor, patch] =
    (typeof tag === 'string' && /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(tag)) || []
  return patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}
