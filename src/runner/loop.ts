import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Api } from './api.ts'
import { runnerInfo } from './info.ts'
import { runJob } from './job.ts'
import { leaseJobUser, type JobUserLease } from './job-user.ts'
import type { Settings } from './options.ts'
import { parseJob, type JobPayload } from './payload.ts'
import { askedDelay } from './retry.ts'
import { backoff, wait } from './wait.ts'
import type { Workshop } from './workshop.ts'

interface Slot {
  index: number
  lease: JobUserLease | undefined
  /** Of the job that runs there. */
  project: { id: number; slot: number } | undefined
}

/** Asks for jobs and runs them until the signal is aborted; returns when the last one has ended. */
export async function runLoop(settings: Settings, api: Api, workshop: Workshop): Promise<void> {
  const { signal, concurrency } = settings
  const slots = Array.from({ length: concurrency }, (_, index): Slot => ({
    index,
    lease: undefined,
    project: undefined,
  }))
  const running = new Set<Promise<void>>()
  const queue = new Queue(settings, api)
  await using stops = stopSignals(settings)
  while (!signal.aborted) {
    const slot = slots.find(({ project }) => project === undefined)
    if (slot === undefined) {
      await Promise.race(running)
      continue
    }
    const job = await queue.next()
    if (job === undefined) continue
    slot.project = projectSlot(slots, job.job_info.project_id)
    const done = runInSlot(job, slot, { settings, api, workshop, ...stops }).finally(() => {
      slot.project = undefined
      running.delete(done)
    })
    running.add(done)
  }
  await Promise.all(running)
  for (const { lease } of slots) await lease?.[Symbol.asyncDispose]()
}

interface Surroundings {
  settings: Settings
  api: Api
  workshop: Workshop
  shutdown: AbortSignal
  lastCall: AbortSignal
}

async function runInSlot(job: JobPayload, slot: Slot, surroundings: Surroundings) {
  const { settings, workshop } = surroundings
  const log = settings.log
  log.info({ job: job.id, project: job.job_info.project_id, slot: slot.index }, 'job started')
  try {
    slot.lease ??= await leaseJobUser(settings.user, workshop.shell)
    const user = slot.lease.user
    await runJob(job, { ...surroundings, log, user, slot: slot.index, projectSlot: slot.project?.slot ?? 0 })
  } catch (error) {
    log.error({ err: error, job: job.id }, 'a job could not be run')
    await reportTrouble(job, surroundings)
  }
}

/** The job never got as far as having a log. A job that had been reported already refuses this. */
async function reportTrouble(job: JobPayload, { api, lastCall, settings }: Surroundings) {
  const body = { token: job.token, state: 'failed', failure_reason: 'runner_system_failure' }
  const headers = { 'job-token': job.token }
  try {
    await api.json('PUT', `/jobs/${job.id}`, body, { headers, signal: lastCall, timeout: 30_000 })
  } catch (error) {
    settings.log.warn({ err: error, job: job.id }, 'a failed job could not be reported')
  }
}

function projectSlot(slots: Slot[], id: number) {
  const taken = new Set(slots.filter(({ project }) => project?.id === id).map(({ project }) => project?.slot))
  let slot = 0
  while (taken.has(slot)) slot++
  return { id, slot }
}

/** After the stop, running jobs have `shutdownGrace`, and then a little to report that they were stopped. */
function stopSignals({ signal, shutdownGrace, killGrace }: Settings) {
  const shutdown = new AbortController()
  const lastCall = new AbortController()
  const timers: NodeJS.Timeout[] = []
  const begin = () => {
    timers.push(setTimeout(() => shutdown.abort(), shutdownGrace * 1000))
    timers.push(setTimeout(() => lastCall.abort(), (shutdownGrace + killGrace + 10) * 1000))
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  return {
    shutdown: shutdown.signal,
    lastCall: lastCall.signal,
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', begin)
      timers.forEach(clearTimeout)
    },
  }
}

// An answer that took longer was held by the server until something changed.
const heldAfter = 1000
const refusedPause = 60_000

/** The server's queue, as this runner sees it. */
class Queue {
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
    if (answer?.status === 403) log.error(facts, 'the server does not know this runner: its token is refused')
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
