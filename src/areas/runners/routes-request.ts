import { createHash } from 'node:crypto'
import { endpoint, runner as runnerKind, type RunnerSubject } from '../../access/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { tooLarge } from '../../kernel/errors/index.ts'
import { Answer, Fields, Json, Nullable, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { unclaim } from './claim.ts'
import type { HandOut } from './hand-out.ts'
import { AnnouncedSession, sessionOf } from '../terminals/index.ts'
import type { RunnerServices } from './index.ts'
import type { Asking, JobQueue } from './job-queue.ts'
import { requireProject, RunnerInfo } from './rules.ts'
import * as reading from './reading.ts'
import * as store from './store.ts'

/** Milliseconds that a request is held at most. */
const longestHold = 50_000
/** A contact is written down at most this often, in milliseconds. */
const contactInterval = 3600_000
const largestBody = 32 * 1024

/** How a runner asks for a job (completions, 8.2). */
export function requestEndpoint(
  { db, log, process }: RunnerServices,
  queue: JobQueue,
  handOut: HandOut,
): Endpoint {
  const limit = new RateLimit(2000, 60)
  return endpoint({
    method: 'POST',
    path: '/jobs/request',
    summary: 'Ask for a job, as a runner',
    description:
      'Answers 204 when there is none; held up to 50 seconds when `last_update` is what the last answer told.',
    on: runnerKind,
    may: 'act_as_runner',
    plainText: true,
    params: Fields({
      token: Text(),
      system_id: Optional(Text()),
      last_update: Optional(Nullable(Text())),
      info: Optional(RunnerInfo),
      session: Optional(Nullable(AnnouncedSession)),
    }),
    answers: Json({ description: 'The job, as runners of this API know it' }),
    refuses: { 403: 'No such runner', 422: 'A project runner without a project' },
    read: ({ params }) => reading.asking(params.system_id ?? ''),
    async handle({ runner, params, rows, request }) {
      if (Number(request.headers['content-length'] ?? 0) > largestBody) throw tooLarge()
      limit.use(runner.id)
      const session = sessionOf(params.session)
      const row = rows[0]!
      requireProject(runner, row.projects)
      const managerId = await contact(runner, row, {
        systemId: params.system_id ?? '',
        version: params.info?.version ?? null,
        revision: params.info?.revision ?? null,
        platform: params.info?.platform ?? null,
        architecture: params.info?.architecture ?? null,
        ip: request.ip,
      })
      const value = queueValue(runner)
      const nothing = new Answer(204, { 'x-gitlab-last-update': value, 'gitlab-ci-builds-polling': 'yes' })
      if (runner.paused) return nothing

      const features = new Set(
        Object.entries(params.info?.features ?? {}).flatMap(([name, on]) => (on ? [name] : [])),
      )
      const asking: Asking = {
        runnerId: runner.id,
        version: row.version,
        managerId,
        graceful: features.has('cancel_gracefully'),
        maximumTimeout: runner.maximumTimeout,
        of: {
          type: runner.runnerType,
          namespaceId: runner.namespaceId,
          projectIds: row.projects,
          tags: [...runner.tagList].sort(),
          untagged: runner.runUntagged,
          protectedOnly: runner.accessLevel === 'ref_protected',
        },
      }
      const holds = params.last_update === value
      const patience = AbortSignal.any([request.signal, AbortSignal.timeout(longestHold)])
      for (;;) {
        const handed = await queue.ask(asking, { holds, signal: patience })
        if (handed === undefined) return nothing
        if (request.signal.aborted) {
          await handed.started
          await unclaim(db.writer, handed.jobId)
          await process.advance(handed.pipelineId)
          queue.wake()
          return nothing
        }
        const payload = await handOut.payload(handed, features, session)
        if (payload !== undefined) return payload
      }
    },
  })

  async function contact(
    runner: RunnerSubject,
    { manager }: reading.AskingRow,
    facts: store.ManagerFacts,
  ): Promise<number | null> {
    const recent = (time: Date | string | null): boolean =>
      time !== null && Date.now() - new Date(time).getTime() < contactInterval
    if (manager !== null && recent(manager.contacted_at) && recent(runner.contactedAt)) {
      if (facts.version === null || facts.version === manager.version) return manager.id
    }
    try {
      return await store.noteContact(db, runner.id, facts)
    } catch (error) {
      // Deleted in this moment, or the database is busy: no reason to refuse a runner.
      log.warn({ err: error, runner: runner.id }, 'a contact of a runner could not be written down')
      return manager?.id ?? null
    }
  }
}

/**
 * Sent back by the runner, so that it is known to have heard that there was nothing. It never changes: whoever is held
 * gets the job itself, and whoever comes anew is looked after at once.
 */
function queueValue({ id, tagList }: RunnerSubject): string {
  return createHash('sha256')
    .update(JSON.stringify([id, tagList]))
    .digest('hex')
    .slice(0, 32)
}
