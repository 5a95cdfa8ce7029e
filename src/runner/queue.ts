import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Api } from './api.ts'
import { runnerInfo } from './info.ts'
import type { Settings } from './options.ts'
import { parseJob, type JobPayload } from './payload.ts'
import { askedDelay } from './retry.ts'
import { backoff, wait } from './wait.ts'

// An answer that took longer was held by the server until something changed.
const heldAfter = 1000
const refusedPause = 60_000
const tokenRefused =
  'the server refuses the token of this runner: no jobs come until it has another one. Was the runner deleted, or its token reset?'

/** The server's queue, as this runner sees it. */
export class Queue {
  readonly #settings: Settings
  readonly #api: Api
  #lastUpdate: string | undefined
  #changes = 0
  #failures = 0

  constructor(settings: Settings, api: Api) {
    this.#settings = settings
    this.#api = api
  }

  /** A job, or undefined after as long a pause as is due. */
  async next(): Promise<JobPayload | undefined> {
    const { signal, token, systemId, version, log } = this.#settings
    const lastUpdate = this.#lastUpdate
    const body = { token, system_id: systemId, last_update: lastUpdate, info: runnerInfo(version) }
    const begin = Date.now()
    let answer: Answer
    try {
      answer = await this.#ask(body)
    } catch (error) {
      if (!signal.aborted) await this.#rest('no answer to a request for a job', { err: error })
      return undefined
    }
    this.#lastUpdate = answer.header('x-gitlab-last-update') ?? lastUpdate
    if (answer.status === 201) {
      this.#recovered()
      try {
        return parseJob(answer.text)
      } catch (error) {
        log.error({ err: error }, 'the server handed out something that is not a job')
        await wait(this.#settings.checkInterval * 1000, signal)
        return undefined
      }
    }
    if (answer.status === 204) {
      this.#recovered()
      await this.#pause(Date.now() - begin, this.#lastUpdate !== lastUpdate)
    } else if (answer.status === 409) {
      // Another runner was faster; there may be more.
      await wait(backoff(0, 100), signal)
    } else {
      await this.#rest('a request for a job was refused', { status: answer.status }, answer)
    }
    return undefined
  }

  /** Ended a moment after the stop, so that a job being handed out just then is not lost. */
  async #ask(body: object): Promise<Answer> {
    const { signal } = this.#settings
    const cut = new AbortController()
    const end = () => void sleep(100).then(() => cut.abort())
    signal.addEventListener('abort', end, { once: true })
    try {
      const headers = { 'runner-token': this.#settings.token, 'private-token': this.#settings.token }
      return await this.#api.json('POST', '/jobs/request', body, { headers, signal: cut.signal })
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  async #pause(took: number, changed: boolean) {
    this.#changes = changed && took <= heldAfter ? this.#changes + 1 : 0
    // A value that is new with every answer means nothing.
    if (took > heldAfter || (changed && this.#changes <= 3)) return
    await wait(this.#settings.checkInterval * 1000, this.#settings.signal)
  }

  async #rest(what: string, facts: object, answer?: Answer) {
    const { log, signal } = this.#settings
    const refused =
      answer !== undefined && answer.status >= 400 && answer.status < 500 && answer.status !== 429
    if (answer?.status === 403) log.error(facts, tokenRefused)
    else if (this.#failures === 0) log.warn(facts, what)
    else log.debug(facts, what)
    const asked = answer === undefined ? undefined : askedDelay(answer)
    const own = refused
      ? backoff(this.#failures, refusedPause, 5 * refusedPause)
      : backoff(this.#failures, 250, 10_000)
    this.#failures++
    await wait(asked ?? own, signal)
  }

  #recovered() {
    if (this.#failures > 0) this.#settings.log.info('the server answers again')
    this.#failures = 0
  }
}
