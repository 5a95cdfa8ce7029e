import { parseDuration, type Answers, type Questions } from '../../ci/index.ts'
import { LruMap } from '../../kernel/lib/lru.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'

/** Milliseconds for one file from elsewhere, and how often it is asked for while the other side fails. */
const longestFetch = 10_000
const mostAttempts = 3

/** Seconds that a file is kept for, where the configuration says only that it is; and the least and most it may say. */
const usually = 3600
const shortest = 60
const longest = 7 * 24 * 3600
/** Characters of all that is kept. */
const mostKept = 32 * 1024 * 1024

/** Files of configurations that lie at addresses elsewhere. Those that may be kept for a while are asked for once. */
export class RemoteFiles {
  readonly #outbound: Outbound
  readonly #kept = new LruMap<string, { readonly content: string; readonly at: number }>(mostKept)

  constructor(outbound: Outbound) {
    this.#outbound = outbound
  }

  async read({ url, cache }: Questions['remote'], maximumBytes: number): Promise<Answers['remote']> {
    const seconds = secondsOf(cache)
    const known = seconds === 0 ? undefined : this.#kept.get(url)
    if (known !== undefined && Date.now() - known.at < seconds * 1000) return { content: known.content }
    const found = await this.#fetch(url, maximumBytes)
    if ('content' in found && seconds > 0) {
      this.#kept.set(url, { content: found.content, at: Date.now() }, found.content.length)
    }
    return found
  }

  async #fetch(url: string, maximumBytes: number): Promise<Answers['remote']> {
    for (let attempts = 1; ; attempts += 1) {
      const got = await this.#outbound.getText(url, { maximumBytes, timeout: longestFetch })
      if (!('status' in got)) return 'blocked' in got ? { blocked: asReason(got.blocked) } : got
      if (got.status < 300) return { content: got.text }
      if (got.status < 500 || attempts === mostAttempts) return { status: got.status, attempts }
    }
  }
}

/** 0: it is asked for anew each time. */
function secondsOf(cache: string | boolean | null): number {
  if (cache === null || cache === false) return 0
  if (cache === true) return usually
  const seconds = parseDuration(cache)
  return seconds === null ? 0 : Math.min(Math.max(seconds, shortest), longest)
}

/** To stand behind "because". */
function asReason(text: string): string {
  return `the URL is blocked: ${text}`
}
