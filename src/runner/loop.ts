import type { Api } from './api.ts'
import { runJob } from './job.ts'
import { leaseJobUser, type JobUserLease } from './job-user.ts'
import type { Settings } from './options.ts'
import type { JobPayload } from './payload.ts'
import { Queue } from './queue.ts'
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
